// The games that were finished in this browser: how often each move was played, and with what success.

const KEY = "kalah-games";

/** Moves of a game that are counted, and positions that are kept; the oldest ones are dropped. */
const [FIRST, MOST] = [24, 4000];

let kept;

function load() {
  try {
    kept ??= JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    kept = {};
  }
  return kept;
}

const keyOf = (rules, literal) => `${rules} ${literal}`;

/** Counts the game that ends at a place, once. */
export function countGame(rules, end) {
  if (end.counted) return;
  end.counted = true;
  const all = load();
  const [south, north] = end.board().stores;
  const path = [];
  for (let place = end; place.before; place = place.before) path.unshift(place);
  for (const { before, by } of path.slice(0, FIRST)) {
    const key = keyOf(rules, before.literal);
    const result = Math.sign(before.side === "south" ? south - north : north - south);
    const moves = all[key] ?? {};
    delete all[key];
    all[key] = moves;
    const counts = (moves[by.move] ??= [0, 0, 0]);
    counts[1 - result] += 1;
  }
  for (const key of Object.keys(all).slice(0, -MOST)) delete all[key];
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // A browser may forbid it.
  }
}

/** How often each move was played from a position: won, drawn and lost for the side that moved. */
export const playedFrom = (rules, literal) => load()[keyOf(rules, literal)] ?? {};
