// Puzzles: positions in which only one move keeps the win or the draw. The browser stores how many were solved.
// Afterwards the other side replies to the end of the game.

import * as api from "./api.js";
import { ask } from "./dialogs.js";
import { find, make } from "./elements.js";
import { remember, settings } from "./settings.js";
import { stateOf } from "./solution.js";
import { DAYS, counted, dayAfter, dayOf, daysInRow, resultOf, results } from "./streak.js";
import { describe, language, name, pitName, t } from "./words.js";

/** Requests a puzzle of the usual board. @param {Omit<Parameters<typeof api.puzzle>[0], "board">} asked */
const request = (asked) => api.puzzle({ ...asked, board: "6x4" });

/** @returns {Solved} */
const solvedSoFar = () => results(settings.puzzles);

/** Signs of results. @type {Record<PuzzleResult, string>} */
const SIGNS = { first: "✓", later: "○", missed: "✗" };

/**
 * Returns a button for the puzzle of a day.
 * @param {string} day
 * @param {PuzzleResult | undefined} result
 */
function dayButton(day, result) {
  const form = /** @type {const} */ ({ day: "numeric", month: "long", timeZone: "UTC" });
  const date = new Date(`${day}T00:00Z`).toLocaleDateString(language(), form);
  const ariaLabel = result ? `${date}: ${t(`calendar.${result}`)}` : date;
  const text = `${Number(day.slice(8))}${result ? SIGNS[result] : ""}`;
  const button = make("button", { type: "submit", value: day, className: result ?? "", ariaLabel }, text);
  button.dataset.day = day;
  return button;
}

/**
 * Asks for a kind of puzzle under the rules of a game; resolves to the puzzle, or undefined if cancelled.
 * @param {string} rules
 */
export async function askPuzzle(rules) {
  const today = dayOf(new Date());
  find("puzzle-state").textContent =
    `${t("puzzleRow", { n: solvedSoFar().row })} ${t("puzzleDays", { n: daysInRow(solvedSoFar(), today) })}`;
  const dialog = find("puzzle-dialog");
  const level = find("puzzle-level");
  find("puzzle-signs").textContent = t("calendarSigns", SIGNS);
  const show = () => {
    const days = Array.from({ length: DAYS }, (_, index) => dayAfter(today, index + 1 - DAYS));
    const buttons = days.map((day) => dayButton(day, resultOf(solvedSoFar(), day, level.value, rules)));
    find("puzzle-days").replaceChildren(...buttons);
  };
  level.onchange = show;
  show();
  const chosen = await ask(dialog);
  const day = chosen ? today : dialog.returnValue;
  if (!day) return undefined;
  return day === "other" ? anotherPuzzle({ rules, level: level.value }) : request({ rules, level: level.value, day });
}

/** Requests the puzzle of the day that most people play: a hard one. @param {string} rules */
export const todaysPuzzle = (rules) => request({ rules, level: "hard", day: dayOf(new Date()) });

/** Describes the result of a puzzle of a day without its solution, with the days in a row. @param {Puzzle} puzzle */
export function resultText({ level, rules, day = "" }) {
  const result = resultOf(solvedSoFar(), day, level, rules) ?? "later";
  const words = { level: t(`puzzle.${level}`), result: t(`calendar.${result}`) };
  const text = t("puzzleResult", { day, sign: SIGNS[result], ...words });
  const days = daysInRow(solvedSoFar(), dayOf(new Date()));
  return days > 1 ? `${text} ${t("puzzleDays", { n: days })}` : text;
}

/** Requests any puzzle of this kind. @param {{ rules: string, level: string }} kind */
export const anotherPuzzle = ({ rules, level }) => request({ rules, level, seed: Math.floor(2 ** 31 * Math.random()) });

/** Returns the field of a link for a puzzle, without its solution. @param {Puzzle} puzzle */
export const named = ({ level, day, seed }) => ({ puzzle: `${level}:${day ?? seed}` });

/**
 * Requests the puzzle of a link; undefined if it has none from this position.
 * @param {string | undefined} text
 * @param {string} rules
 * @param {string} board
 */
export async function puzzleNamed(text, rules, board) {
  const [, level, day, seed] = /^(easy|medium|hard):(?:(\d{4}-\d\d-\d\d)|(\d+))$/.exec(text ?? "") ?? [];
  if (!level) return undefined;
  const found = await request({ rules, level, day, seed }).catch(() => undefined);
  return found?.position === board ? found : undefined;
}

/** Returns the task of a puzzle. @param {Puzzle} puzzle @param {Side} side */
export const task = ({ outcome, level }, side) =>
  t(`puzzle.${outcome}`, { side: name(side), level: t(`puzzle.${level}`) });

/** Describes a wrong move, with the reply that refutes it once that is known. @param {Game} game */
function refuted({ place, root }) {
  const [reply] = place.side === root.side ? [] : (place.answer?.best ?? []);
  if (!reply || !place.answer) return t("puzzleWrong");
  const value = describe(place.answer, place.side).full;
  return `${t("puzzleWrong")} ${t("puzzleRefuted", { reply: pitName(place.side, reply), value })}`;
}

/** Counts the result of a puzzle. @param {Puzzle} puzzle @param {boolean} solved */
const count = (puzzle, solved) => remember({ puzzles: counted(solvedSoFar(), puzzle, solved, dayOf(new Date())) });

/**
 * Sets the message about a game's puzzle at the shown place, if there is one; with `counts` its result is counted.
 * @param {Game} game
 * @param {boolean} counts
 */
export function follow(game, counts) {
  const { puzzle } = game;
  if (!puzzle) return;
  const state = stateOf(puzzle, game.place);
  if (state === "unknown") return;
  if (counts && state === "wrong") count(puzzle, false);
  if (state === "solved" && !puzzle.solved) {
    if (counts) count(puzzle, true);
    puzzle.solved = true;
  }
  const solved = puzzle.solved ? t("puzzleRight", { line: puzzle.line, n: solvedSoFar().row }) : undefined;
  const open = puzzle.helped ? `${task(puzzle, game.root.side)} ${t("puzzleHelped")}` : undefined;
  game.message = state === "wrong" ? refuted(game) : (solved ?? (state === "open" ? open : t("puzzleGoOn")));
  game.verdict = state === "open" ? undefined : state === "wrong" ? "wrong" : "right";
}

/** A hint or values were shown, which ends the streak unless the puzzle is solved. @param {Game} game */
export function helped(game) {
  const { puzzle } = game;
  if (!puzzle || puzzle.solved) return;
  puzzle.helped = true;
  count(puzzle, false);
  follow(game, false);
}
