// Values, sides and moves in words, in the language of the page.

import { captured, other } from "./game.js";
import { now } from "./session.js";
import { LANGUAGES, TEXTS, rulesIn, textOf } from "./texts.js";

/** @import { Key, Language } from "./texts.js" */

/** @type {Language} */
let spoken = "en";
let plural = new Intl.PluralRules(spoken);

/** The available languages, by their own names. */
export const languages = Object.entries(LANGUAGES).map(([tag, name]) => ({ tag, name }));

/** Returns the tag of the language of the page. */
export const language = () => spoken;

/** Sets the language of the page: the first of these tags that has texts. @param {readonly string[]} wanted */
export function speak(wanted) {
  const tags = wanted.map((tag) => tag.split("-")[0]);
  spoken = /** @type {Language} */ (tags.find((tag) => Object.hasOwn(LANGUAGES, tag)) ?? "en");
  plural = new Intl.PluralRules(spoken);
}

/**
 * Returns the text with this key, with `{name}` replaced by `values.name`. `values.n` chooses between several forms.
 * @param {Key} key
 * @param {Record<string, string | number>} values
 */
export function t(key, values = {}) {
  const found = textOf(key, spoken);
  const text = typeof found === "string" ? found : (found[plural.select(Number(values.n))] ?? found.other);
  return text.replaceAll(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

/**
 * Puts the texts into the elements that name them: `data-t` the content, `data-title` and `data-label` attributes.
 * @param {Document} root
 */
export function translate(root) {
  /** @param {"t" | "title" | "label"} attribute @param {(element: HTMLElement, text: string) => void} put */
  const each = (attribute, put) => {
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(`[data-${attribute}]`))) {
      put(element, t(/** @type {Key} */ (element.dataset[attribute])));
    }
  };
  each("t", (element, text) => (element.textContent = text));
  each("title", (element, text) => (element.title = text));
  each("label", (element, text) => element.setAttribute("aria-label", text));
}

/** Formats a number with its sign, with a true minus. @param {number} value */
export const signed = (value) => (value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0");

/** Returns a value as the player at the bottom of the board sees it. @param {Api.Value} known @param {Side} mover */
export function seen({ value, lower, upper, estimate }, mover) {
  if (mover === now.bottom) return { value, lower, upper, estimate };
  /** @param {number | undefined} number */
  const negative = (number) => (number === undefined ? undefined : -number || 0);
  return { value: negative(value), lower: negative(upper), upper: negative(lower), estimate: negative(estimate) };
}

/**
 * Describes a mover's value or its bounds, as the player at the bottom sees them: a short text and a word for a label,
 * a class for its colour, and a sentence.
 * @param {Api.Value} known
 * @param {Side} mover
 */
export function describe(known, mover) {
  const { value, lower, upper, estimate } = seen(known, mover);
  const [side, opponent] = [name(now.bottom), name(other(now.bottom))];
  if (value === 0) return { text: "0", word: t("draw"), kind: "draw", full: t("drawExact") };
  if (value !== undefined) {
    const kind = value > 0 ? "win" : "loss";
    const full = t("winBy", { side: value > 0 ? side : opponent, n: Math.abs(value) });
    return { text: signed(value), word: t(kind), kind, full };
  }
  if (lower !== undefined && lower > 0) {
    return { text: `≥${signed(lower)}`, word: t("win"), kind: "win", full: t("winAtLeast", { side, n: lower }) };
  }
  if (upper !== undefined && upper < 0) {
    const full = t("winAtLeast", { side: opponent, n: -upper });
    return { text: `≤${signed(upper)}`, word: t("loss"), kind: "loss", full };
  }
  const bounds = { side, lower: signed(lower ?? 0), upper: signed(upper ?? 0) };
  if (estimate !== undefined) {
    const full = t(lower === undefined ? "estimated" : "estimatedBetween", { value: signed(estimate), ...bounds });
    return { text: `≈${signed(estimate)}`, word: t("estimateShort"), kind: "open", full };
  }
  if (lower !== undefined) {
    return { text: `${bounds.lower}…${bounds.upper}`, word: t("open"), kind: "open", full: t("between", bounds) };
  }
  return { text: "", word: "", kind: "open", full: t("unknown") };
}

/** Returns the origin of an answer in words. @param {Api.Position} answer */
export const origin = (answer) =>
  t(`from.${answer.source}`, { n: answer.depth ?? "" }) + (answer.note ? `; ${t("tableLost")}` : "");

/** @param {Side} side */
export const name = (side) => t(side);

/** Names a pit of a side, for screen readers. @param {Side} side @param {number} pit */
export const pitName = (side, pit) => t("moveLabel", { side: name(side), pit });

/** Returns the letter of a side in the list of moves. @param {Side} side */
export const letter = (side) => name(side)[0];

/** Formats a number of seeds. @param {number} n */
export const seeds = (n) => t("seeds", { n });

/** Describes the move that led to a place in one or two sentences. @param {Reached} place */
export function happened(place) {
  const { by, side } = place;
  const mover = place.before.side;
  const text = [t("sows", { side: name(mover), pit: by.move, n: by.sowing[0].drops.length })];
  if (by.sowing.length > 1) text.push(t("relays", { n: by.sowing.length - 1 }));
  const taken = captured(place);
  if (taken > 0) text.push(t("captures", { side: name(mover), n: taken }));
  if (by.again && !place.finished) text.push(t("again", { side: name(side) }));
  return text.join(" ");
}

/** Describes the end of a game. @param {Place} place */
export function ending(place) {
  const [south, north] = place.board().stores;
  const most = { most: Math.max(south, north), least: Math.min(south, north) };
  return south === north ? t("drawn", most) : t("won", { side: name(south > north ? "south" : "north"), ...most });
}

/** Returns the usual name of a rule set. @param {string} rules */
export const ruleName = (rules) =>
  Object.hasOwn(TEXTS, `ruleName.${rules}`) ? t(/** @type {Key} */ (`ruleName.${rules}`)) : rules;

/** Explains a rule set, from the server's description. @param {Api.RuleSet} ruleSet */
export function explain({ name, summary, moves_again }) {
  const again = moves_again ? `${t("rulesAgain")} ` : "";
  const text = `${again}${rulesIn(name, spoken) ?? summary}`;
  return text[0].toUpperCase() + text.slice(1);
}
