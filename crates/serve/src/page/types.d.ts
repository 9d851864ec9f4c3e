// What the scripts of the page tell each other.

type Side = "south" | "north";

/** What the browser remembers. */
interface Settings {
  /** Whether values are shown; undefined before the first choice. */
  values?: boolean;
  /** How moves are shown. */
  speed: "slow" | "normal" | "instant" | "step";
  sounds: boolean;
  large: boolean;
  /** The language of the page, undefined for that of the browser. */
  language?: string;
  /** What was chosen for the last new game. */
  game?: Partial<NewGame>;
  puzzles?: Solved;
  /** Seconds that programs may think, undefined for what the server allows. */
  time?: number;
}

/** Puzzles solved: so many in a `row`, so many `days` in a row, the last of them `day`; `tried` is the last position. */
interface Solved {
  row: number;
  days: number;
  day: string;
  tried: string;
}

type Place = import("./game.js").Place;
type Game = import("./game.js").Game;

/** A move, and what it does. */
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

/** What a game begins with. */
interface Beginning {
  rules: string;
  board: string;
  side: Side;
  moves?: number[];
  /** How many of the moves are shown. */
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

/** What is chosen for a new game. */
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

/** What the server can do, and the rules of a first game. */
interface Server extends Api.Server {
  default: string;
}

/** A pit or a store of a board that is shown. */
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

/** How often a move was won, drawn and lost. */
type Counts = [won: number, drawn: number, lost: number];

/** How often each move of a position was played. */
type Played = Record<string, Counts>;
