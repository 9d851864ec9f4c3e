// A game as a tree of variations, as described by the server: the page itself contains no rules.

import { ends, remove, restore } from "./tree.js";

/** @type {Side[]} */
export const SIDES = ["south", "north"];

/** Returns the numbers of a board literal, as its mover sees it. @param {string} literal @returns {Seeds} */
export function read(literal) {
  const [pits, ...numbers] = literal.slice(1, -1).split(",").map(Number);
  return { stores: numbers.slice(0, 2), rows: [numbers.slice(2, 2 + pits), numbers.slice(2 + pits)] };
}

/** Returns the board literal of rows and stores, the mover's first. @param {Seeds} board */
export const write = ({ stores, rows }) => `<${[rows[0].length, ...stores, ...rows[0], ...rows[1]].join(",")}>`;

/** Returns the board with the sides swapped. @param {Seeds} board */
export const turned = ({ stores, rows }) => ({ stores: [...stores].reverse(), rows: [...rows].reverse() });

/** @param {Side} side @returns {Side} */
export const other = (side) => (side === "south" ? "north" : "south");

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/**
 * Reads a board in any form of the program: a literal, `s1,..,sm/n1,..,nm`, `PITSxSEEDS`. Undefined for other texts.
 * @param {string} text
 * @returns {Seeds | undefined}
 */
export function parse(text) {
  const words = text.replaceAll(/\s/g, "");
  const start = /^(\d{1,2})x(\d{1,3})$/.exec(words);
  if (start) {
    const row = Array(Number(start[1])).fill(Number(start[2]));
    return row.length > 0 ? { stores: [0, 0], rows: [row, [...row]] } : undefined;
  }
  let board;
  if (/^<\d+(,\d+)*>$/.test(words)) {
    board = read(words);
    if (board.rows[0].length !== Number(words.slice(1).split(",")[0])) return undefined;
  } else if (/^\d+(,\d+)*\/\d+(,\d+)*$/.test(words)) {
    board = { stores: [0, 0], rows: words.split("/").map((row) => row.split(",").map(Number)) };
  }
  return board && board.rows[0].length > 0 && board.rows[0].length === board.rows[1].length ? board : undefined;
}

/** Returns the shortest text of a literal that `parse` reads: `6x4`, its rows, or itself. @param {string} literal */
export function shortest(literal) {
  const { stores, rows } = read(literal);
  if (stores.some(Boolean)) return literal;
  const even = rows.flat().every((seeds) => seeds === rows[0][0]);
  return even ? `${rows[0].length}x${rows[0][0]}` : rows.join("/");
}

/** A place in a game: a position, the side to move, and the answers about it. */
export class Place {
  /**
   * `before` is the place from which the move `by`, as the server describes it, led here.
   * @param {string} literal
   * @param {Side} side
   * @param {Place} [before]
   * @param {Made} [by]
   */
  constructor(literal, side, before, by) {
    this.literal = literal;
    this.side = side;
    this.before = before;
    this.by = by;
    /** Places after the moves from here, that of the main line first. @type {Reached[]} */
    this.after = [];
    /** The one on the shown line, if there is any place after this one. @type {Reached | undefined} */
    this.chosen = undefined;
    /** @type {Api.Position | undefined} */
    this.answer = undefined;
    /** Effects of moves that the pointer was on before there was an answer. @type {Map<number, Made>} */
    this.peeked = new Map();
    /** @type {Api.Explorer | undefined} */
    this.book = undefined;
    /** @type {string | undefined} */
    this.comment = undefined;
    this.over = by?.finished ?? false;
  }

  /** Rows and stores after the last move, South's first. */
  raw() {
    const board = read(this.literal);
    return this.side === "south" ? board : turned(board);
  }

  /** Rows and stores; at the end of the game all seeds are in the stores of their sides. */
  board() {
    const board = this.raw();
    if (!this.finished) return board;
    const stores = board.stores.map((store, index) => store + sum(board.rows[index]));
    return { stores, rows: board.rows.map((row) => row.map(() => 0)) };
  }

  /** True if the server reports that the game is over here. */
  get finished() {
    return this.answer?.finished ?? this.over;
  }

  /** Returns the place after a move that the server described. @param {Made} move */
  reach(move) {
    const known = this.after.find((next) => next.by.move === move.move);
    const next =
      known ?? /** @type {Reached} */ (new Place(move.next, move.again ? this.side : other(this.side), this, move));
    if (!known) this.after.push(next);
    this.chosen ??= next;
    return next;
  }

  /** Moves that lead here from the start. */
  get path() {
    return this.steps.map((place) => place.by.move);
  }

