// Written from the answers' types by a test: crates/api/tests/description.

declare namespace Api {
  type Rules = string;

  /** Error of a request. */
  interface ApiError {
    /** Code by which programs distinguish errors. */
    code: Code;
    message: string;
  }

  /** Book of one board. */
  interface BookEntry {
    pits: number;
    positions: number;
    rules: Rules;
  }

  /** Code by which programs distinguish errors. */
  type Code = "request" | "forbidden" | "not-found" | "method" | "timeout" | "too-large" | "damaged-table" | "failed" | "unreadable-table" | "busy";

  interface DamagedEntry {
    error: string;
    file: string;
  }

  /** Reason of the end of a search. */
  type Ended = "proved" | "time" | "depth";

  /** Answer to a request that is refused, or that failed. */
  interface Error {
    /** The error. */
    error: ApiError;
  }

  /** Answer of the opening explorer: of the book, the tables and the rules. */
  interface Explorer {
    /** Best moves, proved if the value is exact. */
    best: number[];
    /** Depth of the evaluations. */
    depth?: number;
    /** Evaluation of a value that is not exact, which proves nothing. */
    estimate?: number;
    /** True if the game is over. */
    finished?: boolean;
    /** True if the book has the position or one after its moves; otherwise the answer is from the tables and the rules. */
    in_book: boolean;
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

  /** Answer about a game. */
  interface Game {
    places: GamePlace[];
    rules: Rules;
  }

  /** Position of a game, and the move made there. */
  interface GamePlace {
    /** True if the same player moves again. */
    again?: boolean;
    /** Best moves, proved if the value is exact. */
    best: number[];
    /** Places whose seeds are captured. */
    captured?: number[];
    /** Depth of the evaluations. */
    depth?: number;
    /** Evaluation of a value that is not exact, which proves nothing. */
    estimate?: number;
    /** True if the game is over. */
    finished?: boolean;
    /** True if South is to move. */
    first: boolean;
    /** Number of moves before it. */
    index: number;
    /** Certainty of the value. */
    known?: Known;
    /** Line of best play. */
    line?: string;
    /** True if the line stops before the end of the game, where book and tables end. */
    line_open?: boolean;
    /** Proved lower bound of a value that is not exact. */
    lower?: number;
    move?: number;
    moves: ValuedMove[];
    /** Position after the move, as the next player to move sees it. */
    next?: string;
    position: string;
    rules: Rules;
    /** Seeds in play that the mover collects, if the value is exact. */
    score?: number;
    /** Seeds in play. */
    seeds: number;
    source: Source;
    /** Sowings of the move: the first one, and one for each relay. */
    sowing?: Lift[];
    /** Proved upper bound of a value that is not exact. */
    upper?: number;
    /** The final store difference for the mover, if it is exact. */
    value?: number;
  }

  /** Missing layers below others of a board, which are not used. */
  interface Gap {
    /** Seeds of the missing layers. */
    missing: number[];
    pits: number;
    rules: Rules;
  }

  /** Certainty of a value. */
  type Known = "exact" | "bounds" | "estimate";

  /** Seeds of one pit, taken up and sown. Places are numbered in sowing order from the mover's first pit. */
  interface Lift {
    /** Places that they fall into. */
    drops: number[];
    /** Place that the seeds are taken from. */
    from: number;
  }

  /** Line of play. */
  interface Line {
    places: Place[];
    rules: Rules;
  }

  /** Move that a player chose, and the time that it took. */
  interface Move {
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

  /** Effects of a move. */
  interface MoveEffects {
    /** True if the same player moves again. */
    again: boolean;
    /** Places whose seeds are captured. */
    captured?: number[];
    /** True if the game is over. */
    finished: boolean;
    /** Position after the move, as the next player to move sees it. */
    next: string;
    /** Sowings of the move: the first one, and one for each relay. */
    sowing: Lift[];
  }

  /** Answer about one of many positions: that of GET /api/position, or the reason for its absence. */
  type One = Position | Error;

  /** Position on a line of play, and the move played there; no move at the end. */
  interface Place {
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
  interface Position {
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

  /** Answer about many positions, in the order of the request. */
  interface Positions {
    positions: One[];
    rules: Rules;
  }

  /** A puzzle: a position in which only one move keeps the win or the draw. */
  interface Puzzle {
    /** The day that was asked for. */
    day?: string;
    /** Smallest depth of a search that finds the move. */
    depth: number;
    /** The difference of these values. */
    gap: number;
    /** Level of difficulty. */
    level: "easy" | "medium" | "hard";
    /** The line of best play. */
    line: string;
    /** The number of the pit, from 1. */
    move: number;
    /** The outcome that the move keeps for the mover. */
    outcome: "win" | "draw";
    /** The position. */
    position: string;
    rules: Rules;
    /** The value of the second best move. */
    second: number;
    /** The number that was asked for. */
    seed?: number;
    /** Seeds in play. */
    seeds: number;
    /** Number of turns of the line. */
    turns: number;
    /** The value of the position. */
    value: number;
  }

  /** Game that was read. */
  interface Read {
    board: string;
    headers: [string, string][];
    moves: number[];
    rules: Rules;
  }

  /** Description of a rule set. */
  interface RuleSet {
    /** True if a last seed in the mover's store gives another move. */
    moves_again: boolean;
    name: string;
    played_by: string;
    summary: string;
  }

  /** Answer of a streaming search, during the search or at its end. */
  interface Search {
    /** Best moves, proved if the value is exact. */
    best: number[];
    /** Depth of the evaluations. */
    depth?: number;
    /** Reason of the end; absent during the search. */
    ended?: Ended;
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
    /** Nodes searched by the solver. */
    nodes: number;
    position: string;
    rules: Rules;
    /** Seeds in play that the mover collects, if the value is exact. */
    score?: number;
    seconds: number;
    /** Seeds in play. */
    seeds: number;
    source: Source;
    /** Proved upper bound of a value that is not exact. */
    upper?: number;
    /** The final store difference for the mover, if it is exact. */
    value?: number;
  }

  /** Description of the server and its limits. */
  interface Server {
    books: BookEntry[];
    /** Maximum pits a side. */
    pits: number;
    players: string[];
    rule_sets: RuleSet[];
    rules: Rules[];
    /** Maximum number of searches at a time. */
    searches: number;
    /** Maximum seeds in play. */
    seeds: number;
    /** Maximum seconds of a streaming search. */
    stream_time: number;
    /** Maximum seconds of a search. */
    time: number;
    version: string;
  }

  /** Where an answer about a position comes from. */
  type Source = "rules" | "tables" | "book" | "solver" | "bound" | "depth";

  /** A table. */
  interface TableEntry {
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

  /** The tables in a directory. */
  interface Tables {
    damaged: DamagedEntry[];
    gaps: Gap[];
    tables: TableEntry[];
  }

  /** Knowledge of a value, which is a final store difference: the value, proved bounds of it, an evaluation, or nothing. */
  interface Value {
    /** Evaluation of a value that is not exact, which proves nothing. */
    estimate?: number;
    /** Certainty of the value. */
    known?: Known;
    /** Proved lower bound of a value that is not exact. */
    lower?: number;
    /** Proved upper bound of a value that is not exact. */
    upper?: number;
    /** The final store difference for the mover, if it is exact. */
    value?: number;
  }

  /** A legal move with what is known of its value. Positions of a game leave out its effects. */
  interface ValuedMove {
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

  /** Game that was written. */
  interface Write {
    text: string;
  }
}
