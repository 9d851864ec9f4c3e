// Answers the page's requests without a server: from table files, the book and puzzles beside it, and by short
// searches. The documents are those of docs/api.md.

import { Wrong, final, isOver, literal, moves, parse, play, search, seeds, turnsOf, value } from "./game.js";
import { Rows, Table, TableError } from "./tables.js";
import * as texts from "./text.js";

// The page's own requests come here; all others go to the network.
globalThis.plainFetch = globalThis.fetch.bind(globalThis);

/** Depth in moves of searches above the tables, and maximum depth of players. */
const [DEPTH, MAX_DEPTH] = [6, 8];

/** Milliseconds after which an answer comes without a line of best play. */
const LINE_TIME = 1500;

/** @type {Map<string, any>} */
const cached = new Map();

/**
 * Returns the result of the first `make` with this key.
 * @template Made
 * @param {string} key
 * @param {() => Made} make
 * @returns {Made}
 */
const once = (key, make) => {
  if (!cached.has(key)) cached.set(key, make());
  return cached.get(key);
};

/** @param {string} path */
const fetched = async (path) => {
  const response = await globalThis.plainFetch(new URL(path, import.meta.url));
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  return response.json();
};

/** @param {string} path @returns {Promise<any>} */
const json = (path) =>
  once(path, () =>
    fetched(path).catch((error) => {
      // A failed request is repeated next time.
      cached.delete(path);
      throw error;
    }),
  );

/** Returns the description of the folder. @returns {Promise<Site>} */
const site = () => json("site.json");

/** @param {string} what */
const needsServer = (what) => new Wrong(404, "no-server", `${what} needs a server: run kalah serve`);

async function rulesOf(name = "empty-capture") {
  const rules = (await site()).rules.find((rules) => rules.name === name);
  if (!rules) throw new Wrong(400, "rules", `unknown rules '${name}'`);
  return rules;
}

/**
 * Returns the table of a board with this number of seeds, as the site describes it; undefined above all of them.
 * @param {Rules} rules
 * @param {number} pits
 * @param {number} seeds
 */
const described = async (rules, pits, seeds) =>
  (await site()).tables.find((table) => table.rules === rules.name && table.pits === pits && table.seeds === seeds);

/**
 * Returns bounds of the score of a position from the book; undefined if it is not there.
 * @param {Rules} rules
 * @param {Position} position
 * @returns {Promise<Sourced | undefined>}
 */
async function fromBook(rules, { mover, other }) {
  if (!(await site()).server.books?.some((book) => book.rules === rules.name && book.pits === mover.length))
    return undefined;
  const found = (await json(`book-${rules.name}-${mover.length}.json`))[`${mover}/${other}`];
  return found && { lower: found[0], upper: found[1], source: "book" };
}

/**
 * Returns the score of a position from the rules, tables or the book; undefined if none of them has it.
 * @param {Rules} rules
 * @param {Position} position
 * @returns {Promise<Sourced | undefined>}
 */
async function bounds(rules, position) {
  const pits = position.mover.length;
  const count = seeds(position);
  if (isOver(position)) {
    const score = position.mover.reduce((sum, seeds) => sum + seeds, 0);
    return { lower: score, upper: score, source: "rules" };
  }
  const known = await described(rules, pits, count);
  if (known) {
    const table = once(known.file, () => {
      const rows = once(`rows ${pits}`, () => new Rows(pits, 48));
      return new Table(new URL(known.file, document.baseURI).href, rules.code, count, rows, known.digest);
    });
    const score = await table.score(position.mover, position.other);
    return { lower: score, upper: score, source: "tables" };
  }
  return fromBook(rules, position);
}

/**
 * Returns the bounds of a value for the player who moved, from those of the score after the move.
 * @param {Played} played
 * @param {Bounds} score
 */
