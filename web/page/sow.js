// A hand that carries seeds around the board and drops them one by one.

import { middle } from "./arc.js";
import { SIDES } from "./game.js";
import { settings } from "./settings.js";
import { buzz, knock } from "./sound.js";

/** @import { Board } from "./board.js" */

/** Milliseconds of one seed's movement, and maximum for a whole move, by speed. */
const STEP = { slow: 420, normal: 190, step: 190 };
const MOVE = { slow: 9000, normal: 2800, step: 2800 };

/** Time in which all seeds of a pit go to a store, in times of one seed. */
const GATHER = 2;

/**
 * Milliseconds for which a program's move stays visible, with moving seeds and without.
 * @type {Partial<Record<Settings["speed"], [number, number]>>}
 */
const SEEN = { slow: [900, 2200], normal: [300, 900] };

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Returns the time for which the last move stays visible before a program moves. */
export const seen = () => SEEN[settings.speed]?.[still() ? 1 : 0] ?? 0;

/** @param {number} milliseconds */
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** @typedef {{ x: number, y: number }} Point */

/** @param {Point} point @param {number} [scale] */
const at = ({ x, y }, scale = 1) => ({ transform: `translate(${x}px, ${y}px) translate(-50%, -50%) scale(${scale})` });

/** @param {Board} board @param {string} className */
function make(board, className) {
  const element = document.createElement("div");
  element.className = className;
  board.element.append(element);
  return element;
}

/** Drops a seed into a hollow. @param {Board} board @param {Point} from @param {Point} to @param {number} time */
function drop(board, from, to, time) {
  const seed = make(board, "flying");
  const remove = () => seed.remove();
  seed.animate([at(from, 1.4), at(to)], { duration: time, easing: "ease-in" }).finished.then(remove, remove);
}

/** Makes a hollow bright for a moment. @param {Hole} hole */
const flash = (hole) =>
  hole.element.animate([{ filter: "brightness(1)" }, { filter: "brightness(2.4)" }, { filter: "brightness(1)" }], 500);

/**
 * Animates on a board the move that led to a place, seed by seed. At the end of a game all seeds go to the stores of
 * their sides. Resolves to false if something else was shown meanwhile.
 * @param {Board} board
 * @param {Reached} place
 */
export async function sow(board, place) {
  board.running += 1;
  const run = board.running;
  board.aim();
  board.put();
  if (still() || settings.speed === "instant" || document.hidden) {
    knock();
    return true;
  }
  const { side } = place.before;
  const { sowing, captured = [] } = place.by;
  const store = board.hole(side, board.pits + 1);
  const taken = captured.map((number) => board.hole(side, number));
  const rest = place.finished ? SIDES.flatMap((side) => board.rows[side].map((hole) => ({ hole, side }))) : [];
  const drops = sowing.reduce((sum, lift) => sum + lift.drops.length, 0);
  const time = Math.min(
    STEP[settings.speed],
    MOVE[settings.speed] / (drops + sowing.length + GATHER * (taken.length + rest.length)),
  );
  // Steps are due at fixed times, so that many of them take no longer than their share.
  let due = performance.now();
  /** Waits for the end of a step; resolves to false if something else is shown. @param {number} steps */
  const step = async (steps) => {
    due += steps * time;
    const left = due - performance.now();
    if (left > 3) await wait(left);
    return run === board.running;
  };
  const hand = make(board, "hand");
  let held = middle(board, board.hole(side, sowing[0].from));
  /** Moves the hand. @param {Point} to */
  const carry = (to) => {
    const [from, over] = [held, { x: (held.x + to.x) / 2, y: (held.y + to.y) / 2 - 10 }];
    held = to;
    hand.animate([at(from), at(over, 1.12), at(to)], { duration: time, fill: "forwards" });
  };
  try {
    for (const lift of sowing) {
      const from = board.hole(side, lift.from);
      from.element.classList.add("mark-from");
      board.set(from, 0);
      hand.textContent = String(lift.drops.length);
      carry(middle(board, from));
      if (!(await step(1))) return false;
      for (const [index, number] of lift.drops.entries()) {
        const to = board.hole(side, number);
        const target = middle(board, to);
        carry(target);
        if (!(await step(1))) return false;
        drop(board, held, target, Math.min(110, time));
        board.set(to, to.seeds + 1);
        hand.textContent = String(lift.drops.length - index - 1);
        knock(300 + 12 * Math.min(to.seeds, 30));
      }
    }
    hand.remove();
    /** Moves all seeds of a pit into a store. @param {Hole} hole @param {Hole} store */
    const gather = async (hole, store) => {
      const count = hole.seeds;
      if (count === 0) return true;
      board.set(hole, 0);
      const heap = make(board, "flying many");
      heap.animate([at(middle(board, hole)), at(middle(board, store))], { duration: GATHER * time, easing: "ease-in" });
      const whole = await step(GATHER);
      heap.remove();
      if (whole) board.set(store, store.seeds + count);
      return whole;
    };
    for (const hole of taken) {
      hole.element.classList.add("mark-captured");
      flash(hole);
      if (!(await gather(hole, store))) return false;
      knock(180);
    }
    if (taken.length > 0) {
      flash(store);
      buzz(30);
    }
    for (const { hole, side } of rest) if (!(await gather(hole, board.stores[side]))) return false;
    return true;
  } finally {
    hand.remove();
  }
}
