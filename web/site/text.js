// Games as text: docs/games.md.

import { Wrong, final, isOver, literal, parse, play, turnsOf } from "./game.js";

const KNOWN = ["South", "North", "Event", "Site", "Date", "Round", "Termination", "Pie"];

/** @typedef {{ line: number, text: string }} Word */
/** @typedef {{ line: number, value: string }} Said */

/** @param {number} line @param {string} why */
const wrong = (line, why) => new Wrong(400, "text", `line ${line}: ${why}`);

/** Returns the words of a text with one space between them. @param {string} text */
const oneLine = (text) => text.replace(/[\p{White_Space}\p{Cc}]+/gu, " ").trim();

/**
 * Returns headers, words after them and the result, each with its line; and comments, each with its number of words
 * before.
 * @param {string} text
 */
function split(text) {
  /** @type {Map<string, Said>} */
  const headers = new Map();
  /** @type {Word[]} */
  const words = [];
  /** @type {{ words: number, text: string }[]} */
  const comments = [];
  let comment = 0;
  let number = 0;
  let said = "";
  /** @param {string} text */
  const end = (text) => {
    const line = oneLine(text);
    if (line) comments.push({ words: words.length, text: line });
  };
  for (const content of text.replace(/^\ufeff/, "").split(/\r?\n/)) {
    number += 1;
    said += " ";
    if (!comment && content.trimStart().startsWith("[")) {
      if (words.length > 0) throw wrong(number, "a second game begins here, where one is wanted");
      const found = /^\[\s*([A-Za-z]\w*)\s+"((?:[^"\\]|\\["\\])*)"\s*\]$/.exec(content.trim());
      if (!found) throw wrong(number, `'${content.trim()}' is not a header: write [Name "value"]`);
      if (headers.has(found[1])) throw wrong(number, `the header ${found[1]} is given twice`);
      headers.set(found[1], { line: number, value: found[2].replace(/\\(.)/g, "$1") });
      continue;
    }
    let plain = "";
    const take = () => {
      for (const word of plain.split(/\s+/)) {
        const bare = word.replace(/^\d+\.+/, "");
        if (bare) words.push({ line: number, text: bare });
      }
      plain = "";
    };
    for (const [at, character] of [...content].entries()) {
      if (comment && character !== "}") {
        said += character;
      } else if (comment) {
        end(said);
        comment = 0;
      } else if (character === "{") {
        take();
        [comment, said] = [number, ""];
      } else if (character === "}") {
        throw wrong(number, "a } without a comment before it");
      } else if (character === ";") {
        take();
        end([...content].slice(at + 1).join(""));
        break;
      } else {
        plain += character;
      }
    }
    take();
  }
  if (comment) throw wrong(comment, "the comment that begins here has no }");
  if (headers.size + words.length === 0)
    throw wrong(1, 'there is no game: write headers such as [Start "6x4"], then moves such as 36 21 4');
  return { headers, words, comments };
}

/** Returns the seeds of a result; undefined if it is open. @param {Said} said @param {number} all */
function result({ line, value }, all) {
  if (value === "*") return undefined;
  const found = /^(\d{1,9})-(\d{1,9})$/.exec(value);
  if (!found) throw wrong(line, `'${value}' is not a result: write the seeds of South and North, such as 26-22, or *`);
  const seeds = [Number(found[1]), Number(found[2])];
  if (seeds[0] + seeds[1] !== all)
    throw wrong(line, `the result ${value} has ${seeds[0] + seeds[1]} seeds; the game has ${all}`);
  return seeds;
}

/**
 * Reads the game of a text; `rulesOf` returns a rule set by its name.
 * @param {string} text
 * @param {(name?: string) => Promise<Rules>} rulesOf
 */