function valueBounds(played, { lower, upper }) {
  const ends = [lower, upper].map((score) => value(played.position, score)).map((one) => (played.again ? one : -one));
  return { lower: Math.min(...ends), upper: Math.max(...ends) };
}

/** @param {Bounds} value @returns {Api.Value} */
const known = ({ lower, upper }) =>
  lower === upper ? { known: "exact", value: lower } : { known: "bounds", lower, upper };

/** @param {Played} played @returns {Api.Sown} */
const sown = (played) => ({
  next: literal(played.position),
  again: played.again,
  finished: isOver(played.position),
  sowing: played.sowing,
  ...(played.captured.length > 0 ? { captured: played.captured } : {}),
});

/**
 * Returns a line of best play in the tables, which may need many requests; undefined if a table is missing.
 * @param {Rules} rules
 * @param {Position} at
 */
async function bestLine(rules, at) {
  const line = [];
  while (!isOver(at)) {
    const legal = moves(at).map((move) => ({ move, played: play(rules, at, move) }));
    const after = await Promise.all(legal.map(({ played }) => bounds(rules, played.position)));
    const worth = after.flatMap((score, index) => (score ? [valueBounds(legal[index].played, score).lower] : []));
    if (worth.length < legal.length) return undefined;
    // The move next to the store, as in the library.
    const { move, played } = legal[worth.lastIndexOf(Math.max(...worth))];
    line.push({ move, again: played.again });
    at = played.position;
  }
  return turnsOf(line)
    .map((turn) => turn.join(""))
    .join(" ");
}

/** Answers about a position. @param {Rules} rules @param {Position} at @returns {Promise<Api.Answer>} */
async function position(rules, at) {
  const answer = { position: literal(at), rules: rules.name, seeds: seeds(at) };
  const itself = await bounds(rules, at);
  const exact = itself && itself.lower === itself.upper ? itself.lower : undefined;
  const scored =
    exact === undefined ? {} : { score: exact, ...known({ lower: value(at, exact), upper: value(at, exact) }) };
  if (isOver(at)) return { ...answer, ...scored, source: "rules", moves: [], best: [], line: "", finished: true };
  const legal = moves(at).map((move) => ({ move, played: play(rules, at, move) }));
  const after = await Promise.all(legal.map(({ played }) => bounds(rules, played.position)));
  const isKnown = after.every((one) => one);
  const entries = legal.map(({ move, played }, index) => {
    const bounds = after[index];
    const found = bounds && valueBounds(played, bounds);
    const score = found && found.lower === found.upper ? { score: (found.lower - value(at, 0)) / 2 } : {};
    if (found) return { move, ...score, ...known(found), ...sown(played), worth: found.lower };
    const { value: later } = search(rules, played.position, DEPTH - 1);
    const estimate = played.again ? later : -later;
    return { move, known: /** @type {const} */ ("estimate"), estimate, ...sown(played), worth: estimate };
  });
  const most = Math.max(...entries.map((entry) => entry.worth));
  const best = entries.filter((entry) => entry.worth === most).map((entry) => entry.move);
  const result = entries.map(({ worth, ...entry }) => entry);
  if (itself && exact !== undefined) {
    /** @type {Promise<undefined>} */
    const late = new Promise((done) => setTimeout(() => done(undefined), LINE_TIME));
    const line = itself.source === "tables" ? await Promise.race([bestLine(rules, at), late]) : undefined;
    return {
      ...answer,
      ...scored,
      source: itself.source,
      moves: result,
      best,
      ...(line === undefined ? {} : { line }),
    };
  }
  if (isKnown && entries.every((entry) => entry.known === "exact")) {
    const score = (most - value(at, 0)) / 2;
    return { ...answer, score, ...known({ lower: most, upper: most }), source: "tables", moves: result, best };
  }
  return { ...answer, known: "estimate", estimate: most, source: "depth", depth: DEPTH, moves: result, best };
}

