// Types shared by the scripts of the page.

type Side = "south" | "north";

/** Settings stored in the browser. */
interface Settings {
  /** True if values are shown; undefined before the first choice. */
  values?: boolean;
  /** Speed of moves. */
  speed: "slow" | "normal" | "instant" | "step";
  sounds: boolean;
  vibrate: boolean;
  /** True if single keys sow pits and stand for buttons. */
  keys: boolean;
  /** True after the cards of a first visit. */
  welcomed?: boolean;
  large: boolean;
  /** Language of the page; undefined for that of the browser. */
  language?: string;
  /** Settings of the last new game. */
  game?: Partial<NewGame>;
  puzzles?: Solved;
  /** Seconds that programs may think; undefined for the server's limit. */
  time?: number;
}

/**
 * Solved puzzles: `row` is their number without a miss, `days` the number of days in a row up to `day`; `tried` is
 * the last position.
 */
interface Solved {
  row: number;
  days: number;
  day: string;
  tried: string;
}

type Place = import("./game.js").Place;
type Game = import("./game.js").Game;

/** A move, and its effects. */
type Made = Api.Sown & { move: number };

/** A place that a move led to. */
interface Reached extends Place {
  before: Place;
  by: Made;
}

/** The numbers of a board: South's first, or the mover's. */
interface Seeds {
  stores: number[];
  rows: number[][];
}

/** A comment after the moves of a path. */
interface Note {
  path: number[];
  text: string;
}

/** Beginning of a game. */
interface Beginning {
  rules: string;
  board: string;
  side: Side;
  moves?: number[];
  /** Number of moves that are shown. */
  at?: number;
  /** Other lines from the start. */
  also?: number[][];
  pie?: string;
  puzzle?: Puzzle;
  comments?: Note[];
  headers?: Api.Header[];
}

interface Puzzle extends Api.Puzzle {
  solved?: boolean;
}

/** Settings of a new game. */
interface NewGame {
  rules: string;
  pits: number;
  seeds: number;
  first: Side;
  you: Side | "both" | "none";
  opponent: string;
  time?: number;
  pie?: boolean;
}

/** Description of the server, and the rules of a first game. */
interface Server extends Api.Server {
  default: string;
}

/** A pit or a store of a shown board. */
interface Hole {
  kind: "pit" | "store";
  side: Side;
  element: HTMLElement;
  svg: SVGSVGElement;
  count: HTMLElement;
  seeds: number;
  mark?: "last" | "relay" | "captured" | "from";
}

interface Pit extends Hole {
  kind: "pit";
  number: number;
  label: HTMLElement;
}

/** Numbers of games in which a move was won, drawn and lost. */
type Counts = [won: number, drawn: number, lost: number];

/** Counts for each move of a position. */
type Played = Record<string, Counts>;
