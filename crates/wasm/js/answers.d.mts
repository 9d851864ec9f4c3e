// Written from the answers' types by a test: crates/api/tests/description.

export type Rules = string;

/** Certainty of a value. */
export type Known = "exact" | "bounds" | "estimate";

/** Seeds of one pit, taken up and sown. Places are numbered in sowing order from the mover's first pit. */
export interface Lift {
  /** Places that they fall into. */
  drops: number[];
  /** Place that the seeds are taken from. */
  from: number;
}

/** Line of play. */
export interface Line {
  places: Place[];
  rules: Rules;
}

/** Move that a player chose, and the time that it took. */
export interface Move {
  /** True if the same player moves again. */
  again: boolean;
  /** Places whose seeds are captured. */
  captured?: number[];
  depth?: number;
  /** Evaluation of a value that is not exact, which proves nothing. */
  estimate?: number;
  /** True if the game is over. */
  finished: boolean;
  /** Certainty of the value. */
  known?: Known;
  /** Proved lower bound of a value that is not exact. */
  lower?: number;
  move: number;
  /** Position after the move, as the next player to move sees it. */
  next: string;
  player: string;
  position: string;
  rules: Rules;
  seconds: number;
  /** Source of the choice, such as tables, book, solver, or the name of a rule. */
  source: string;
  /** Sowings of the move: the first one, and one for each relay. */
  sowing: Lift[];
  /** Proved upper bound of a value that is not exact. */
  upper?: number;
  /** The final store difference for the mover, if it is exact. */
  value?: number;
}

/** The value of a first turn, by a search or a certificate. */
export interface Opening {
  /** Evaluation of a value that is not exact, which proves nothing. */
  estimate?: number;
  /** Certainty of the value. */
  known?: Known;
  /** Proved lower bound of a value that is not exact. */
  lower?: number;
  /** The moves, with dashes. */
  move: string;
  /** Nodes of its search. */
  nodes?: number;
  /** Seconds of its search. */
  seconds?: number;
  /** Proved upper bound of a value that is not exact. */
  upper?: number;
  /** The final store difference for the mover, if it is exact. */
  value?: number;
}

/** Position on a line of play, and the move played there; no move at the end. */
export interface Place {
  /** True if the same player moves again. */
  again?: boolean;
  /** Places whose seeds are captured. */
  captured?: number[];
  /** True if the game is over. */
  finished?: boolean;
  /** True if the player to move is the one who moved first. */
  first: boolean;
  move?: number;
  /** Position after the move, as the next player to move sees it. */
  next?: string;
  position: string;
  /** Sowings of the move: the first one, and one for each relay. */
  sowing?: Lift[];
}

/** Answer about a position. */
export interface Position {
  /** Best moves, proved if the value is exact. */
  best: number[];
  /** Depth of the evaluations. */
  depth?: number;
  /** Evaluation of a value that is not exact, which proves nothing. */
  estimate?: number;
  /** True if the game is over. */
  finished?: boolean;
  /** Certainty of the value. */
  known?: Known;
  /** Line of best play. */
  line?: string;
  /** True if the line stops before the end of the game, where book and tables end. */
  line_open?: boolean;
  /** Proved lower bound of a value that is not exact. */
  lower?: number;
  moves: ValuedMove[];
  position: string;
  rules: Rules;
  /** Seeds in play that the mover collects, if the value is exact. */
  score?: number;
  /** Seeds in play. */
  seeds: number;
  source: Source;
  /** Proved upper bound of a value that is not exact. */
  upper?: number;
  /** The final store difference for the mover, if it is exact. */
  value?: number;
}

/** The answer of a search for a position. */
export interface Solve {
  /** Lower bound that was tested. */
  at_least?: number;
  /** Upper bound that was tested. */
  at_most?: number;
  /** Numbers of the moves that keep the value. */
  best?: number[];
  /** Seeds of the largest layer of bound tables. */
  bound_seeds?: number;
  /** Evaluation of a value that is not exact, which proves nothing. */
  estimate?: number;
  /** Certainty of the value. */
  known?: Known;
  /** A line of best play. */
  line?: string;
  /** True if the line stops before the game is over. */
  line_open?: boolean;
  /** Proved lower bound of a value that is not exact. */
  lower?: number;
  /** Nodes of the search. */
  nodes: number;
  /** Every first turn with its value. */
  openings?: Opening[];
  /** The position. */
  position: string;
  /** True if the tested bound holds. */
  proved?: boolean;
  rules: Rules;
  /** Seconds of the search. */
  seconds: number;
  /** Where the value, or the answer of the test, comes from: book or solver. */
  source: Source;
  /** Scores read from tables. */
  table_hits: number;
  /** Seeds of the largest layer of exact tables. */
  table_seeds?: number;
  /** Threads of the search. */
  threads: number;
  /** Proved upper bound of a value that is not exact. */
  upper?: number;
  /** The final store difference for the mover, if it is exact. */
  value?: number;
}

/** Where an answer about a position comes from. */
export type Source = "rules" | "tables" | "book" | "solver" | "bound" | "depth";

/** A table. */
export interface TableEntry {
  bits_per_position: number;
  bytes: number;
  digest: string;
  /** Number of scores that are exceptions. */
  exceptions: number;
  pits: number;
  positions: number;
  rules: Rules;
  seeds: number;
}

/** A legal move with what is known of its value. Positions of a game leave out its effects. */
export interface ValuedMove {
  /** True if the same player moves again. */
  again?: boolean;
  /** Places whose seeds are captured. */
  captured?: number[];
  /** Evaluation of a value that is not exact, which proves nothing. */
  estimate?: number;
  /** True if the game is over. */
  finished?: boolean;
  /** Certainty of the value. */
  known?: Known;
  /** Proved lower bound of a value that is not exact. */
  lower?: number;
  /** Number of the pit, from 1. */
  move: number;
  /** Position after the move, as the next player to move sees it. */
  next?: string;
  /** Seeds in play that the mover collects, if the value is exact. */
  score?: number;
  /** Sowings of the move: the first one, and one for each relay. */
  sowing?: Lift[];
  /** Proved upper bound of a value that is not exact. */
  upper?: number;
  /** The final store difference for the mover, if it is exact. */
  value?: number;
}
