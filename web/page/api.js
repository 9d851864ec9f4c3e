// Requests to the server of the page. They are repeated while the server is away or busy. No more searches are open
// than the server grants.

/** A refused request, with the server's message. */
export class Refused extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Minimum and maximum seconds until a failed request is repeated. */
const [FIRST, MOST] = [0.5, 8];

/** @typedef {"online" | "busy" | "offline"} State */
/** @typedef {AbortSignal | undefined} Signal */

/** Sends a request, as `fetch` does. @type {(path: string, options: RequestInit) => Promise<Response>} */
let send = () => Promise.reject(new Error("no transport is connected"));

/** Sets how requests are sent. @param {typeof send} transport */
export function connect(transport) {
  send = transport;
}

/** @type {State} */
let state = "online";
/** @type {(state: State, before: State) => void} */
let listener = () => {};
/** Its event `wake` repeats all waiting requests at once. */
const waiting = new EventTarget();

/**
 * Reports every change: the new state (`online`, `busy` or `offline`) and the previous one.
 * @param {typeof listener} report
 */
export const onState = (report) => {
  listener = report;
};

/** Repeats waiting requests at once. */
export const retry = () => waiting.dispatchEvent(new Event("wake"));

/** @param {State} next */
function report(next) {
  if (next === state) return;
  const before = state;
  state = next;
  listener(next, before);
}

/** Waits for some seconds, or until requests are repeated. @param {number} seconds @param {Signal | null} [signal] */
async function wait(seconds, signal) {
  const end = new AbortController();
  const listens = { signal: end.signal };
  await new Promise((done, fail) => {
    setTimeout(done, 1000 * seconds);
    waiting.addEventListener("wake", done, listens);
    signal?.addEventListener("abort", () => fail(signal.reason), listens);
  }).finally(() => end.abort());
}

/**
 * Returns true if a later attempt may succeed: the server is busy, or away behind a proxy.
 * @param {Response} response
 * @param {{ error?: { code: string } } | undefined} document
 */
const mayPass = (response, document) =>
  document?.error
    ? ["busy", "timeout"].includes(document.error.code)
    : response.ok || response.status >= 500 || response.status === 429;

/** Yields the events of a stream as they come: name and document. @param {Response} response */
async function* events(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const fields = Object.fromEntries(
        part.split("\n").map((line) => [line.split(":")[0], line.slice(line.indexOf(":") + 1).trim()]),
      );
      if (fields.data) yield { event: fields.event, document: JSON.parse(fields.data) };
    }
  }
}

/**
 * Reads a stream to its end, calls `progress` with each event, and returns the answer.
 * @param {Response} response
 * @param {(document: any) => void} progress
 */
async function follow(response, progress) {
  report("online");
  for await (const { event, document } of events(response)) {
    if (event === "answer" || event === "error") return document;
    progress(document);
  }
  return undefined;
}

/**
 * Repeats a request until there is an answer; calls `progress` with streamed documents before it.
 * @param {string} path
 * @param {RequestInit} options
 * @param {(document: any) => void} progress
 */
async function ask(path, options = {}, progress = () => {}) {
  for (let seconds = FIRST; ; seconds = Math.min(MOST, 2 * seconds)) {
    let response, document;
    try {
      response = await send(path, options);
      const streamed = response.ok && response.headers.get("content-type")?.startsWith("text/event-stream");
      // An answer without JSON is not from this server, but such as a proxy's page.
      document = await (streamed ? follow(response, progress) : response.json().catch(() => undefined));
    } catch (error) {
      if (options.signal?.aborted) throw error;
    }
    options.signal?.throwIfAborted();
    if (response?.ok && document && !document.error) {
      report("online");
      return document;
    }
    if (response && (document || !response.ok) && !mayPass(response, document)) {
      report("online");
      throw new Refused(
        document?.error?.code ?? "failed",
        document?.error?.message ?? `HTTP ${response.status} ${response.statusText}`,
      );
    }
    // One refusal may come from the last search of this page, which is just ending.
    const isBusy = document?.error?.code === "busy";
    if (!isBusy || seconds > FIRST) report(isBusy ? "busy" : "offline");
    await wait(Number(response?.headers.get("retry-after")) || seconds, options.signal);
  }
}

/** Milliseconds until a server has noticed that a request was given up. */
const LEAVING = 60;

/**
 * A request that searches; `low` if nobody waits for its answer.
 * @typedef {{ low: boolean, stop: AbortController, admit: () => void }} Search
 */

/** Number of searches that the server grants, those that are open, and those that wait, in order. */
const searches = { granted: 1, open: /** @type {Set<Search>} */ (new Set()), waiting: /** @type {Search[]} */ ([]) };

/** Sets the number of searches that the server grants. @param {number} count */
export function grant(count) {
  searches.granted = count;
  admit();
}

