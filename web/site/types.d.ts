// Types shared by the scripts of a site.

/** A rule set: its name, its number in tables, and its effects. */
interface Rules {
  name: string;
  code: number;
  again: boolean;
  capture: "always" | "opposite" | "never";
  relays: boolean;
}

/** Rows in their owner's sowing order; the mover's first. */
interface Position {
  mover: number[];
  other: number[];
  stores: number[];
}

/** A played move: the position after it, as the next player to move sees it. */
interface Played {
  position: Position;
  again: boolean;
  sowing: Api.Lift[];
  captured: number[];
}

/** Bounds of a score or of a value. */
interface Bounds {
  lower: number;
  upper: number;
}

interface Sourced extends Bounds {
  source: Api.Answer["source"];
}

/** Fields of a request. */
interface Fields {
  rules?: string;
  board?: string;
  moves?: string | (string | number)[];
  text?: string;
  player?: string;
  level?: string;
  day?: string;
  seed?: string;
  south?: string;
  north?: string;
  headers?: Api.Header[];
  comments?: Api.Comment[];
}

/** A table of the site. */
interface Described {
  rules: string;
  pits: number;
  seeds: number;
  digest: string;
  file: string;
}

/** `site.json`. */
interface Site {
  server: Api.Server;
  rules: Rules[];
  tables: Described[];
}

/** The browser's own `fetch`. */
declare var plainFetch: typeof fetch;
