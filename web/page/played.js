// Games finished in this browser: how often each move was played, with its results.

const KEY = "kalah-games";

/** Maximum counted moves of a game, and maximum stored positions; the oldest ones are dropped. */
const [FIRST, MOST] = [24, 4000];

/** Counts by rules and position. @type {Record<string, Played> | undefined} */
let kept;

/** @returns {Record<string, Played>} */
function load() {
  try {
    kept ??= JSON.parse(localStorage.getItem(KEY) ?? "null");
  } catch {
    // The stored text is not from this page, or the browser forbids storage.
  }
  kept ??= {};
  return kept;
}

/** @param {string} rules @param {string} literal */
const keyOf = (rules, literal) => `${rules} ${literal}`;

/** Counts the game that ends at a place, once. @param {string} rules @param {Place} end */
export function countGame(rules, end) {
  if (end.counted) return;
  end.counted = true;
  const all = load();
  const [south, north] = end.board().stores;
  for (const { before, by } of end.steps.slice(0, FIRST)) {
    const key = keyOf(rules, before.literal);
    const result = Math.sign(before.side === "south" ? south - north : north - south);
    const moves = all[key] ?? {};
    delete all[key];
    all[key] = moves;
    moves[by.move] ??= [0, 0, 0];
    moves[by.move][1 - result] += 1;
  }
  for (const key of Object.keys(all).slice(0, -MOST)) delete all[key];
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // A browser may forbid storage.
  }
}

/**
 * Returns how often each move from a position was won, drawn and lost for the side that moved.
 * @param {string} rules
 * @param {string} literal
 */
export const playedFrom = (rules, literal) => load()[keyOf(rules, literal)] ?? {};
