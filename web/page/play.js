// The course of a game: moves of people and programs, jumps to places, and the address that keeps all of it.

/** @import { Board } from "./board.js" */

import * as api from "./api.js";
import { analyse, glimpse, learn } from "./analysis.js";
import { undisturbed } from "./dialogs.js";
import { learnBook } from "./explorer.js";
import { fail, find, forgive } from "./elements.js";
import { showEnd } from "./cards.js";
import { SIDES, isReached, other } from "./game.js";
import { fragment } from "./link.js";
import { announce, setWork } from "./machine.js";
import { isPlayer, showPlayer, showStrips } from "./players.js";
import { follow, helped, named } from "./puzzle.js";
import { enter, goesOn, isHuman, isProgram, mayExchange, mayPlay, nextStep } from "./session.js";
import { now, onlyPerson, players } from "./session.js";
import { rememberLast, remember, settings } from "./settings.js";
import { replyOf } from "./solution.js";
import { seen, sow } from "./sow.js";
import { store } from "./store.js";
import { promote } from "./tree.js";
import { status, view } from "./view.js";
import { ending, happened, name, t } from "./words.js";

/** State of the browser's history at addresses that `saveAddress` wrote. */
const OWN = "own";

/** Returns true if the page wrote the current address, as after the browser's Back; false for a link. */
export const isOwnAddress = () => history.state === OWN;

/** Returns the fragment of the game, which hides the values if a link did, or if `hides`. */
export function linkOf(hides = now.isHidden) {
  const { game } = now;
  const extra = { ...(game.puzzle && named(game.puzzle)), ...(hides && { values: "off" }) };
  return fragment(game, players, now.server.rules[0], extra);
}

/**
 * Keeps the game in the address and in the browser; with `push` the browser's Back returns to the previous state.
 * @param {boolean} [push]
 */
export function saveAddress(push) {
  if (now.lesson) return;
  const link = linkOf();
  rememberLast(link);
  const there = `#${link}` === location.hash;
  if (there && isOwnAddress()) return;
  try {
    history[push && !there ? "pushState" : "replaceState"](OWN, "", `#${link}`);
  } catch {
    // Browsers refuse many changes in a short time.
  }
}

/** Returns true if the shown place was reached by playing. */
const isPlayed = () => now.phase === "playing";

/** Called after each change of the shown place. @type {(() => void)[]} */
const arrivals = [];

/** Calls a function after each change of the shown place. @param {() => void} listener */
export function onArrival(listener) {
  arrivals.push(listener);
}

/** Shows the current place of the game, requests an answer about it, and lets its player move. */
export function arrive(push = false) {
  nextStep();
  enter("end");
  now.hinted = undefined;
  setWork();
  const { game } = now;
  const { place } = game;
  follow(game, isPlayed());
  view.board.show(place, mayPlay(), now.values, now.bottom);
  store.draw();
  showEnd(place.finished && isPlayed() && !game.puzzle ? place : undefined);
  saveAddress(push);
  for (const listener of arrivals) listener();
  now.shownAt = performance.now();
  const { signal } = now.asking;
  const known = () => {
    follow(game, isPlayed());
    store.change();
  };
  if (goesOn(place)) {
    letProgramMove(place, now.turn).catch(fail);
    return;
  }
  if (!now.values && !game.puzzle) {
    glimpse(game, place, signal, known, "low").catch(fail);
    return;
  }
  learn(game, place, signal, now.values, known)
    .then(() => (now.values ? analyse(game, signal, known) : undefined))
    .catch(fail);
  if (now.values)
    learnBook(place)
      .then((more) => more && known())
      .catch(fail);
}

/** @param {Place} place @param {number} turn */
async function letProgramMove(place, turn) {
  const { signal } = now.asking;
  await undisturbed();
  if (turn !== now.turn) return;
  setWork(t("thinking", { side: name(place.side) }));
  const report = () => store.change();
  // Only an exchange and a puzzle depend on the value, which a page without a server has once its engine has loaded.
  const isNeeded = mayExchange(place) || now.game.puzzle || now.values;
  const glimpsed = glimpse(now.game, place, signal, report, isNeeded ? "auto" : "low");
  if (mayExchange(place)) await glimpsed;
  else glimpsed.catch(fail);
  if (turn !== now.turn || place.finished) {
    setWork();
    return;
  }
  follow(now.game, isPlayed());
  if (!isProgram(place)) {
    arrive();
    announce(now.game.message ?? "");
    return;
  }
  if (mayExchange(place) && (place.answer?.value ?? place.answer?.estimate ?? 0) < 0) {
    exchange();
    return;
  }
  const choice = await reply(place, signal);
  setWork();
  await seen(now.shownAt);
  await undisturbed();
  if (turn === now.turn) await make(choice);
}

/** Returns the move of a program: in a puzzle that of its line. @param {Place} place @param {AbortSignal} signal */
async function reply(place, signal) {
  const { puzzle, rules } = now.game;
  const pit = puzzle && replyOf(puzzle, place);
  if (pit === undefined) return api.move(place.literal, rules, players[place.side], settings.time, signal);
  return effects(place, pit, signal);
}

