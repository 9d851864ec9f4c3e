// A hand that carries seeds around the board and drops them one by one, and their sounds.

import { middle } from "./board.js";
import { make } from "./elements.js";
import { SIDES } from "./game.js";
import { settings } from "./settings.js";

/** @import { Board } from "./board.js" */

/** @type {AudioContext | undefined} */
let audio;

/** Returns true if the browser allows sounds: after a first click or key. */
const allowed = () => navigator.userActivation?.hasBeenActive ?? true;

/** Plays a knock of this pitch in hertz, unless sounds are off. No file is loaded. */
function knock(pitch = 320) {
  if (!settings.sounds || !allowed()) return;
  audio ??= new AudioContext();
  const start = audio.currentTime;
  // Wood: two tones that end at once.
  for (const [form, times, loud] of /** @type {const} */ ([
    ["triangle", 1, 0.15],
    ["sine", 2.76, 0.07],
  ])) {
    const [tone, volume] = [audio.createOscillator(), audio.createGain()];
    tone.type = form;
    tone.frequency.setValueAtTime(pitch * times, start);
    tone.frequency.exponentialRampToValueAtTime(0.7 * pitch * times, start + 0.06);
    volume.gain.setValueAtTime(loud, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + 0.08 / Math.sqrt(times));
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + 0.1);
  }
}

/** Milliseconds of one seed's movement, and maximum for a whole move. */
const [STEP, MOVE] = [190, 2800];

/** Time in which all seeds of a pit go to a store, in times of one seed. */
const GATHER = 2;

/** Minimum milliseconds between two pictures. Steps that are shorter are shown together. */
const PICTURE = 25;

/** Milliseconds for which a program's move stays visible, with moving seeds and without. */
const SEEN = { moving: 300, still: 900 };

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @param {number} milliseconds */
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Waits until the last move, shown at `since`, has been visible for long enough. @param {number} since */
export const seen = (since) =>
  wait(Math.max(0, since + SEEN[still() ? "still" : "moving"] - performance.now()));

/** @typedef {{ x: number, y: number }} Point */

/** @param {Point} point @param {number} [scale] */
const at = ({ x, y }, scale = 1) => ({ transform: `translate(${x}px, ${y}px) translate(-50%, -50%) scale(${scale})` });

/** @param {Board} board @param {string} className */
function add(board, className) {
  const element = make("div", { className });
  board.element.append(element);
  return element;
}

/** Drops a seed into a hollow. @param {Board} board @param {Point} from @param {Point} to @param {number} time */
function drop(board, from, to, time) {
  const seed = add(board, "flying");
  const remove = () => seed.remove();
  seed.animate([at(from, 1.4), at(to)], { duration: time, easing: "ease-in" }).finished.then(remove, remove);
}

/** Makes a hollow bright for a moment. @param {Hole} hole */
const flash = (hole) =>
  hole.element.animate([{ filter: "brightness(1)" }, { filter: "brightness(2.4)" }, { filter: "brightness(1)" }], 500);

/**
 * Returns the steps of a move: at each the hand takes all seeds of a place, or drops one there, and then holds `held`.
 * @param {Api.Lift[]} sowing
 */
const stepsOf = (sowing) =>
  sowing.flatMap(({ from, drops }) => [
    { place: from, takes: true, held: drops.length },
    ...drops.map((place, index) => ({ place, takes: false, held: drops.length - index - 1 })),
  ]);

/** Steps of an animation, due at fixed times, so that many of them take no longer than their share. */
class Steps {
  /** @param {number} time milliseconds of a step @param {() => boolean} goesOn false if something else is shown */
  constructor(time, goesOn) {
    this.time = time;
    this.goesOn = goesOn;
    this.due = performance.now();
  }

  /** Number of steps of the next picture. A slow device shows fewer pictures, not a longer move. */
  get next() {
    const late = Math.max(0, Math.floor((performance.now() - this.due) / this.time));
    return late + Math.ceil(PICTURE / this.time);
  }

