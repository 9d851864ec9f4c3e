// Puzzles: positions in which only one move keeps the win or the draw. The browser stores how many were solved.

import * as api from "./api.js";
import { ask } from "./dialogs.js";
import { find } from "./find.js";
import { remember, settings } from "./settings.js";
import { name, t } from "./words.js";

/** Returns the day of a date in the time zone of the browser, in the server's form. @param {Date} date */
const dayOf = (date) =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

/** @returns {Solved} */
const solved = () => ({ row: 0, days: 0, day: "", tried: "", ...settings.puzzles });

/**
 * Asks for a kind of puzzle under the rules of a game; resolves to the puzzle, or undefined if cancelled.
 * @param {string} rules
 */
export async function askPuzzle(rules) {
  const { row, days } = solved();
  find("puzzle-state").textContent = `${t("puzzleRow", { n: row })} ${t("puzzleDays", { n: days })}`;
  const dialog = find("puzzle-dialog");
  const chosen = await ask(dialog);
  if (!chosen && dialog.returnValue !== "other") return undefined;
  const level = find("puzzle-level").value;
  const which = chosen ? { day: dayOf(new Date()) } : { seed: Math.floor(2 ** 31 * Math.random()) };
  return api.puzzle({ rules, board: "6x4", level, ...which });
}

/** Requests another puzzle like this one. @param {Puzzle} puzzle */
export const anotherPuzzle = ({ rules, level }) =>
  api.puzzle({ rules, board: "6x4", level, seed: Math.floor(2 ** 31 * Math.random()) });

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
  const found = await api.puzzle({ rules, board: "6x4", level, day, seed }).catch(() => undefined);
  return found?.position === board ? found : undefined;
}

/** Returns the task of a puzzle. @param {Puzzle} puzzle @param {Side} side */
export const task = ({ outcome, level }, side) =>
  t(`puzzle.${outcome}`, { side: name(side), level: t(`puzzle.${level}`) });

/**
 * Returns the message for a first move of a puzzle; undefined if there was none yet.
 * @param {Puzzle} puzzle
 * @param {number | undefined} move
 */
export function judgeFirst(puzzle, move) {
  if (move === undefined) return undefined;
  puzzle.solved ||= move === puzzle.move;
  return move === puzzle.move ? t("puzzleRight", { line: puzzle.line, n: solved().row }) : t("puzzleWrong");
}

/**
 * Returns the message for a move played now, and counts it, unless it is not the first try.
 * @param {Puzzle} puzzle
 * @param {number} move
 */
export function tryMove(puzzle, move) {
  const right = move === puzzle.move;
  const { row, days, day, tried } = solved();
  if (puzzle.position !== tried) {
    const kept = { row: right ? row + 1 : 0, days, day, tried: puzzle.position };
    if (right && puzzle.day && puzzle.day !== day) {
      const before = new Date(`${puzzle.day}T12:00`);
      before.setDate(before.getDate() - 1);
      Object.assign(kept, { day: puzzle.day, days: dayOf(before) === day ? days + 1 : 1 });
    }
    remember({ puzzles: kept });
  }
  return judgeFirst(puzzle, move);
}