/**
 * Returns the answers of the book, the tables and the rules for a position and those after its moves, joined as in
 * `Book::recall` of the library.
 * @param {Rules} rules
 * @param {Position} at
 */
async function recall(rules, at) {
  const count = seeds(at);
  const itself = (await bounds(rules, at)) ?? { lower: 0, upper: count };
  let inBook = Boolean(await fromBook(rules, at));
  const ends = { lower: 0, upper: 0 };
  const entries = [];
  for (const move of moves(at)) {
    const played = play(rules, at, move);
    const after = (await bounds(rules, played.position)) ?? { lower: 0, upper: seeds(played.position) };
    inBook ||= Boolean(await fromBook(rules, played.position));
    const found = valueBounds(played, after);
    const [lower, upper] = [found.lower, found.upper].map((worth) => (worth - value(at, 0)) / 2);
    ends.lower = Math.max(ends.lower, lower);
    ends.upper = Math.max(ends.upper, upper);
    entries.push({ move, played, lower, upper });
  }
  if (entries.length === 0) return { ...itself, entries, inBook };
  const [lower, upper] = [Math.max(itself.lower, ends.lower), Math.min(itself.upper, ends.upper)];
  return { lower, upper, entries: entries.map((entry) => ({ ...entry, upper: Math.min(entry.upper, upper) })), inBook };
}

/** Returns the moves that are proved to keep the score. @param {Awaited<ReturnType<typeof recall>>} known */
const keeping = ({ lower, upper, entries }) =>
  lower === upper ? entries.filter((entry) => entry.lower >= lower).map((entry) => entry.move) : [];

/** Answers the opening explorer: the book's answer for a position. @param {Rules} rules @param {Position} at */
async function book(rules, at) {
  const found = await recall(rules, at);
  /** @param {Bounds} score */
  const proved = ({ lower, upper }) => ({
    ...(lower === upper ? { score: lower } : {}),
    ...known({ lower: value(at, lower), upper: value(at, upper) }),
  });
  const answer = { position: literal(at), rules: rules.name, seeds: seeds(at), ...proved(found), source: "book" };
  const entries = found.entries.map(({ move, played, lower, upper }) => ({
    move,
    ...proved({ lower, upper }),
    ...sown(played),
  }));
  const ends = { ...(isOver(at) ? { finished: true } : {}), in_book: found.inBook };
  if (found.lower !== found.upper) return { ...answer, moves: entries, best: [], ...ends };
  const made = [];
  let [place, all] = [at, found];
  // Ends with the book: the lines of the tables below it are long.
  while (!isOver(place) && all.inBook) {
    const move = keeping(all).at(-1);
    if (move === undefined) break;
    const played = play(rules, place, move);
    made.push({ move, again: played.again });
    place = played.position;
    all = await recall(rules, place);
  }
  const line = turnsOf(made)
    .map((turn) => turn.join(at.mover.length > 9 ? "," : ""))
    .join(" ");
  return { ...answer, moves: entries, best: keeping(found), line, ...ends, complete: isOver(place) };
}

/**
 * Returns the places on a line of play, each with its position.
 * @param {Rules} rules
 * @param {Position} at
 * @param {number[]} numbers
 */
function line(rules, at, numbers) {
  /** @type {{ at: Position, place: { position: string, first: boolean } & Partial<Api.Step> }[]} */
  const places = [];
  let first = true;
  for (const [index, move] of numbers.entries()) {
    let played;
    try {
      played = play(rules, at, move);
      if (isOver(at)) throw new Error("the game is over");
    } catch (error) {
      throw new Wrong(400, "line", `move ${index + 1} of the line, '${move}': ${error.message}`);
    }
    places.push({ at, place: { position: literal(at), first, move, ...sown(played) } });
    if (!played.again) first = !first;
    at = played.position;
  }
  places.push({ at, place: { position: literal(at), first } });
  return places;
}

