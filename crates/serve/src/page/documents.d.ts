// The documents of the HTTP API, as the page reads them; openapi.json describes all of their fields.

declare namespace Api {
  type Outcome = "win" | "draw" | "loss";
  type Level = "easy" | "medium" | "hard";

  /** Present are `value` if it is exact, `lower` and `upper` if it is bounded, `estimate` after a search that proved neither. */
  interface Value {
    known?: "exact" | "bounds" | "estimate";
    score?: number;
    value?: number;
    lower?: number;
    upper?: number;
    estimate?: number;
  }

  /** One sowing: from which place, and into which. */
  interface Lift {
    from: number;
    drops: number[];
  }

  /** What a move does. */
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

  /** What is known of a position; the positions of a game do not say what their moves do. */
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
    /** Of a search. */
    nodes?: number;
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
    /** The last one has a `position` alone: there is no move after it. */
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

  interface Tables {
    tables: { rules: string; pits: number; seeds: number }[];
  }

  interface RuleSet {
    name: string;
    played_by: string;
    summary: string;
  }

  interface Server {
    rules: string[];
    rule_sets: RuleSet[];
    players: string[];
    time: number;
    seeds: number;
    pits: number;
    /** Older servers do not have it. */
    books?: { rules: string; pits: number; positions: number }[];
  }
}
