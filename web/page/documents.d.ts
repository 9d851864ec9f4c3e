// The documents of the HTTP API, as the page reads them; openapi.json describes all of their fields.

declare namespace Api {
  type Outcome = "win" | "draw" | "loss";
  type Level = "easy" | "medium" | "hard";

  /**
   * Has `value` if it is exact, `lower` and `upper` if it is bounded, and `estimate` after a search that proved
   * neither.
   */
  interface Value {
    known?: "exact" | "bounds" | "estimate";
    score?: number;
    value?: number;
    lower?: number;
    upper?: number;
    estimate?: number;
  }

  /** One sowing: the place of the seeds, and the places that they fall into. */
  interface Lift {
    from: number;
    drops: number[];
  }

  /** Effects of a move. */
  interface Sown {
    next: string;
    again: boolean;
    finished: boolean;
    sowing: Lift[];
    captured?: number[];
  }

  interface MoveValue extends Value {
    move: number;
  }

  interface Move extends MoveValue, Sown {}

  /** Answer about a position. Positions of a game leave out the effects of their moves. */
  interface Answer extends Value {
    position: string;
    rules: string;
    seeds: number;
    source: "rules" | "tables" | "book" | "solver" | "bound" | "depth";
    depth?: number;
    best: number[];
    line?: string;
    finished?: boolean;
    moves: (MoveValue & Partial<Sown>)[];
    /** Nodes of a search. */
    nodes?: number;
    /** Why a page without a server did not use a table. */
    note?: string;
    /** Reason of the end of a streamed search. */
    ended?: "proved" | "time" | "depth" | "stopped";
  }

  interface Book extends Answer {
    in_book: boolean;
    complete?: boolean;
  }

  /** A move of a line, and the position before it. */
  interface Step extends Sown {
    position: string;
    first: boolean;
    move: number;
  }

  interface Line {
    rules: string;
    /** The last one has only a `position`, since no move follows. */
    places: Step[];
  }

  interface Game {
    rules: string;
    line: string;
    places: Answer[];
  }

  /** A comment after a number of moves. */
  interface Comment {
    after: number;
    text: string;
  }

  type Header = [name: string, value: string];

  interface GameRead {
    rules: string;
    board: string;
    moves: number[];
    headers: Header[];
    comments?: Comment[];
  }

  interface Puzzle {
    position: string;
    rules: string;
    move: number;
    outcome: "win" | "draw";
    line: string;
    level: Level;
    day?: string;
    seed?: number;
  }

  interface RuleSet {
    name: string;
    played_by: string;
    summary: string;
    moves_again: boolean;
  }

  interface Server {
    rules: string[];
    rule_sets: RuleSet[];
    players: string[];
    time: number;
    /** Searches at once. */
    searches: number;
    seeds: number;
    pits: number;
    /** True if the engine runs in the page, not on a server. */
    here?: boolean;
    books: { rules: string; pits: number; positions: number }[];
  }
}