export async function read(text, rulesOf) {
  const { headers, words, comments } = split(text);
  /** @param {string} name */
  const take = (name) => {
    const found = headers.get(name);
    headers.delete(name);
    return found;
  };
  const [ruleSet, start, header] = ["Rules", "Start", "Result"].map(take);
  /** @template Result @param {number} line @param {() => Result} read */
  const inLine = async (line, read) => {
    try {
      return await read();
    } catch (error) {
      throw wrong(line, error.message);
    }
  };
  const rules = await inLine(ruleSet?.line ?? 1, () => rulesOf(ruleSet?.value));
  const at = await inLine(start?.line ?? 1, () => parse(start?.value ?? "6x4"));
  const pie = headers.get("Pie");
  if (pie && !["kept", "swapped"].includes(pie.value))
    throw wrong(pie.line, `'${pie.value}' is not what the pie rule leads to: write kept or swapped`);
  const pits = at.mover.length;
  const last = words.findIndex(({ text }) => text === "*" || text.includes("-"));
  if (last >= 0 && last < words.length - 1)
    throw wrong(words[last + 1].line, `'${words[last + 1].text}' follows the result`);
  const turns = last >= 0 ? words.slice(0, last) : words;
  const numbers = [];
  // Numbers of moves before the first turn, and after each turn.
  const turnEnds = [0];
  let [position, first] = [at, true];
  for (const [index, { line, text }] of turns.entries()) {
    const parts = text.includes(",") || pits > 9 ? text.split(",") : [...text];
    let again = true;
    for (const part of parts) {
      if (!/^\d{1,9}$/.test(part))
        throw wrong(
          line,
          `'${text}' is not a turn: write move numbers from 1, run together (36) or with commas (11,3)`,
        );
      const number = Number(part);
      if (number < 1 || number > pits)
        throw wrong(line, `'${text}' is not a turn: there is no pit ${number}, a side has pits 1 to ${pits}`);
      if (!again) throw wrong(line, `turn ${index + 1} of the line goes on after a move that ended it`);
      if (isOver(position)) throw wrong(line, `turn ${index + 1} of the line: the game is over`);
      let played;
      try {
        played = play(rules, position, number);
      } catch (error) {
        throw wrong(line, `turn ${index + 1} of the line: ${error.message}`);
      }
      numbers.push(number);
      [position, again] = [played.position, played.again];
      if (!again) first = !first;
    }
    turnEnds.push(numbers.length);
    if (again && index < turns.length - 1)
      throw wrong(line, `turn ${index + 1} of the line is not over: its last move gives another one`);
  }
  const all = [...at.mover, ...at.other, ...at.stores].reduce((sum, seeds) => sum + seeds, 0);
  const ends = [header, last >= 0 ? { line: words[last].line, value: words[last].text } : undefined].filter(
    (one) => one !== undefined,
  );
  const given = ends.map((end) => ({ ...end, seeds: result(end, all) }));
  if (given.length === 2 && String(given[0].seeds) !== String(given[1].seeds))
    throw wrong(given[1].line, "the result here is not that of the header");
  const byRules = isOver(position) ? (first ? final(position) : final(position).reverse()) : undefined;
  if (given.length > 0 && !headers.has("Termination") && String(given[0].seeds) !== String(byRules)) {
    const why = byRules
      ? `by the rules the game ends ${byRules.join("-")}, which is not the result`
      : "the game is not over after these moves, but has a result";
    throw wrong(given[given.length - 1].line, `${why}; say why with a header Termination`);
  }
  const seeds = given.length > 0 ? given[0].seeds : byRules;
  const line = turns.map(({ text }) => text).join(" ");
  /** @param {string} name @param {"south" | "north"} key */
  const named = (name, key) => {
    const found = headers.get(name);
    return found ? { [key]: found.value } : {};
  };
  return {
    rules: rules.name,
    board: literal(at),
    moves: numbers,
    line,
    ...named("South", "south"),
    ...named("North", "north"),
    ...(seeds ? { result: seeds } : {}),
    headers: [...headers].map(([name, { value }]) => [name, value]),
    ...(comments.length > 0
      ? { comments: comments.map(({ words, text }) => ({ after: turnEnds[Math.min(words, turns.length)], text })) }
      : {}),
  };
}

