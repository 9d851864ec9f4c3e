// Requests to the server that sent the page.

/** A request that was refused, with the server's own words. */
export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/** Asks until there is an answer: a busy server says when to come back. */
async function ask(path, options = {}) {
  for (;;) {
    const response = await fetch(path, options);
    const document = await response.json();
    if (response.ok) return document;
    if (document.error.code !== "busy") throw new Refused(document.error.code, document.error.message);
    await wait(Number(response.headers.get("retry-after")) || 1);
    options.signal?.throwIfAborted();
  }
}

const query = (fields) => new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== undefined));

/** What the server can do. */
export const server = () => ask("api");

/** What is known of a position, after a search of `time` seconds at the most. */
export const position = (board, rules, time, signal) => ask(`api/position?${query({ board, rules, time })}`, { signal });

/** The positions on a line of play. */
export const line = (board, rules, moves) => ask(`api/line?${query({ board, rules, moves: moves.join(",") })}`);

/** The move a player chooses. */
export const move = (board, rules, player, signal) =>
  ask("api/move", { method: "POST", body: JSON.stringify({ board, rules, player }), signal });
