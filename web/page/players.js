// Players of a side: a person, a program of a named level, or any program of the server; and the strips that show them.

import { showFace } from "./face.js";
import { find, make, setText } from "./elements.js";
import { SIDES } from "./game.js";
import { goesOn, isHuman, isSowing, now, onlyPerson, players } from "./session.js";
import { remember, settings } from "./settings.js";
import { t } from "./words.js";

/**
 * Programs with a name, from the easiest on: a ladder, on which each scores 65 to 75 % against the one before
 * (docs/measurements.md), and the perfect player.
 */
const LEVELS = /** @type {const} */ ([
  "alphabeta:1",
  "heuristic",
  "alphabeta:5",
  "alphabeta:8",
  "alphabeta:11",
  "perfect",
]);

/** Level of the first game. */
export const FIRST = LEVELS[0];

/** Returns the level above a player's, if there is one. @param {string} player @returns {string | undefined} */
export const levelAbove = (player) => LEVELS.slice(1).find((_, index) => LEVELS[index] === player && isPlayer(player));

/**
 * Returns true if the server has a player, whose programs have such names: `greedy`, `alphabeta:D`, `random:SEED`.
 * @param {string} player
 */
export const isPlayer = (player) =>
  ["human", ...now.server.players].some((kind) =>
    new RegExp(`^${kind.replace(":D", ":[1-9]\\d?").replace(":SEED", "(:\\d+)?")}$`).test(player),
  );

/**
 * Returns the name of a level and what it does; undefined for other players.
 * @param {string} player
 */
export function levelOf(player) {
  const level = LEVELS.find((level) => level === player);
  if (!level) return undefined;
  const [title, about] = t(`level.${level}`).split(/ \(|\)$/);
  return { title, about };
}

/** Returns a person's record against a level in words; an empty text without games. @param {string} player */
export function recordText(player) {
  const [won, drawn, lost] = settings.record?.[player] ?? [];
  return won === undefined ? "" : t("record", { level: levelOf(player)?.title ?? player, won, drawn, lost });
}

/**
 * Counts a game against a level: 1 for a win of the person, 0 for a draw.
 * @param {string} player
 * @param {number} result
 */
export function countResult(player, result) {
  if (!levelOf(player)) return;
  const counts = [...(settings.record?.[player] ?? [0, 0, 0])];
  counts[1 - result] += 1;
  remember({ record: { ...settings.record, [player]: counts } });
}

/** Fills a list of players; `short` leaves out what a level does. @param {HTMLSelectElement} select */
export function fillPlayers(select, short = false) {
  const has = LEVELS.filter(isPlayer);
  // A link may name programs of any depth.
  const programs = now.server.players
    .map((kind) => kind.replace(":SEED", ""))
    .filter((kind) => !kind.endsWith(":D") && !has.some((level) => level === kind));
  select.replaceChildren(
    new Option(t("human"), "human"),
    make(
      "optgroup",
      { label: t("levels") },
      ...has.map((level) => new Option((short && levelOf(level)?.title) || t(`level.${level}`), level)),
    ),
    make(
      "optgroup",
      { label: t("programs") },
      ...programs.map((kind) => new Option(kind, kind)),
    ),
  );
}

/**
 * Makes a choice of levels by their faces, in step with a list of players.
 * @param {HTMLElement} parent
 * @param {HTMLSelectElement} select
 */
export function fillLevels(parent, select) {
  const choices = LEVELS.slice(0, -1).filter(isPlayer).map((level) => {
    const [face, record] = [make("span", { className: "face" }), make("small")];
    showFace(face, level, "north");
    const onchange = () => {
      select.value = level;
      select.dispatchEvent(new Event("change"));
    };
    const radio = make("input", { type: "radio", name: "level", value: level, onchange });
    const known = levelOf(level);
    const texts = [make("span", {}, known?.title ?? ""), make("small", {}, known?.about ?? "")];
    return { label: make("label", {}, face, radio, ...texts, record), radio, record };
  });
  parent.append(...choices.map(({ label }) => label));
  /** Marks the face of the player in the list, and shows the person's record against each. */
  return () => {
    for (const { radio, record } of choices) {
      radio.checked = radio.value === select.value;
      record.textContent = settings.record?.[radio.value]?.join(" – ") ?? "";
      record.title = recordText(radio.value);
    }
  };
}

/** Chooses a player in a list. @param {HTMLSelectElement} select @param {string} player */
export function showPlayer(select, player) {
  if (![...select.options].some((option) => option.value === player)) select.add(new Option(player, player));
  select.value = player;
}

/** Shows the faces of the players, and who is to move. @param {Place} place */
export function showStrips(place) {
  for (const side of SIDES) {
    showFace(find(`${side}-face`), players[side], side);
    const moves = place.side === side && !place.finished;
    find(`${side}-strip`).classList.toggle("moves", moves);
    const key = goesOn(place) ? "turnThinking" : onlyPerson() === side && isHuman(place) ? "turnYours" : "turn";
    const text = moves && !isSowing() ? t(key) : "";
    find(`${side}-about`).textContent = levelOf(players[side])?.about ?? "";
    setText(find(`${side}-turn`), text);
  }
}

/** Shows the seeds in the store of a side. @param {Side} side @param {number} count */
export function showScore(side, count) {
  find(`${side}-score`).textContent = String(count);
}
