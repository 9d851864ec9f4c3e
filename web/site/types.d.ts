// Types of the messages between a page and its engine.

/** A request of the HTTP API: its method, its target after `api/`, and its body. */
interface EngineRequest {
  id: number;
  method: string;
  target: string;
  body: string;
  /** True if results are sent as they improve. */
  streams: boolean;
  /** True if the engine need not load for it. */
  waits: boolean;
  /** True if an estimate suffices until the engine is there, since a search follows. */
  hastens: boolean;
  /** Why tables of the host were not used. */
  note?: string;
}

/** The end of a request. */
interface EngineAnswer {
  id: number;
  status: number;
  answer: any;
}

/** A result before the end. */
interface EngineProgress {
  id: number;
  progress: any;
}

type ToEngine = EngineRequest | { cancel: number };
type FromEngine = EngineAnswer | EngineProgress;

/** A table on the host. */
interface RemoteTable {
  rules: string;
  pits: number;
  seeds: number;
  bytes: number;
  digest: string;
  file: string;
}

/** `site.json`. */
interface Site {
  /** Maximum positions of the tables that the engine builds for a board. */
  positions: number;
  tables: RemoteTable[];
  /** Names of the books and networks. */
  files: string[];
}

/** A part of a file, from `start` to `end`. */
interface Part {
  file: string;
  start: number;
  end: number;
  /** True if it must come from the host itself, past all caches. */
  fresh: boolean;
}

/** The reply of the engine to a request or a step. */
type Reply =
  | { status: number; answer: any }
  | { needs: Part[] }
  | { book: string | null; network: string | null }
  | { searches: true }
  | { busy: true }
  | { progress: any[] };

/** The functions of a module. */
interface Exports {
  memory: WebAssembly.Memory;
  kalah_allocate(bytes: number): number;
  kalah_attach(bytes: number, count: number): void;
  kalah_call(call: number, bytes: number): number;
  kalah_reply_bytes(): number;
}

/** What some browsers report of the connection. */
type Sparing = { connection?: { saveData?: boolean; effectiveType?: string } };

/** The browser's own `fetch`. */
declare var plainFetch: typeof fetch;
