// What this browser remembers.

const KEY = "kalah";

const DEFAULTS = {
  /** Whether values are shown; undefined before the first choice. */
  values: undefined,
  /** How moves are shown: slow, normal, instant or step. */
  speed: "normal",
  sounds: false,
  large: false,
  /** The language of the page, undefined for that of the browser. */
  language: undefined,
  /** What was chosen for the last new game. */
  game: undefined,
  /** Puzzles solved: so many in a `row`, so many `days` in a row, the last of them `day`; `tried` is the last position. */
  puzzles: undefined,
  /** Seconds that programs may think, undefined for what the server allows. */
  time: undefined,
};

function load() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY)) };
  } catch {
    return { ...DEFAULTS };
  }
}

/** The settings; `remember` changes them. */
export const settings = load();

/** Changes settings. Where nothing can be stored they hold until the page is left. */
export function remember(changes) {
  Object.assign(settings, changes);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // A browser may forbid it.
  }
}
