// How values, sides and moves are told, in the language of the page.

import { captured } from "./game.js";
import { settings } from "./settings.js";
import { TEXTS } from "./texts.js";

const wanted = [settings.language, ...(navigator.languages ?? [])].filter(Boolean).map((tag) => tag.split("-")[0]);

/** The language of the page. */
export const language = wanted.find((tag) => TEXTS[tag]) ?? "en";

/** The languages that there are, by their own names. */
export const languages = Object.entries(TEXTS).map(([tag, texts]) => [tag, texts.language]);

const plural = new Intl.PluralRules(language);

/**
 * The text with this key, `{name}` replaced by `values.name`; a text with several forms is chosen by `values.n`.
 * `undefined` if there is none and none is `needed`.
 */
export function t(key, values = {}, needed = true) {
  let text = TEXTS[language][key] ?? TEXTS.en[key];
  if (text === undefined) return needed ? key : undefined;
  if (typeof text === "object") text = text[plural.select(values.n)] ?? text.other;
  return text.replaceAll(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** Puts the texts into the elements that name them: `data-t` the content, `data-title` and `data-label` attributes. */
export function translate(root) {
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll("[data-title]")) element.title = t(element.dataset.title);
  for (const element of root.querySelectorAll("[data-label]")) element.setAttribute("aria-label", t(element.dataset.label));
}

/** A number with its sign, with a true minus. */
export const signed = (value) => (value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0");

const outcome = (value) => (value > 0 ? "win" : value < 0 ? "loss" : "draw");

/**
 * What is known of a value: a short text and the word under it for a label, a class for its colour, and a sentence.
 * Takes the fields value, lower, upper, estimate of the server's answers.
 */
export function tell({ value, lower, upper, estimate }) {
  if (value !== undefined) {
    const kind = outcome(value);
    return { text: signed(value), word: t(kind), kind, full: t(`${kind}By`, { n: Math.abs(value) }) };
  }
  if (lower !== undefined && lower > 0) {
    return { text: `≥${signed(lower)}`, word: t("win"), kind: "win", full: t("winAtLeast", { n: lower }) };
  }
  if (upper !== undefined && upper < 0) {
    return { text: `≤${signed(upper)}`, word: t("loss"), kind: "loss", full: t("lossAtLeast", { n: -upper }) };
  }
  const bounds = { lower: signed(lower), upper: signed(upper) };
  if (estimate !== undefined) {
    const full = t(lower === undefined ? "estimated" : "estimatedBetween", { value: signed(estimate), ...bounds });
    return { text: `≈${signed(estimate)}`, word: t("estimateShort"), kind: "open", full };
  }
  if (lower !== undefined) {
    return { text: `${bounds.lower}…${bounds.upper}`, word: t("open"), kind: "open", full: t("between", bounds) };
  }
  return { text: "", word: "", kind: "open", full: t("unknown") };
}

/** Where an answer comes from. */
export const origin = (answer) => t(`from.${answer.source}`, { n: answer.depth });

export const name = (side) => t(side);

/** The letter by which moves of a side are listed. */
export const letter = (side) => name(side)[0];

/** A number of seeds. */
export const seeds = (n) => t("seeds", { n });

/** What the move that led to a place did, in one or two sentences. */
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

/** How a game ended. */
export function ending(place) {
  const [south, north] = place.board().stores;
  const most = { most: Math.max(south, north), least: Math.min(south, north) };
  return south === north ? t("drawn", most) : t("won", { side: name(south > north ? "south" : "north"), ...most });
}

/** What a rule set is, from the server's description. */
export function explain({ name, played_by, summary }) {
  const told = t(`rules.${name}`, {}, false) ?? `${played_by}. ${summary}`;
  return told[0].toUpperCase() + told.slice(1);
}