/** Returns the shortest form of a position. @param {Position} at */
function shortest(at) {
  const same =
    at.stores.every((seeds) => seeds === 0) && [...at.mover, ...at.other].every((seeds) => seeds === at.mover[0]);
  return same ? `${at.mover.length}x${at.mover[0]}` : literal(at);
}

/**
 * Returns a comment in braces, word by word. One with a closing brace in it extends to the end of its line.
 * @param {string} text
 * @returns {{ word: string, endsLine?: boolean }[]}
 */
function commentWords(text) {
  if (!text) return [];
  if (text.includes("}")) return [{ word: `; ${text}`, endsLine: true }];
  return `{${text}}`.split(" ").map((word) => ({ word }));
}

/**
 * Writes the text of a game of single moves.
 * @param {Rules} rules
 * @param {Position} at
 * @param {number[]} numbers
 * @param {Fields} fields
 */
export function write(rules, at, numbers, fields) {
  /** @type {[string, string | null | undefined][]} */
  const pairs = [["South", fields.south], ["North", fields.north], ...(fields.headers ?? [])];
  const headers = new Map(pairs.filter(([, value]) => value !== undefined && value !== null));
  for (const name of headers.keys()) {
    if (!/^[A-Za-z]\w*$/.test(name) || ["Rules", "Start", "Result"].includes(name)) {
      throw new Wrong(400, "request", `'${name}' cannot be a header`);
    }
  }
  let [position, first] = [at, true];
  const moves = numbers.map((move) => {
    const played = play(rules, position, move);
    position = played.position;
    if (!played.again) first = !first;
    return { move, again: played.again };
  });
  const turns = turnsOf(moves);
  const end = isOver(position) ? (first ? final(position) : final(position).reverse()).join("-") : "*";
  /** @param {string} name @param {unknown} value */
  const header = (name, value) =>
    `[${name} "${String(value)
      .replace(/[\p{Cc}]/gu, " ")
      .replace(/["\\]/g, "\\$&")}"]\n`;
  /** @param {string[]} names */
  const written = (names) => names.filter((name) => headers.has(name)).map((name) => header(name, headers.get(name)));
  let text = header("Rules", rules.name) + header("Start", shortest(at)) + written(KNOWN.slice(0, 2)).join("");
  text += header("Result", end) + written(KNOWN.slice(2)).join("");
  text += written([...headers.keys()].filter((name) => !KNOWN.includes(name))).join("");
  const words = turns.map(
    (turn, index) => `${index % 2 === 0 ? `${index / 2 + 1}. ` : ""}${turn.join(at.mover.length > 9 ? "," : "")}`,
  );
  // Each comment after its turn.
  /** @type {ReturnType<typeof commentWords>[]} */
  const said = [[], ...turns.map(() => [])];
  const ends = [0];
  for (const turn of turns) ends.push(ends[ends.length - 1] + turn.length);
  const given = (fields.comments ?? []).map((comment, index) => ({ ...comment, index }));
  for (const { after, text } of given.sort((a, b) => a.after - b.after || a.index - b.index)) {
    const turn = ends.findIndex((moves) => moves >= after);
    said[turn < 0 ? turns.length : turn].push(...commentWords(oneLine(text)));
  }
  const all = said.flatMap((comment, turn) => [...(turn > 0 ? [{ word: words[turn - 1] }] : []), ...comment]);
  /** @type {ReturnType<typeof commentWords>} */
  const last = [{ word: end }];
  let [width, ended] = [0, true];
  for (const { word, endsLine = false } of all.concat(last)) {
    const length = [...word].length;
    const between = ended || width + 1 + length > 80 ? "\n" : " ";
    width = between === " " ? width + 1 + length : length;
    text += between + word;
    ended = endsLine;
  }
  return `${text}\n`;
}
