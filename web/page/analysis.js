// Answers about the places of a game, requested from the server when needed.

import * as api from "./api.js";
import { announce, setWork } from "./machine.js";
import { describe, language, t } from "./words.js";

/** Seconds of the first search of a position, for a quick first answer. */
const QUICK = 0.3;

/** Returns true if every value of a place is proved. @param {Place} place */
export const isKnown = ({ answer }) =>
  answer !== undefined && answer.known === "exact" && answer.moves.every((move) => move.known === "exact");

/** The search for a shown place, of which there is one at a time. @type {AbortController | undefined} */
let searching;

/** Returns true while a place is searched. */
export const isSearching = () => searching !== undefined;

/**
 * Rank of an answer: a proof is above an evaluation, one of more moves above others, also with a line; and so is a
 * deeper evaluation.
 * @param {Api.Position} answer
 */
const worth = ({ known, moves, line, depth = 0 }) =>
  known === "exact"
    ? 1e6 * (1 + moves.filter((move) => move.known === "exact").length) + (line ? 1 : 0)
    : known === "bounds"
      ? 1e5
      : depth;

/**
 * Stores an answer for a place, unless the stored one is better, as when a longer search begins.
 * @param {Place} place
 * @param {Api.Position} answer
 */
function take(place, answer) {
  if (place.answer && worth(answer) < worth(place.answer)) return;
  const moves = answer.moves.map((move) => ({
    ...place.answer?.moves.find((known) => known.move === move.move),
    ...move,
  }));
  place.answer = { ...answer, moves };
  place.over = answer.finished ?? place.over;
}

/**
 * Requests a quick answer about a place, unless there is one; with `priority` "low" one that makes the page quicker,
 * but that nothing on the page needs, and with "high" one that a search follows.
 * @param {Game} game
 * @param {Place} place
 * @param {AbortSignal} signal
 * @param {() => void} report
 * @param {RequestPriority} priority
 */
export async function glimpse(game, place, signal, report, priority = "auto") {
  if (place.answer) return;
  take(place, await api.position(place.literal, game.rules, QUICK, signal, priority));
  report();
}

/**
 * Requests an answer about a place: first a quick one; then, with `further`, a search within the server's time or
 * within that number of seconds. Reports every better answer; with `shows`, also the progress of the search.
 * @param {Game} game
 * @param {Place} place
 * @param {AbortSignal} signal
 * @param {boolean | number} further
 * @param {() => void} report
 */
export async function learn(game, place, signal, further, report, shows = true) {
  await glimpse(game, place, signal, report, further ? "high" : "auto");
  if (!further || isKnown(place) || place.finished) return;
  /** @param {Api.Position} answer */
  const progress = (answer) => {
    take(place, answer);
    if (shows) {
      const known = describe(answer, place.side).full;
      const { nodes, depth = "–" } = answer;
      const full = nodes ? t("searchedFor", { known, nodes: nodes.toLocaleString(language()), depth }) : known;
      setWork(t("searching", { known: full }));
    }
    report();
  };
  if (shows) setWork(t("searching", { known: "" }));
  const time = typeof further === "number" ? further : undefined;
  searching?.abort();
  const own = new AbortController();
  searching = own;
  report();
  try {
    const either = AbortSignal.any([signal, own.signal]);
    take(place, await api.deepen(place.literal, game.rules, time, progress, either));
  } finally {
    if (searching === own) searching = undefined;
  }
  if (shows) {
    setWork();
    announce(describe(place.answer ?? {}, place.side).full);
  }
  report();
}

/** Seconds of the first search of an open place of a report. Each further round doubles them, up to the last number. */
const [ROUND, LONGEST_ROUND] = [1, 64];

/**
 * Requests answers for the places of the shown line, such as those of a shared game: quick ones, then with `proves`
 * searches until all values are proved.
 * @param {Game} game
 * @param {AbortSignal} signal
 * @param {() => void} report
 */
export async function analyse(game, signal, report, proves = false) {
  const { places } = game;
  if (places.filter((place) => !place.answer).length > 2) {
    /** @param {Api.Position & { index: number }} answer */
    const progress = (answer) => {
      take(places[answer.index], answer);
      report();
    };
    const answer = await api.game(game.root.literal, game.rules, game.moves, progress, signal);
    for (const [index, known] of answer.places.entries()) if (!places[index].answer) take(places[index], known);
  }
  for (const place of places) await glimpse(game, place, signal, report);
  report();
  /** Places of which no search finds more. @type {Set<Place>} */
  const ended = new Set();
  for (let time = ROUND; proves; time = Math.min(2 * time, LONGEST_ROUND)) {
    const unproved = places.filter((place) => !isKnown(place) && !place.finished && !ended.has(place));
    if (unproved.length === 0) return;
    // Proofs of later positions help with earlier ones.
    for (const place of unproved.reverse()) {
      /** @param {Api.Position} answer */
      const progress = (answer) => take(place, answer);
      const answer = await api.deepen(place.literal, game.rules, time, progress, signal, "low");
      take(place, answer);
      if (answer.ended === "depth") ended.add(place);
      report();
    }
  }
}