/** Returns the move that a player chooses. @param {Rules} rules @param {Position} at */
async function choose(rules, at, player = "perfect") {
  if (isOver(at)) throw new Wrong(422, "game-over", "the game is over: there is no move to choose");
  const begin = performance.now();
  const legal = moves(at);
  const [name, parameter] = player.split(":");
  let found;
  if (name === "random") {
    found = { move: legal[Math.floor(Math.random() * legal.length)], source: "random" };
  } else if (name === "perfect") {
    const { best, moves: entries, source } = await position(rules, at);
    const entry = entries.find((entry) => entry.move === best.at(-1)) ?? entries[0];
    const { known, value, estimate, lower, upper } = entry;
    const parts = { known, value, estimate, lower, upper };
    found = { move: entry.move, ...parts, source, ...(source === "depth" ? { depth: DEPTH } : {}) };
  } else if (["greedy", "alphabeta", "minimax"].includes(name)) {
    const depth = name === "greedy" ? 1 : Math.max(1, Math.min(MAX_DEPTH, Number(parameter) || 1));
    const { move = legal[0], value } = search(rules, at, depth);
    found = { move, known: "estimate", estimate: value, source: "depth", depth };
  } else {
    throw needsServer(`the player ${player}`);
  }
  const seconds = (performance.now() - begin) / 1000;
  return { position: literal(at), rules: rules.name, player, ...found, seconds, ...sown(play(rules, at, found.move)) };
}

/**
 * Returns the summary of a side.
 * @param {(Api.Answer & { first: boolean, lost?: number })[]} places
 * @param {boolean} first
 */
function side(places, first) {
  const made = places.flatMap(({ first: mover, moves, value, lost }) =>
    mover === first && value !== undefined && lost !== undefined && moves.length > 1 ? [{ value, lost }] : [],
  );
  const best = made.filter((place) => place.lost === 0).length;
  const blunders = made.filter(({ value, lost }) => lost > 0 && Math.sign(value - lost) < Math.sign(value)).length;
  const lost = made.reduce((sum, place) => sum + place.lost, 0);
  const accuracy = made.length > 0 ? { accuracy: Math.round((1000 * best) / made.length) / 10 } : {};
  return { moves: made.length, best, inaccuracies: made.length - best - blunders, blunders, lost, ...accuracy };
}

/** Returns every position and move of a game. @param {Rules} rules @param {Position} at @param {number[]} numbers */
async function game(rules, at, numbers) {
  const on = line(rules, at, numbers);
  const places = [];
  for (const { at, place } of on) {
    const found = await position(rules, at);
    const made = found.moves.find((entry) => entry.move === place.move);
    const lost = found.value !== undefined && made?.value !== undefined ? { lost: found.value - made.value } : {};
    const values = found.moves.map(({ next, again, finished, sowing, captured, ...entry }) => entry);
    places.push({ ...found, moves: values, ...place, ...lost });
  }
  const { at: end, place: last } = on[on.length - 1];
  const seeds = last.first ? final(end) : final(end).reverse();
  const made = on.flatMap(({ place: { move, again = false } }) => (move === undefined ? [] : [{ move, again }]));
  const text = turnsOf(made)
    .map((turn) => turn.join(at.mover.length > 9 ? "," : ""))
    .join(" ");
  const sides = { south: side(places, true), north: side(places, false) };
  return { rules: rules.name, line: text, places, ...(isOver(end) ? { result: seeds } : {}), sides };
}

