// The opening explorer: moves of the book with their values, and results of games in this browser.

import * as api from "./api.js";
import { find } from "./find.js";
import { labelOf } from "./labels.js";
import { playedFrom } from "./played.js";
import { settings } from "./settings.js";
import { pitName, seeds, t } from "./words.js";

/** Action of a click on a move. @type {(move: number) => void} */
let play = () => {};

/**
 * Requests the book's answer for a place; resolves to true if it is new.
 * @param {Server} server
 * @param {string} rules
 * @param {Place} place
 * @param {AbortSignal} signal
 */
export async function learnBook(server, rules, place, signal) {
  const pits = place.raw().rows[0].length;
  const there = server.books.some((book) => book.rules === rules && book.pits === pits);
  if (!there || place.book || place.finished) return false;
  try {
    place.book = await api.book(place.literal, rules, signal);
  } catch (error) {
    // Damaged tables are reported with the values of moves.
    if (error.code !== "damaged-table") throw error;
    return false;
  }
  return place.book.in_book;
}

/**
 * Returns true if bounds are better than the trivial ones.
 * @param {Api.MoveValue} move
 * @param {Api.Book} book
 */
const says = ({ known, lower, upper }, { seeds: all }) =>
  known === "exact" || (known === "bounds" && lower !== undefined && upper !== undefined && upper - lower < 2 * all);

/**
 * Returns the rows: a move, its value, and how often it was won, drawn and lost.
 * @param {string} rules
 * @param {Place} place
 */
function rowsOf(rules, place) {
  const book = place.book?.in_book ? place.book : undefined;
  const played = playedFrom(rules, place.literal);
  const numbers = new Set([...(book?.moves ?? []).map((move) => move.move), ...Object.keys(played).map(Number)]);
  return [...numbers]
    .sort((a, b) => a - b)
    .map((number) => {
      const move = book?.moves.find((move) => move.move === number);
      const told = book && move && says(move, book) ? labelOf(book, move) : undefined;
      return {
        number,
        kind: told?.kind ?? "",
        value: told ? `${told.text} ${told.word}` : "–",
        full: told?.full ?? t("unknown"),
        best: Boolean(book?.best.includes(number)),
        counts: /** @type {Counts | undefined} */ (played[number]),
      };
    });
}

/** @param {ReturnType<typeof rowsOf>[number]} row @param {Side} side @param {boolean} playable */
function rowOf({ number, kind, value, full, best, counts }, side, playable) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  const button = document.createElement("button");
  Object.assign(button, { type: "button", textContent: String(number), disabled: !playable });
  button.setAttribute("aria-label", pitName(side, number));
  button.addEventListener("click", () => play(number));
  head.append(button);
  const [worth, games] = [document.createElement("td"), document.createElement("td")];
  worth.textContent = value;
  worth.className = [kind, best ? "best" : ""].join(" ").trim();
  worth.title = full + (best ? `, ${t("best")}` : "");
  games.textContent = counts ? counts.join("–") : "";
  if (counts) games.title = t("explorerCounts", { won: counts[0], drawn: counts[1], lost: counts[2] });
  row.append(head, worth, games);
  return row;
}

/**
 * Shows the moves from a place; `chosen` is called with a clicked move, if the place is `playable`.
 * @param {string} rules
 * @param {Place} place
 * @param {boolean} playable
 * @param {(move: number) => void} chosen
 */
export function showExplorer(rules, place, playable, chosen) {
  play = chosen;
  const rows = place.finished ? [] : rowsOf(rules, place);
  const part = find("explorer");
  part.hidden = rows.length === 0;
  const state = JSON.stringify([rows, place.side, playable, settings.labels]);
  if (part.dataset.state === state) return;
  part.dataset.state = state;
  find("explorer-value").textContent = t(settings.labels === "loss" ? "explorerLoss" : "explorerValue");
  find("explorer-note").textContent = place.book?.in_book
    ? t("explorerBook", { n: seeds(place.book.seeds) })
    : t("explorerPlayed");
  find("explorer-rows").replaceChildren(...rows.map((row) => rowOf(row, place.side, playable)));
}
