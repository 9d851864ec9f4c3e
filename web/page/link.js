// The whole game as the fragment of an address, and back.

import { find } from "./find.js";
import { t } from "./words.js";

/** @param {string} text */
const numbers = (text) => text.split(",").filter(Boolean).map(Number);

/** Reads a comment of a link: moves from the start, and the text. @param {string} text @returns {Note} */
const note = (text) => {
  const [path, ...rest] = text.split(":");
  return { path: numbers(path), text: rest.join(":") };
};

/**
 * Returns the game as a fragment; `extra` are further fields.
 * @param {Game} game
 * @param {Record<Side, string>} players
 * @param {Record<string, string>} extra
 */
export function fragment(game, players, extra = {}) {
  const { literal, side } = game.root;
  /** @type {Record<string, string>} */
  const fields = { rules: game.rules, board: literal, first: side, ...players, ...extra };
  const moves = game.moves;
  if (moves.length > 0) fields.moves = moves.join(",");
  if (game.at < moves.length) fields.at = String(game.at);
  const others = game.others;
  if (others.length > 0) fields.also = others.map((path) => path.join(",")).join(";");
  const all = new URLSearchParams(fields);
  for (const { path, text } of game.notes) all.append("note", `${path.join(",")}:${text}`);
  const text = all.toString();
  return text.replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%3B", ";");
}

/** Reads a fragment; missing fields are undefined. @param {string} text */
export function fromFragment(text) {
  const fields = new URLSearchParams(text);
  /** @param {string} name */
  const field = (name) => fields.get(name) ?? undefined;
  const moves = numbers(fields.get("moves") ?? "");
  return {
    rules: field("rules"),
    board: field("board"),
    side: /** @type {Side} */ (fields.get("first") === "north" ? "north" : "south"),
    moves,
    at: fields.has("at")
      ? Math.max(0, Math.min(moves.length, Math.trunc(Number(fields.get("at"))) || 0))
      : moves.length,
    also: (fields.get("also") ?? "")
      .split(";")
      .map(numbers)
      .filter((path) => path.length > 0),
    players: { south: field("south"), north: field("north") },
    values: field("values"),
    pie: field("pie"),
    puzzle: field("puzzle"),
    comments: fields.getAll("note").map(note),
  };
}

/** Copies the link to the game, without values if they are hidden. @param {boolean} values */
export async function copyLink(values) {
  const button = find("share");
  const link = values ? location.href : `${location.href}&values=off`;
  try {
    await navigator.clipboard.writeText(link);
    button.textContent = t("copied");
  } catch {
    button.textContent = t("copyYourself");
  }
  setTimeout(() => (button.textContent = t("share")), 2000);
}
