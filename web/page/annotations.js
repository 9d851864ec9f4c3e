// Comments and variations in a game's text (docs/games.md). The server reads and writes the moves; comments are put in
// and taken out here, so that they may have any length.
//
// A comment of one line stands as it is. Any other is a JSON string, in which nothing is lost when a writer breaks its
// line. A variation is a comment in parentheses after the turn that it replaces: words of moves from the beginning of
// that turn, comments as JSON strings, and variations that replace the word before them: {(35 2 "why not?" (4) 1)}.

import { turnsOf } from "./line.js";
import { turnsFrom, variationsOf } from "./turns.js";

/** Maximum characters of a line. */
const WIDTH = 80;

/** @param {string} letter */
const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns a text as a JSON string, without braces and spaces that a reader changes. @param {string} text */
const quoted = (text) => JSON.stringify(text).replaceAll(/\}|[^\S ]|(?<=\s) |(?<=") | (?=")/g, escaped);

/** Returns true if a comment is the same after it was written and read as it is. @param {string} text */
const isPlain = (text) => text === oneLine(text) && !/^[("]/.test(text);

/** @param {string} text */
const oneLine = (text) => text.replaceAll(/\s+/g, " ").trim();

/** @param {string} text */
const comment = (text) => (!isPlain(text) ? `{${quoted(text)}}` : text.includes("}") ? `; ${text}` : `{${text}}`);

/** @param {number[]} moves @param {number} pits */
const word = (moves, pits) => moves.join(pits > 9 ? "," : "");

/**
 * Returns a variation in parentheses; its first word begins after `start` moves of the game.
 * @param {Reached} first
 * @param {number} start
 * @param {number} pits
 * @returns {string}
 */
function variation(first, start, pits) {
  /** @type {string[]} */
  const words = [];
  let moves = first.before.path.slice(start);
  for (const turn of turnsFrom(first)) {
    /** @type {Reached[]} */
    let places = [];
    for (const place of turn.places) {
      moves.push(place.by.move);
      places.push(place);
      if (!place.comment && place !== turn.places.at(-1)) continue;
      words.push(word(moves, pits));
      if (place.comment) words.push(quoted(place.comment));
      for (const other of variationsOf({ ...turn, places })) words.push(variation(other, start, pits));
      start += moves.length;
      [moves, places] = [[], []];
    }
  }
  return `(${words.join(" ")})`;
}

/** Returns the comments after a turn of the main line. @param {Turn} turn @param {number} pits */
function commentsAfter(turn, pits) {
  const { places } = turn;
  const start = places[0].before.path.length;
  const moves = places.map((place) => place.by.move);
  const within = places.flatMap(({ comment }, index) => {
    const last = index === places.length - 1;
    return comment && !last ? [`{(${word(moves.slice(0, index + 1), pits)} ${quoted(comment)})}`] : [];
  });
  const own = places.at(-1)?.comment;
  const others = variationsOf(turn).map((first) => `{${variation(first, start, pits)}}`);
  return [...(own ? [comment(own)] : []), ...within, ...others];
}

/**
 * Adds the comments and variations of a game to its text, in which the server wrote headers and moves of the main line.
 * @param {string} text
 * @param {Place} root
 */
export function annotated(text, root) {
  const pits = root.raw().rows[0].length;
  const [headers, ...rest] = text.split("\n\n");
  const turns = turnsFrom(root.after[0]);
  // A number and its turn stay on one line.
  const words = rest.join(" ").trim().split(/(?<!\d\.)\s+/);
  /** @type {string[]} */
  const lines = [];
  let line = "";
  /** @param {string} text */
  const add = (text) => {
    const full = line.length + 1 + text.length > WIDTH;
    if (line && full) lines.push(line);
    line = line && !full ? `${line} ${text}` : text;
  };
  /** @param {string} text */
  const addComment = (text) => {
    if (!text.startsWith(";")) {
      for (const part of text.split(" ")) add(part);
      return;
    }
    add(text);
    lines.push(line);
    line = "";
  };
  if (root.comment) addComment(comment(root.comment));
  for (const [index, word] of words.entries()) {
    add(word);
    if (turns[index]) for (const each of commentsAfter(turns[index], pits)) addComment(each);
  }
  return [headers, "", ...lines, line].join("\n").trimEnd().concat("\n");
}

/** Returns the turns among the words of a line. @param {string} line */
const turnsIn = (line) =>
  line
    .split(/\s+/)
    .map((word) => word.replace(/^\d+\.+(?=[^.]*$)/, ""))
    .filter((word) => word && word !== "*" && !word.includes("-"));

/**
 * Takes the comments out of a text: the rest, without empty lines; the number of each line in the text; the turns; and
 * comments with their number of turns before.
 * @param {string} text
 */
export function stripped(text) {
  /** @type {string[][]} */
  const [bare, turns] = [[], []];
  /** @type {{ turns: number, text: string }[]} */
  const comments = [];
  /** @type {{ line: number, turns: number, text: string } | undefined} */
  let open;
  for (const [index, content] of text.replace(/^\uFEFF/, "").split(/\r?\n/).entries()) {
    if (!open && content.trimStart().startsWith("[")) {
      bare.push(content);
      continue;
    }
    let rest = "";
    if (open) open.text += " ";
    for (const [at, letter] of [...content].entries()) {
      if (open) {
        if (letter !== "}") open.text += letter;
        else {
          comments.push(open);
          open = undefined;
        }
      } else if (letter === "{" || letter === ";") {
        rest += " ";
        open = { line: index, turns: turns.length + turnsIn(rest).length, text: "" };
        if (letter === "{") continue;
        comments.push({ ...open, text: [...content].slice(at + 1).join("") });
        open = undefined;
        break;
      } else rest += letter;
    }
    turns.push(...turnsIn(rest));
    bare.push(rest);
  }
  // The server reports a comment without an end.
  if (open) bare[open.line] += "{";
  const lines = bare.flatMap((line, index) => (line.trim() ? [index] : []));
  return {
    bare: lines.map((index) => bare[index].trim()).join("\n"),
    lines: lines.map((index) => index + 1),
    turns,
    comments: comments.map(({ turns, text }) => ({ turns, text: oneLine(text) })).filter(({ text }) => text),
  };
}

/** @param {string} text */
function unquoted(text) {
  try {
    return text.startsWith('"') ? String(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the words of a variation; undefined for other texts. @param {string} text */
function wordsOf(text) {
  const word = /([()]|"(?:[^"\\]|\\.)*"|[\d,]+) */y;
  /** @type {string[]} */
  const words = [];
  while (word.lastIndex < text.length) {
    const found = word.exec(text);
    if (!found) return undefined;
    words.push(found[1]);
  }
  return words;
}

/**
 * Reads a variation after the moves `start`: its lines and comments; undefined for other texts.
 * @param {string} text
 * @param {number[]} start
 * @param {number} pits
 * @returns {Variation | undefined}
 */
function readVariation(text, start, pits) {
  const words = wordsOf(text);
  if (words?.[0] !== "(") return undefined;
  /** @type {Variation} */
  const found = { lines: [], comments: [] };
  /** @typedef {{ index: number, path: number[], before: number[] }} Open */
  /** Open variations: the index of the line, its moves so far, and those before the last word. @type {Open[]} */
  const open = [];
  for (const [index, each] of words.entries()) {
    const inner = open.at(-1);
    if (each === "(") {
      if (index > 0 && !inner) return undefined;
      const path = inner?.before ?? start;
      // A line comes before the variations that leave it.
      open.push({ index: found.lines.push(path) - 1, path, before: path });
    } else if (!inner) return undefined;
    else if (each === ")") {
      found.lines[inner.index] = inner.path;
      open.pop();
    } else if (each.startsWith('"')) {
      const comment = unquoted(each);
      if (comment === undefined) return undefined;
      found.comments.push({ path: inner.path, text: comment });
    } else {
      inner.before = inner.path;
      inner.path = [...inner.path, ...turnsOf(each, pits)[0]];
    }
  }
  return open.length === 0 ? found : undefined;
}

/**
 * Returns comments of a text with their places in the game, and variations beside their texts.
 * @param {Pick<ReturnType<typeof stripped>, "turns" | "comments">} found
 * @param {number[]} moves
 * @param {number} pits
 */
export function interpreted({ turns, comments }, moves, pits) {
  const ends = [0];
  for (const turn of turns) ends.push(ends[ends.length - 1] + turnsOf(turn, pits)[0].length);
  return comments.map(({ turns, text }) => {
    const path = moves.slice(0, ends[turns]);
    const variation = readVariation(text, moves.slice(0, ends[Math.max(0, turns - 1)]), pits);
    return { path, text: unquoted(text) ?? text, variation };
  });
}
