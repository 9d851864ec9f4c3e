// Seeds that move, one by one.

import { SIDES } from "./game.js";
import { settings } from "./settings.js";
import { knock } from "./sound.js";

/** @import { Board } from "./board.js" */

/** Milliseconds of one seed's movement, and maximum for a whole move, by speed. */
const STEP = { slow: 420, normal: 170, step: 170 };
const MOVE = { slow: 9000, normal: 3400, step: 3400 };

/**
 * Milliseconds for which a program's move stays visible, with moving seeds and without.
 * @type {Partial<Record<Settings["speed"], [number, number]>>}
 */
const SEEN = { slow: [900, 2200], normal: [300, 900] };

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Returns the time for which the last move stays visible before a program moves. */
export const seen = () => SEEN[settings.speed]?.[still() ? 1 : 0] ?? 0;

/** @param {Board} board @param {Hole} from @param {Hole} to @param {number} time */
async function fly(board, from, to, time, many = false) {
  const seed = document.createElement("div");
  seed.className = many ? "flying many" : "flying";
  board.element.append(seed);
  const frame = board.element.getBoundingClientRect();
  /** @param {Hole} hole */
  const point = (hole) => {
    const box = hole.svg.getBoundingClientRect();
    return [box.left + box.width / 2 - frame.left, box.top + box.height / 2 - frame.top];
  };
  const [[x0, y0], [x1, y1]] = [point(from), point(to)];
  /** @param {number} x @param {number} y @param {number} scale */
  const at = (x, y, scale) => ({ transform: `translate(${x}px, ${y}px) translate(-50%, -50%) scale(${scale})` });
  const way = [at(x0, y0, 1), at((x0 + x1) / 2, (y0 + y1) / 2 - 8, 1.35), at(x1, y1, 1)];
  await seed.animate(way, { duration: time, easing: "ease-in-out" }).finished.catch(() => {});
  seed.remove();
}

/**
 * Animates on a board the move that led to a place, seed by seed. At the end of a game all seeds go to the stores of
 * their sides. Resolves to false if something else was shown meanwhile.
 * @param {Board} board
 * @param {Reached} place
 */
export async function sow(board, place) {
  if (still() || settings.speed === "instant") {
    knock();
    return true;
  }
  board.running += 1;
  const run = board.running;
  const { side } = place.before;
  const move = place.by;
  const drops = move.sowing.reduce((sum, lift) => sum + lift.drops.length, 0);
  const time = Math.min(STEP[settings.speed], MOVE[settings.speed] / (drops + 2));
  /** Moves all seeds of a pit into a store. @param {Hole} hole @param {Hole} store */
  const gather = async (hole, store) => {
    const count = hole.seeds;
    board.set(hole, 0);
    await fly(board, hole, store, 2.5 * time, true);
    if (run !== board.running) return false;
    board.set(store, store.seeds + count);
    knock(180);
    return true;
  };
  for (const lift of move.sowing) {
    let from = board.hole(side, lift.from);
    from.element.classList.add("mark-from");
    board.set(from, 0);
    for (const drop of lift.drops) {
      const to = board.hole(side, drop);
      await fly(board, from, to, time);
      if (run !== board.running) return false;
      board.set(to, to.seeds + 1);
      knock(300 + 12 * to.seeds);
      from = to;
    }
  }
  const store = board.hole(side, board.pits + 1);
  for (const number of move.captured ?? []) {
    const hole = board.hole(side, number);
    hole.element.classList.add("mark-captured");
    if (hole.seeds > 0 && !(await gather(hole, store))) return false;
  }
  if (place.finished) {
    for (const side of SIDES) {
      for (const hole of board.rows[side])
        if (hole.seeds > 0 && !(await gather(hole, board.stores[side]))) return false;
    }
  }
  return true;
}