/** Requests the effects of a move. @param {Place} place @param {number} pit @param {AbortSignal} [signal] */
const effects = async (place, pit, signal) =>
  (await api.line(place.literal, now.game.rules, [pit], signal)).places[0];

/** Plays a move that the server described; `push` as in `saveAddress`. @param {Made} move */
async function make(move, push = false) {
  const { game } = now;
  const turn = nextStep();
  const place = game.play(move);
  enter("move");
  if (game.puzzle) follow(game, true);
  // Before the animation, so that the move is kept if the page is left meanwhile.
  saveAddress(push);
  view.board.label(place.before, false, false);
  const next = place.finished ? ending(place) : `${t("toMove", { side: name(place.side) })}.`;
  announce(`${happened(place)} ${next} ${game.message ?? ""}`);
  showStrips(place.before);
  const yours = isHuman(place.before);
  const whole = await sow(view.board, place);
  if (!whole || turn !== now.turn) return;
  arrive();
  if (move.again && !place.finished && yours) {
    view.board.shout(t("moveAgain"));
  }
}

/** Requests the effects of a move under the pointer, which is shown once they are there. @type {Board["peek"]} */
function peek(place, pit) {
  const { board } = view;
  const show = (/** @type {Made} */ move) => {
    place.peeked.set(pit, move);
    if (place === board.place && pit === board.aimed) board.aim(pit);
  };
  effects(place, pit, now.asking.signal).then(show).catch(fail);
}

/** A person chose a pit. @param {Side} side @param {number} pit */
export function choose(side, pit) {
  const { place } = now.game;
  if (side !== place.side || !mayPlay()) return;
  forgive();
  if (place.raw().rows[SIDES.indexOf(side)][pit - 1] === 0) {
    view.board.refuse(side, pit);
    announce(t("pitEmpty"));
    return;
  }
  const answered = place.answer?.moves.find((move) => move.move === pit && move.next);
  const known = /** @type {Made | undefined} */ (answered) ?? place.peeked.get(pit);
  if (known) {
    make(known, true).catch(fail);
    return;
  }
  effects(place, pit)
    .then((move) => (place === now.game.place && mayPlay() ? make(move, true) : undefined))
    .catch(fail);
}

/**
 * Shows a place of the game; without `push` the browser's Back passes over it.
 * @param {Place} place
 */
export function goTo(place, push = true) {
  forgive();
  enter("look");
  now.game.show(place);
  arrive(push);
  announce(`${isReached(place) ? happened(place) : ""} ${status(place)}`);
}

/** Shows a place for a moment, without requests and changes of the address. @param {Place} place */
function glance(place) {
  nextStep();
  enter("look");
  now.game.show(place);
  view.board.show(place, false, now.values, now.bottom);
  store.draw();
}

/** A step on the shown line: one move, or to an end of it. @typedef {"first" | "back" | "on" | "last"} Step */

/** Makes a step on the shown line. @param {Step} to */
export function browse(to) {
  const { place, places, at } = now.game;
  const next = { first: places[0], back: places[at - 1], on: places[at + 1], last: places[places.length - 1] }[to];
  if (next && next !== place) goTo(next, false);
}

/** Changes the variations, and shows the result. @param {"promote" | "remove" | "restore"} how */
export function arrange(how) {
  const { game } = now;
  if (how === "promote") promote(game.place);
  else game[how]();
  enter("look");
  // The browser's Back restores what was removed.
  arrive(how === "remove" || how === "restore");
  announce(t(`arranged.${how}`));
}

/** Shows or hides the values, and remembers this. */
export function showValues(shown = true) {
  Object.assign(now, { values: shown, isHidden: false });
  remember({ values: shown });
  if (shown) helped(now.game);
  if (goesOn(now.game.place)) store.draw();
  else arrive();
}

/** Plays the first moves of the shown line, beside those that were played. @param {number[]} moves */
async function playLine(moves) {
  const { game } = now;
  const from = game.place;
  try {
    const { places } = await api.line(from.literal, game.rules, moves);
    game.show(from);
    for (const place of places.slice(0, -1)) game.play(place);
    goTo(game.place);
  } catch (error) {
    fail(error);
  }
}

/** Sets the players: a person if the server does not have a player. @param {string} south @param {string} north */
export function setPlayers(south, north) {
  for (const side of SIDES) {
    const player = side === "south" ? south : north;
    players[side] = isPlayer(player) ? player : "human";
    showPlayer(find(side), players[side]);
  }
  // A person who plays alone sits at the bottom.
  now.bottom = onlyPerson() ?? "south";
}

/** Shows the board from the other side. */
export function turnBoard() {
  now.bottom = other(now.bottom);
  arrive();
}

/** Swaps the players of the sides, by the pie rule. */
export function exchange() {
  setPlayers(players.north, players.south);
  Object.assign(now.game, { pie: "swapped", exchangePath: now.game.place.path });
  enter("go");
  arrive(true);
  announce(t("swapped"));
}

/** Actions of the view. */
export const actions = { sow: choose, peek, goTo, glance, playLine };