  /** Places from the first move to this one. */
  get steps() {
    /** @type {Reached[]} */
    const steps = [];
    for (let place = /** @type {Place} */ (this); isReached(place); place = place.before) steps.push(place);
    return steps.reverse();
  }
}

/**
 * Returns true if a move led to a place, as to all places but the first.
 * @param {Place} place
 * @returns {place is Reached}
 */
export const isReached = (place) => place.before !== undefined;

/** Returns the number of seeds that the move that led to a place captured. @param {Reached} place */
export function captured(place) {
  const [before, after] = [place.before.raw(), place.raw()];
  const index = place.before.side === "south" ? 0 : 1;
  const store = before.rows[0].length + 1;
  const sown = sum(place.by.sowing.map((lift) => lift.drops.filter((drop) => drop === store).length));
  return after.stores[index] - before.stores[index] - sown;
}

/** A game: its rules, its tree of places, and the shown place. */
export class Game {
  /** @param {string} rules @param {string} literal @param {Side} side */
  constructor(rules, literal, side) {
    this.rules = rules;
    this.root = new Place(literal, side);
    this.place = this.root;
    /** The line that was removed last. @type {Removed | undefined} */
    this.removed = undefined;
    /** State of the pie rule. @type {string | undefined} */
    this.pie = undefined;
    /** Moves before the exchange of sides; undefined for those of the first turn. @type {number[] | undefined} */
    this.exchangePath = undefined;
    /** @type {Puzzle | undefined} */
    this.puzzle = undefined;
    /** Last message about the puzzle. @type {string | undefined} */
    this.message = undefined;
    /** The verdict on the shown move of a puzzle. @type {"right" | "wrong" | undefined} */
    this.verdict = undefined;
    /** @type {Api.Header[] | undefined} */
    this.headers = undefined;
  }

  /** Places of the shown line: through the shown place to an end of the tree. */
  get places() {
    /** @type {Place[]} */
    const places = [this.root, ...this.place.steps];
    for (let place = this.place.chosen; place; place = place.chosen) places.push(place);
    return places;
  }

  /** Number of moves to the shown place. */
  get at() {
    return this.place.path.length;
  }

  /** Moves of the shown line. */
  get moves() {
    return this.places.filter(isReached).map((place) => place.by.move);
  }

  /** Plays a move that the server described, beside those that were played here already. @param {Made} move */
  play(move) {
    const { removed, place } = this;
    if (removed?.place.before === place && removed.place.by.move === move.move) this.restore();
    const next = place.reach(move);
    this.show(next);
    return next;
  }

  /** Adds a line from the start, and returns its last place. The shown place stays. @param {Made[]} moves */
  add(moves) {
    let place = this.root;
    for (const move of moves) place = place.reach(move);
    return place;
  }

  /** Shows a place. @param {Place} place */
  show(place) {
    for (const step of place.steps) step.before.chosen = step;
    this.place = place;
  }

  /** Removes the shown place and all that follow it, and shows the place before it. */
  remove() {
    const { place } = this;
    if (!isReached(place)) return;
    this.show(place.before);
    this.removed = remove(place);
  }

  /** Puts the places that were removed last back, and shows the first of them. */
  restore() {
    if (!this.removed) return;
    restore(this.removed);
    this.show(this.removed.place);
    this.removed = undefined;
  }

  /** Returns the place after some moves from the start; undefined if they were never played. @param {number[]} moves */
  find(moves) {
    /** @type {Place | undefined} */
    let place = this.root;
    for (const move of moves) place = place?.after.find((next) => next.by.move === move);
    return place;
  }

  /** Attaches comments to their places. @param {Note[]} notes */
  annotate(notes) {
    for (const { path, text } of notes) {
      const place = this.find(path);
      if (place) place.comment = [place.comment, text].filter(Boolean).join("\n");
    }
  }

  /** Returns all comments. @returns {Note[]} */
  get notes() {
    return this.all().flatMap(({ path, comment }) => (comment ? [{ path, text: comment }] : []));
  }

  /** Returns all places, each before those that follow it. */
  all() {
    /** @type {Place[]} */
    const found = [this.root];
    for (let index = 0; index < found.length; index++) found.push(...found[index].after);
    return found;
  }

  /** The place where the sides were exchanged. @returns {Place | undefined} */
  get exchanged() {
    if (this.pie !== "swapped") return undefined;
    if (this.exchangePath) return this.find(this.exchangePath);
    return this.places.find((place) => place.side !== this.root.side);
  }

  /** All lines from the start, in the order of `ends`, and the index of the shown one. */
  get lines() {
    const all = ends(this.root);
    return { paths: all.map(({ path }) => path), shown: all.indexOf(this.places[this.places.length - 1]) };
  }
}
