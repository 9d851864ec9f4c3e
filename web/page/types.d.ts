// Types shared by the scripts of the page.

declare namespace Api {
  type Header = [name: string, value: string];

  interface Position {
    /** Nodes of a search. */
    nodes?: number;
    /** Reason of the end of a streamed search. */
    ended?: Ended;
    /** Why a page without a server did not use a table. */
    note?: string;
  }

  interface Server {
    /** True if the engine runs in the page, not on a server. */
    here?: boolean;
  }
}

type Side = "south" | "north";

/** Settings stored in the browser. */
interface Settings {
  /** True if values are shown; undefined before the first choice. */
  values?: boolean;
  sounds: boolean;
  /** True if single keys sow pits and stand for buttons. */
  keys: boolean;
  /** True after the cards of a first visit. */
  welcomed?: boolean;
  /** Language of the page; undefined for that of the browser. */
  language?: string;
  /** Settings of the last new game. */
  game?: Partial<NewGame>;
  puzzles?: Partial<Solved>;
  /** Games won, drawn and lost against each level. */
  record?: Record<string, number[]>;
  /** Seconds that programs may think; undefined for the server's limit. */
  time?: number;
}

/**
 * Solved puzzles: `row` is their number without a miss, `days` the number of days in a row up to `day`; `tried` is
 * the last position. `past` has the results of puzzles of a day.
 */
interface Solved {
  row: number;
  days: number;
  day: string;
  tried: string;
  past: Record<string, PuzzleResult>;
}

/** Result of a puzzle: solved at the first try, solved later, or not solved after a wrong move or a hint. */
type PuzzleResult = "first" | "later" | "missed";

type Place = import("./game.js").Place;
type Game = import("./game.js").Game;

/** A move, and its effects. */
type Made = Api.MoveEffects & { move: number };

/** A move of a line, and the position before it. The last one has only a `position`, since no move follows. */
interface Step extends Made {
  position: string;
  first: boolean;
}

/** A place that a move led to. */
interface Reached extends Place {
  before: Place;
  by: Made;
}

/** A removed place, and its index among the places after the one before it. */
interface Removed {
  place: Reached;
  index: number;
}

/** Moves of one side, one after the other. */
interface Turn {
  /** Number of the turn: both sides' first turns have number 1. */
  number: number;
  /** True for turns of the side that did not begin the game. */
  second: boolean;
  side: Side;
  /** Moves of the turn before `places`, where a variation begins within a turn. */
  prefix: number[];
  places: Reached[];
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

/** Start of a game. */
interface GameStart {
  rules: string;
  board: string;
  side: Side;
  moves?: number[];
  /** Number of moves that are shown. */
  at?: number;
  /** Other lines from the start. */
  also?: number[][];
  /** Index of the line of `moves` among all lines: those before it in `also` come first. */
  line?: number;
  pie?: string;
  /** Moves before the exchange of sides, unless it is after the first turn of `moves`. */
  exchangePath?: number[];
  puzzle?: Puzzle;
  comments?: Note[];
  headers?: Api.Header[];
}

interface Puzzle extends Api.Puzzle {
  /** True if it was solved since the page was loaded. */
  solved?: boolean;
  /** True if a hint was requested. */
  helped?: boolean;
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

type Server = Api.Server;

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

/** A text. If it has several forms, `other` serves for all numbers. */
type Wording = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);

/** A text in English and German. */
type Wordings = [english: Wording, german: Wording];