  /** Waits for the end of some steps; resolves to false if something else is shown. @param {number} count */
  async pass(count) {
    this.due += count * this.time;
    const left = this.due - performance.now();
    if (left > 3) await wait(left);
    return this.goesOn();
  }
}

/**
 * Carries the seeds of a move around the board. Resolves to false if something else was shown meanwhile.
 * @param {Board} board
 * @param {Reached} place
 * @param {Steps} steps
 */
async function carry(board, place, steps) {
  const { side } = place.before;
  const all = stepsOf(place.by.sowing);
  const hand = add(board, "hand");
  let held = middle(board, board.hole(side, all[0].place));
  /** Moves the hand. @param {Point} to @param {number} duration */
  const move = (to, duration) => {
    const [from, over] = [held, { x: (held.x + to.x) / 2, y: (held.y + to.y) / 2 - 10 }];
    held = to;
    hand.animate([at(from), at(over, 1.12), at(to)], { duration, fill: "forwards" });
  };
  /** Shows the board after some steps. @param {typeof all} done */
  const show = (done) => {
    /** @type {Map<Hole, number>} */
    const counts = new Map();
    for (const { place, takes } of done) {
      const hole = board.hole(side, place);
      counts.set(hole, takes ? 0 : (counts.get(hole) ?? hole.seeds) + 1);
      if (takes) hole.element.classList.add("mark-from");
    }
    for (const [hole, count] of counts) board.set(hole, count);
    const last = done[done.length - 1];
    hand.textContent = String(last.held);
    if (last.takes) return;
    drop(board, held, held, Math.min(110, steps.time));
    knock(300 + 12 * Math.min(board.hole(side, last.place).seeds, 30));
  };
  try {
    move(held, 0);
    show(all.slice(0, 1));
    if (!(await steps.pass(1))) return false;
    for (let index = 1; index < all.length; ) {
      const done = all.slice(index, index + steps.next);
      index += done.length;
      move(middle(board, board.hole(side, done[done.length - 1].place)), done.length * steps.time);
      if (!(await steps.pass(done.length))) return false;
      show(done);
    }
    return true;
  } finally {
    hand.remove();
  }
}

/**
 * Moves all seeds of a pit into a store. Resolves to false if something else was shown meanwhile.
 * @param {Board} board
 * @param {Hole} hole
 * @param {Hole} store
 * @param {Steps} steps
 */
async function gather(board, hole, store, steps) {
  const count = hole.seeds;
  if (count === 0) return true;
  board.set(hole, 0);
  const heap = add(board, "flying many");
  const ways = [at(middle(board, hole)), at(middle(board, store))];
  heap.animate(ways, { duration: GATHER * steps.time, easing: "ease-in" });
  const whole = await steps.pass(GATHER);
  heap.remove();
  if (whole) board.set(store, store.seeds + count);
  return whole;
}

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
  if (still() || document.hidden) {
    knock();
    return true;
  }
  const { side } = place.before;
  const { sowing, captured = [] } = place.by;
  const store = board.hole(side, board.pits + 1);
  const taken = captured.map((number) => board.hole(side, number));
  const rest = place.finished ? SIDES.flatMap((side) => board.rows[side].map((hole) => ({ hole, side }))) : [];
  const count = stepsOf(sowing).length + GATHER * (taken.length + rest.length);
  const time = Math.min(STEP, MOVE / count);
  const steps = new Steps(time, () => run === board.running);
  if (!(await carry(board, place, steps))) return false;
  for (const hole of taken) {
    hole.element.classList.add("mark-captured");
    flash(hole);
    if (!(await gather(board, hole, store, steps))) return false;
    knock(180);
  }
  if (taken.length > 0) flash(store);
  for (const { hole, side } of rest) if (!(await gather(board, hole, board.stores[side], steps))) return false;
  return true;
}