/** Returns the puzzle of a day, or of a number. @param {Fields} asked */
async function puzzle({ rules, board = "6x4", level = "medium", day, seed }) {
  const at = parse(board);
  const today = day ?? (seed === undefined ? new Date().toISOString().slice(0, 10) : undefined);
  // Puzzles of the coming days were found as a server finds them.
  const pits = at.mover.length;
  const days =
    today === undefined
      ? undefined
      : await json(`days-${rules ?? "empty-capture"}-${pits}.json`).catch(() => undefined);
  if (today !== undefined && days?.start === literal(at)) {
    const found = days.puzzles[level]?.[(Date.parse(today) - Date.parse(days.first)) / 86400000];
    if (found) return { ...found, day: today };
  }
  /** @type {(Api.Puzzle & { start: string })[]} */
  const all = await json("puzzles.json");
  const fitting = all.filter(
    (one) => one.rules === (rules ?? "empty-capture") && one.start === literal(at) && one.level === level,
  );
  if (fitting.length === 0) throw new Wrong(404, "no-puzzle", "no puzzle of this kind is here");
  const number = today === undefined ? Number(seed) : Math.floor(Date.parse(today) / 86400000);
  const { start, ...found } = fitting[((number % fitting.length) + fitting.length) % fitting.length];
  return { ...found, ...(today === undefined ? { seed: Number(seed) } : { day: today }) };
}

/** Answers a request. @param {string} path @param {Fields} fields @returns {Promise<unknown>} */
async function answer(path, fields) {
  if (path === "") return (await site()).server;
  if (path === "/tables")
    return { tables: (await site()).tables.map(({ digest, file, ...table }) => table), damaged: [] };
  if (path === "/puzzle") return puzzle(fields);
  if (path === "/text/read") return texts.read(fields.text ?? "", rulesOf);
  if (fields.text !== undefined) {
    const { rules, board, moves } = await texts.read(fields.text, rulesOf);
    return answer(path, { rules, board, moves });
  }
  if (fields.board === undefined)
    throw new Wrong(400, "request", "'board' is missing; it must be a position such as 6x4");
  const [rules, at] = [await rulesOf(fields.rules), parse(fields.board)];
  const given = fields.moves ?? [];
  const numbers = (Array.isArray(given) ? given : given.split(",").filter((text) => text)).map(Number);
  switch (path) {
    case "/position":
      return position(rules, at);
    case "/book":
      return book(rules, at);
    case "/search": {
      const begin = performance.now();
      const found = await position(rules, at);
      const ended = found.known === "exact" ? "proved" : "depth";
      return { ...found, nodes: 0, seconds: (performance.now() - begin) / 1000, ended };
    }
    case "/text/write":
      line(rules, at, numbers);
      return { text: texts.write(rules, at, numbers, fields) };
    case "/line":
      return { rules: rules.name, places: line(rules, at, numbers).map(({ place }) => place) };
    case "/game":
      return game(rules, at, numbers);
    case "/move":
      return choose(rules, at, fields.player);
    default:
      throw new Wrong(404, "not-found", `there is nothing at ${path}`);
  }
}

/** @param {number} status @param {unknown} document */
const response = (status, document) =>
  new Response(JSON.stringify(document), { status, headers: { "content-type": "application/json" } });

const root = new URL("api", document.baseURI);

globalThis.fetch = async (resource, options = {}) => {
  const url = new URL(resource instanceof Request ? resource.url : resource, document.baseURI);
  const path = url.pathname.slice(root.pathname.length);
  const isOurs = url.origin === root.origin && url.pathname.startsWith(root.pathname) && /^(\/|$)/.test(path);
  if (!isOurs) return globalThis.plainFetch(resource, options);
  try {
    const fields = options.method === "POST" ? JSON.parse(String(options.body)) : Object.fromEntries(url.searchParams);
    return response(200, await answer(path, fields));
  } catch (error) {
    if (error instanceof Wrong) return response(error.status, { error: { code: error.code, message: error.message } });
    if (error instanceof TableError) {
      return response(500, { error: { code: "damaged-table", message: `a table is damaged: ${error.message}` } });
    }
    // Offline: the same error as for a request that does not arrive.
    if (error instanceof TypeError) throw error;
    return response(500, { error: { code: "failed", message: String(error.message ?? error) } });
  }
};
