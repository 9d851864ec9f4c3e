// The whole game as the fragment of an address, and back: the board, and fields that differ from the usual ones, as in
// `#6x4&north=human&moves=3,6`.

import { shortest } from "./game.js";

/** Players of a link that names none. @type {Record<Side, string>} */
export const USUAL = { south: "human", north: "perfect" };

/** @param {string} text */
const numbers = (text) => text.split(",").filter(Boolean).map(Number);

/** Reads a comment of a link: moves from the start, and the text. @param {string} text @returns {Note} */
const note = (text) => {
  const [path, ...rest] = text.split(":");
  return { path: numbers(path), text: rest.join(":") };
};

/**
 * Returns the game as a fragment; `rules` are those of a link that names none, and `extra` are further fields.
 * @param {Game} game
 * @param {Record<Side, string>} players
 * @param {string} rules
 * @param {Record<string, string>} extra
 */
export function fragment(game, players, rules, extra = {}) {
  const { literal, side } = game.root;
  /** @type {Record<string, string>} */
  const fields = {};
  if (game.rules !== rules) fields.rules = game.rules;
  if (side === "north") fields.first = side;
  for (const each of /** @type {Side[]} */ (["south", "north"])) {
    if (players[each] !== USUAL[each]) fields[each] = players[each];
  }
  Object.assign(fields, extra);
  const { pie, exchanged, at, moves } = game;
  if (pie) fields.pie = exchanged ? `${pie}:${exchanged.path.join(",")}` : pie;
  if (moves.length > 0) fields.moves = moves.join(",");
  if (at < moves.length) fields.at = String(at);
  const { paths, shown } = game.lines;
  const others = paths.filter((path, index) => index !== shown && path.length > 0);
  if (others.length > 0) fields.also = others.map((path) => path.join(",")).join(";");
  if (shown > 0) fields.line = String(shown);
  const all = new URLSearchParams(fields);
  for (const { path, text } of game.notes) all.append("note", `${path.join(",")}:${text}`);
  const text = [encodeURIComponent(shortest(literal)), all.toString()].filter(Boolean).join("&");
  return text.replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%3B", ";");
}

/**
 * Returns a link to a game on the page at an address, which may be a frame's, end with `index.html` or have any path.
 * @param {string} fragment
 */
export const addressOf = (fragment, page = location.href) => new URL(`#${fragment}`, page).href;

/** Returns the board that a link begins with, such as `6x4`; undefined without one. @param {string} text */
function bareBoard(text) {
  // No other part has these letters only, some of which a browser may write as `%3C`.
  const board = text.replace(/%3c/i, "<").replace(/%3e/i, ">").replaceAll(/%2c/gi, ",").replaceAll(/%2f/gi, "/");
  return /^(\d+x\d+|[\d,]+\/[\d,]+|<[\d,]+>)$/.test(board) ? board : undefined;
}

/** Reads a fragment; missing fields are undefined. @param {string} text */
export function fromFragment(text) {
  const [, first, rest] = /^([^&]*)&?(.*)$/s.exec(text) ?? [];
  const bare = bareBoard(first);
  const fields = new URLSearchParams(bare ? rest : text);
  if (bare) fields.set("board", bare);
  /** @param {string} name */
  const field = (name) => fields.get(name) ?? undefined;
  /** @param {string} name @param {number} most @param {number} missing */
  const count = (name, most, missing) =>
    fields.has(name) ? Math.max(0, Math.min(most, Math.trunc(Number(fields.get(name))) || 0)) : missing;
  const moves = numbers(fields.get("moves") ?? "");
  const also = (fields.get("also") ?? "")
    .split(";")
    .map(numbers)
    .filter((path) => path.length > 0);
  const [pie, exchange] = field("pie")?.split(":") ?? [];
  return {
    rules: field("rules"),
    board: field("board"),
    side: /** @type {Side} */ (fields.get("first") === "north" ? "north" : "south"),
    moves,
    at: count("at", moves.length, moves.length),
    also,
    line: count("line", also.length, 0),
    players: { south: field("south"), north: field("north") },
    values: field("values"),
    pie,
    exchangePath: exchange ? numbers(exchange) : undefined,
    puzzle: field("puzzle"),
    comments: fields.getAll("note").map(note),
  };
}