/** Admits searches that wait. If there is no space for one that a person asked for, a low one is ended. */
function admit() {
  const { granted, open, waiting } = searches;
  waiting.sort((one, two) => Number(one.low) - Number(two.low));
  for (let next = waiting[0]; next && open.size < granted; next = waiting[0]) {
    waiting.shift();
    open.add(next);
    next.admit();
  }
  if (waiting[0] && !waiting[0].low) [...open].find(({ low }) => low)?.stop.abort();
}

/**
 * Sends a request that searches, as `ask` does, once there is space for it. One that gave way is sent again.
 * @param {string} path
 * @param {RequestInit} options
 * @param {(document: any) => void} [progress]
 * @returns {Promise<any>}
 */
async function search(path, options, progress) {
  const { open, waiting } = searches;
  for (;;) {
    options.signal?.throwIfAborted();
    const stop = new AbortController();
    const signal = options.signal ? AbortSignal.any([stop.signal, options.signal]) : stop.signal;
    const own = { low: options.priority === "low", stop, admit: () => {} };
    const leave = () => {
      open.delete(own);
      admit();
    };
    try {
      await new Promise((done, fail) => {
        own.admit = () => done(undefined);
        signal.addEventListener("abort", () => fail(signal.reason));
        waiting.push(own);
        admit();
      });
      return await ask(path, { ...options, signal }, progress);
    } catch (error) {
      if (!stop.signal.aborted || options.signal?.aborted) throw error;
    } finally {
      if (waiting.includes(own)) waiting.splice(waiting.indexOf(own), 1);
      if (signal.aborted) setTimeout(leave, LEAVING);
      else leave();
    }
  }
}

/** @param {Record<string, string | number | undefined>} fields */
const query = (fields) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

/** Requests the description of the server. @type {() => Promise<Api.Server>} */
export const server = () => ask("api");

/**
 * Requests an answer about a position, after a search of at most `time` seconds. With `priority` "low", a page without
 * a server answers only once its engine has loaded for another reason; with "high", by an estimate before that.
 * @type {(
 *   board: string,
 *   rules: string,
 *   time: number | undefined,
 *   signal: Signal,
 *   priority?: RequestPriority,
 * ) => Promise<Api.Position>}
 */
export const position = (board, rules, time, signal, priority = "auto") =>
  search(`api/position?${query({ board, rules, time })}`, { signal, priority });

/**
 * Requests the book's answer for a position and its moves.
 * @type {(board: string, rules: string, signal: Signal) => Promise<Api.Explorer>}
 */
export const book = (board, rules, signal) => ask(`api/book?${query({ board, rules })}`, { signal });

/**
 * Requests the positions on a line of play.
 * @type {(board: string, rules: string, moves: number[], signal?: Signal) => Promise<{ places: Step[] }>}
 */
export const line = (board, rules, moves, signal) =>
  ask(`api/line?${query({ board, rules, moves: moves.join(",") })}`, { signal });

/**
 * Requests the move of a player, within `time` seconds for players that use their time.
 * @type {(board: string, rules: string, player: string, time: number | undefined, signal: Signal) => Promise<Api.Move>}
 */
export const move = (board, rules, player, time, signal) =>
  search("api/move", { method: "POST", body: JSON.stringify({ board, rules, player, time }), signal });

/**
 * Requests a search of a position of up to `time` seconds; calls `progress` with results so far.
 * @type {(
 *   board: string,
 *   rules: string,
 *   time: number | undefined,
 *   progress: (answer: Api.Position) => void,
 *   signal: Signal,
 *   priority?: RequestPriority,
 * ) => Promise<Api.Position>}
 */
export const deepen = (board, rules, time, progress, signal, priority = "auto") =>
  search(`api/search?${query({ board, rules, time })}`, { signal, priority }, progress);

/**
 * Requests the values of all positions of a game; calls `progress` with each and its `index` as soon as it is found.
 * @type {(
 *   board: string,
 *   rules: string,
 *   moves: number[],
 *   progress: (answer: Api.Position & { index: number }) => void,
 *   signal: Signal,
 * ) => Promise<Api.Game>}
 */
export const game = (board, rules, moves, progress, signal) =>
  search(
    "api/game",
    { method: "POST", body: JSON.stringify({ board, rules, moves }), headers: { accept: "text/event-stream" }, signal },
    progress,
  );

/**
 * Requests the game that a text describes, by `rules` if it names none.
 * @type {(text: string, rules: string) => Promise<Api.Read>}
 */
export const readText = (text, rules) =>
  ask("api/text/read", { method: "POST", body: JSON.stringify({ text, rules }) });

/** Requests a game as text. @type {(game: Api.Read) => Promise<{ text: string }>} */
export const writeText = (game) => ask("api/text/write", { method: "POST", body: JSON.stringify(game) });

/**
 * Requests a puzzle, by day or by number.
 * @type {(
 *   asked: { rules: string, board: string, level: string, day?: string, seed?: number | string },
 * ) => Promise<Api.Puzzle>}
 */
export const puzzle = (asked) => search(`api/puzzle?${query(asked)}`, {});
