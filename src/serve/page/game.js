// A game as a tree of variations, as the server described it: the page has no rules of its own.

/** The numbers of a board literal, seen by its mover. */
export function read(literal) {
  const [pits, ...numbers] = literal.slice(1, -1).split(",").map(Number);
  return { stores: numbers.slice(0, 2), rows: [numbers.slice(2, 2 + pits), numbers.slice(2 + pits)] };
}

/** The board literal of rows and stores, the mover's first. */
export const write = ({ stores, rows }) => `<${[rows[0].length, ...stores, ...rows[0], ...rows[1]].join(",")}>`;

/** The same board with the sides exchanged. */
export const turned = ({ stores, rows }) => ({ stores: [...stores].reverse(), rows: [...rows].reverse() });

export const other = (side) => (side === "south" ? "north" : "south");

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/**
 * The board of a text in any of the forms that the program takes: a literal, `s1,..,sm/n1,..,nm`, `PITSxSEEDS`.
 * Undefined if it has none of them.
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

/** A place in a game: a position, who is to move, and what is known of it. */
export class Place {
  /** `before` is the place from which the move `by`, as the server describes it, led here. */
  constructor(literal, side, before, by) {
    Object.assign(this, { literal, side, before, by });
    /** The places after the moves that were tried here, the first one first. */
    this.after = [];
    /** Which of them is on the line that is shown. */
    this.chosen = undefined;
    this.answer = undefined;
    this.over = by?.finished ?? false;
  }

  /** Rows and stores as they are after the last move, South's first. */
  raw() {
    const board = read(this.literal);
    return this.side === "south" ? board : turned(board);
  }

  /** The same; when the game is over, all seeds lie in the stores of their sides. */
  board() {
    const board = this.raw();
    if (!this.finished) return board;
    const stores = board.stores.map((store, index) => store + sum(board.rows[index]));
    return { stores, rows: board.rows.map((row) => row.map(() => 0)) };
  }

  /** Whether the game is over here, as the server says. */
  get finished() {
    return this.answer?.finished ?? this.over;
  }

  /** The moves that lead here from the start. */
  get path() {
    const path = [];
    for (let place = this; place.before; place = place.before) path.unshift(place.by.move);
    return path;
  }
}

/**
 * What the move that led to a place lost: `seeds` of the final difference, and whether it `turns` a win or a draw into
 * something worse. Undefined where that is not known.
 */
export function loss(place) {
  const answer = place.before?.answer;
  const made = answer?.moves.find((move) => move.move === place.by.move);
  if (!made) return undefined;
  const best = answer.value ?? answer.lower;
  const got = made.value ?? made.upper;
  if (best === undefined || got === undefined) return undefined;
  return { seeds: Math.max(0, best - got), turns: Math.sign(best) > Math.sign(got) };
}

/** How many seeds the move that led to a place captured. */
export function captured(place) {
  const [before, after] = [place.before.raw(), place.raw()];
  const index = place.before.side === "south" ? 0 : 1;
  const store = before.rows[0].length + 1;
  const sown = sum(place.by.sowing.map((lift) => lift.drops.filter((drop) => drop === store).length));
  return after.stores[index] - before.stores[index] - sown;
}

/** A game: its rules, its tree of places, and which of them is shown. */
export class Game {
  constructor(rules, literal, side) {
    this.rules = rules;
    this.root = new Place(literal, side);
    this.place = this.root;
    /** Lines from the start that a link names and the server has not described yet. */
    this.pending = [];
    /** Comments on places that are not there yet: the moves of a `path` from the start, and a `text`. */
    this.comments = [];
  }

  /** The places of the line that is shown: through the shown place, to the end that was last seen. */
  get places() {
    const places = [];
    for (let place = this.place; place; place = place.before) places.unshift(place);
    for (let place = this.place.chosen; place; place = place.chosen) places.push(place);
    return places;
  }

  /** How many moves lead to the shown place. */
  get at() {
    return this.place.path.length;
  }

  /** The moves of the shown line. */
  get moves() {
    return this.places.slice(1).map((place) => place.by.move);
  }

  /** Goes on with a move, as the server described it, beside those that were played here before. */
  play(move) {
    const place = this.place;
    let next = place.after.find((next) => next.by.move === move.move);
    if (!next) {
      next = new Place(move.next, move.again ? place.side : other(place.side), place, move);
      place.after.push(next);
    }
    this.show(next);
    return next;
  }

  /** Shows a place. */
  show(place) {
    for (let step = place; step.before; step = step.before) step.before.chosen = step;
    this.place = place;
  }

  /** The place after some moves from the start, undefined if they were never played. */
  find(moves) {
    let place = this.root;
    for (const move of moves) place = place?.after.find((next) => next.by.move === move);
    return place;
  }

  /** Puts comments where they belong, as far as those places are there. */
  takeComments() {
    this.comments = this.comments.filter(({ path, text }) => {
      const place = this.find(path);
      if (place) place.comment = [place.comment, text].filter(Boolean).join(" ");
      return !place;
    });
  }

  /** All comments, as `comments`. */
  get notes() {
    const there = this.all().filter((place) => place.comment);
    return [...there.map((place) => ({ path: place.path, text: place.comment })), ...this.comments];
  }

  /** All places, each before those that follow it. */
  all() {
    const found = [this.root];
    for (let index = 0; index < found.length; index++) found.push(...found[index].after);
    return found;
  }

  /** The moves to each end of the tree, those to come included, apart from that of the shown line. */
  get others() {
    const ends = this.all().filter((place) => place.after.length === 0 && place !== this.places.at(-1));
    return [...ends.filter((place) => place.before).map((place) => place.path), ...this.pending];
  }
}
