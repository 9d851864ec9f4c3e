// Requests to the server that sent the page. They are repeated while the server is away or busy.

/** A request that was refused, with the server's own words. */
export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Seconds until a failed request is repeated, at first and at the most. */
const [FIRST, MOST] = [0.5, 8];

let state = "online";
let listener = () => {};
/** Its event `wake` ends the waiting of all requests. */
const waiting = new EventTarget();

/** Has `told` called with `online`, `busy` or `offline`, and the state before, when that changes. */
export const onState = (told) => (listener = told);

/** Repeats at once what waits. */
export const retry = () => waiting.dispatchEvent(new Event("wake"));

function report(next) {
  if (next === state) return;
  const before = state;
  state = next;
  listener(next, before);
}

function wait(seconds, signal) {
  return new Promise((done, fail) => {
    const clear = () => {
      clearTimeout(timer);
      waiting.removeEventListener("wake", end);
      signal?.removeEventListener("abort", stop);
    };
    const end = () => (clear(), done());
    const stop = () => (clear(), fail(signal.reason));
    const timer = setTimeout(end, 1000 * seconds);
    waiting.addEventListener("wake", end);
    signal?.addEventListener("abort", stop);
  });
}

/** The document of a response; undefined if it is none of this server, such as a proxy's page. */
async function documentOf(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a later attempt may be answered: a server that is busy, stopping, or away behind a proxy. */
const mayPass = (response, document) =>
  document?.error ? ["busy", "stopping", "timeout"].includes(document.error.code) : response.ok || response.status >= 500 || response.status === 429;

/** The events of a stream, as they come: name and document. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const fields = Object.fromEntries(part.split("\n").map((line) => [line.split(":")[0], line.slice(line.indexOf(":") + 1).trim()]));
      if (fields.data) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

/** Reads a stream to its end: `progress` is told each event before the answer, which is returned. */
async function follow(response, progress) {
  report("online");
  for await (const [event, document] of events(response)) {
    if (event === "answer" || event === "error") return document;
    progress(document);
  }
  return undefined;
}

/** Asks until there is an answer; `progress` is told what is streamed before it. */
async function ask(path, options = {}, progress = undefined) {
  for (let seconds = FIRST; ; seconds = Math.min(MOST, 2 * seconds)) {
    let response, document;
    try {
      response = await fetch(path, options);
      const streamed = response.ok && response.headers.get("content-type")?.startsWith("text/event-stream");
      document = streamed ? await follow(response, progress) : await documentOf(response);
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
      throw new Refused(document?.error?.code ?? "failed", document?.error?.message ?? `HTTP ${response.status} ${response.statusText}`);
    }
    report(document?.error?.code === "busy" ? "busy" : "offline");
    await wait(Number(response?.headers.get("retry-after")) || seconds, options.signal);
  }
}

addEventListener("online", retry);

const query = (fields) => new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== undefined));

/** What the server can do. */
export const server = () => ask("api");

/** The tables of the server. */
export const tables = () => ask("api/tables");

/** What is known of a position, after a search of `time` seconds at the most. */
export const position = (board, rules, time, signal) => ask(`api/position?${query({ board, rules, time })}`, { signal });

/** What the book has of a position and its moves. */
export const book = (board, rules, signal) => ask(`api/book?${query({ board, rules })}`, { signal });

/** The positions on a line of play. */
export const line = (board, rules, moves, signal) =>
  ask(`api/line?${query({ board, rules, moves: moves.join(",") })}`, { signal });

/** The move a player chooses, within `time` seconds where the player takes its time. */
export const move = (board, rules, player, time, signal) =>
  ask("api/move", { method: "POST", body: JSON.stringify({ board, rules, player, time }), signal });

/** What is known of a position after a search of up to `time` seconds; `progress` is told what is known meanwhile. */
export const search = (board, rules, time, progress, signal) =>
  ask(`api/search?${query({ board, rules, time })}`, { signal }, progress);

/** The values of all positions of a game; `progress` is told each with its `index` as soon as it is known. */
export const game = (board, rules, moves, progress, signal) =>
  ask("api/game", { method: "POST", body: JSON.stringify({ board, rules, moves }), headers: { accept: "text/event-stream" }, signal }, progress);

/** The game that a text describes. */
export const readText = (text) => ask("api/text/read", { method: "POST", body: JSON.stringify({ text }) });

/** A game as text. */
export const writeText = (game) => ask("api/text/write", { method: "POST", body: JSON.stringify(game) });

/** A puzzle; `asked` has rules, board, level, and day or seed. */
export const puzzle = (asked) => ask(`api/puzzle?${query(asked)}`);
