// A game as the server told it: the page knows no rules.

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

/** A place in a game: a position, who is to move, what is known of it, and the move made there. */
class Place {
  constructor(literal, side) {
    this.literal = literal;
    this.side = side;
    this.answer = undefined;
    this.made = undefined;
  }

  /** Rows and stores, South's first. */
  board() {
    const board = read(this.literal);
    return this.side === "south" ? board : turned(board);
  }

  /** Whether a row is empty, as the server says. */
  get finished() {
    return this.answer?.finished ?? this.over ?? false;
  }
}

/** What a move lost, in seeds of the final difference, and whether it changed who wins; undefined where that is not known. */
export function loss(place) {
  const made = place.answer?.moves.find((move) => move.move === place.made);
  if (!made) return undefined;
  const best = place.answer.value ?? place.answer.lower;
  const got = made.value ?? made.upper;
  if (best === undefined || got === undefined) return undefined;
  return { seeds: Math.max(0, best - got), turns: Math.sign(best) > Math.sign(got) };
}

/** A game: its rules, its places from the start on, and which of them is shown. */
export class Game {
  constructor(rules, literal, side) {
    this.rules = rules;
    this.places = [new Place(literal, side)];
    this.at = 0;
  }

  get place() {
    return this.places[this.at];
  }

  get last() {
    return this.at === this.places.length - 1;
  }

  /** Goes on with a move, as the server described it; what was played from here before is forgotten. */
  play(move) {
    const place = this.place;
    place.made = move.move;
    const next = new Place(move.next, move.again ? place.side : other(place.side));
    next.over = move.finished;
    this.places = [...this.places.slice(0, this.at + 1), next];
    this.at += 1;
  }

  /** The moves of all places. */
  get moves() {
    return this.places.slice(0, -1).map((place) => place.made);
  }
}

/** The game as the fragment of an address. */
export function fragment(game, players) {
  const start = game.places[0];
  const fields = { rules: game.rules, board: start.literal, first: start.side, ...players };
  if (game.moves.length > 0) fields.moves = game.moves.join(",");
  if (!game.last) fields.at = game.at;
  return new URLSearchParams(fields).toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
}

/** What a fragment says. */
export function fromFragment(text) {
  const fields = new URLSearchParams(text);
  const side = fields.get("first") === "north" ? "north" : "south";
  const moves = (fields.get("moves") ?? "").split(",").filter(Boolean);
  const at = fields.has("at") ? Number(fields.get("at")) : moves.length;
  const players = { south: fields.get("south") ?? "human", north: fields.get("north") ?? "perfect" };
  return { rules: fields.get("rules") ?? undefined, board: fields.get("board") ?? undefined, side, moves, at, players };
}
