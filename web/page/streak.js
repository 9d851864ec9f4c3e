// Results of puzzles: solved in a row, days in a row, and those of past days.

/** Days whose puzzles can be chosen, and maximum number of stored results; the oldest ones are dropped. */
export const DAYS = 28;
const MOST = 400;

/** Returns the day of a date in the time zone of the browser, in the server's form. @param {Date} date */
export const dayOf = (date) =>
  [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");

/** Returns a day a number of days after another. @param {string} day @param {number} days */
export function dayAfter(day, days) {
  const [year, month, date] = day.split("-").map(Number);
  return new Date(Date.UTC(year, month - 1, date + days)).toISOString().slice(0, 10);
}

/** @param {string} day @param {string} level @param {string} rules */
const keyOf = (day, level, rules) => `${day} ${level} ${rules}`;

/** Returns results of the browser in full. @param {Partial<Solved>} [stored] @returns {Solved} */
export const results = (stored) => ({ row: 0, days: 0, day: "", tried: "", past: {}, ...stored });

/**
 * Returns the result of a day's puzzle, if there is one.
 * @param {Solved} stored
 * @param {string} day
 * @param {string} level
 * @param {string} rules
 * @returns {PuzzleResult | undefined}
 */
export const resultOf = (stored, day, level, rules) => stored.past[keyOf(day, level, rules)];

/**
 * Counts a puzzle that was solved, or not after a wrong move or a hint. Only the first result counts for `row`, and
 * only puzzles of their own day for `days`.
 * @param {Solved} stored
 * @param {Pick<Puzzle, "position" | "level" | "rules" | "day">} puzzle
 * @param {boolean} solved
 * @param {string} today
 * @returns {Solved}
 */
export function counted(stored, { position, level, rules, day }, solved, today) {
  const before = day ? resultOf(stored, day, level, rules) : undefined;
  const first = stored.tried !== position && !before;
  const next = { ...stored, tried: position };
  if (first) next.row = solved ? stored.row + 1 : 0;
  if (!day) return next;
  /** @type {PuzzleResult} */
  const result = solved ? (first ? "first" : before === "first" ? "first" : "later") : (before ?? "missed");
  const { [keyOf(day, level, rules)]: _, ...others } = stored.past;
  const past = Object.entries(others).sort().slice(1 - MOST);
  next.past = Object.fromEntries([...past, [keyOf(day, level, rules), result]]);
  if (first && solved && day === today && stored.day !== today) {
    next.days = dayAfter(stored.day || today, 1) === today ? stored.days + 1 : 1;
    next.day = today;
  }
  return next;
}

/** Returns the days in a row: none if yesterday's was missed. @param {Solved} stored @param {string} today */
export const daysInRow = ({ days, day }, today) => (day === today || day === dayAfter(today, -1) ? days : 0);
