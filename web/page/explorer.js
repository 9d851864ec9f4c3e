// The opening explorer: moves of the book with their values.

import * as api from "./api.js";
import { find, make } from "./elements.js";
import { now } from "./session.js";
import { describe, pitName, seeds, t } from "./words.js";

/** Requests the book's answer for a place; resolves to true if it is new. @param {Place} place */
export async function learnBook(place) {
  const { rules } = now.game;
  const pits = place.raw().rows[0].length;
  const there = now.server.books.some((book) => book.rules === rules && book.pits === pits);
  if (!there || place.book || place.finished) return false;
  try {
    place.book = await api.book(place.literal, rules, now.asking.signal);
  } catch (error) {
    // Damaged tables are reported with the values of moves.
    if (error.code !== "damaged-table") throw error;
    return false;
  }
  return place.book.in_book;
}

/**
 * Returns the row of a move in the book.
 * @param {Api.Explorer["moves"][number]} move
 * @param {Place} place
 * @param {boolean} playable
 * @param {(move: number) => void} play
 */
function rowOf(move, { book, side }, playable, play) {
  const { text, word, kind, full } = describe(move, side);
  const best = book?.best.includes(move.move);
  const action = { disabled: !playable, ariaLabel: pitName(side, move.move), onclick: () => play(move.move) };
  const head = make("th", { scope: "row" }, make("button", action, String(move.move)));
  const title = full + (best ? `, ${t("best")}` : "");
  const value = text ? `${text} ${word}` : "–";
  return make("tr", {}, head, make("td", { className: `${kind}${best ? " best" : ""}`, title }, value));
}

/**
 * Shows the book's moves from a place, if `values` are shown; `chosen` is called with a clicked move, if the place is
 * `playable`.
 * @param {Place} place
 * @param {{ playable: boolean, values: boolean }} state
 * @param {(move: number) => void} chosen
 */
export function showExplorer(place, { playable, values }, chosen) {
  const { book, finished, side } = place;
  const moves = book?.in_book && !finished && values ? book.moves : [];
  find("explorer").hidden = moves.length === 0;
  find("explorer-none").hidden = moves.length > 0;
  find("explorer-none").textContent = t(values ? "explorerNone" : "explorerHidden");
  const state = JSON.stringify([moves, now.bottom, side, playable]);
  if (find("explorer").dataset.state === state) return;
  find("explorer").dataset.state = state;
  if (book?.in_book) find("explorer-note").textContent = t("explorerBook", { n: seeds(book.seeds) });
  find("explorer-rows").replaceChildren(...moves.map((move) => rowOf(move, place, playable, chosen)));
}
