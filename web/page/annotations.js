// Comments and variations in a game's text (docs/games.md). The server reads and writes the moves of the main line;
// comments and variations are put in and taken out here, so that they may have any length.

import { turnsFrom, turnsOf, variationsOf } from "./tree.js";

/** Maximum characters of a line. */
const WIDTH = 80;

/** Headers, comments, parentheses, and words. */
const TOKEN = /^[^\S\n]*\[.*$|\{[^}]*\}|;.*$|[()]|[^\s(){};]+/gm;

/** Returns a comment as words, of which one that begins with `;` ends its line. @param {string} text */
function comment(text) {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.includes("}") ? [`; ${line}`] : `{${line}}`.split(" ");
}

/**
 * Returns the words of a line from a place on: turns with their numbers, comments, and after each turn the variations
 * that replace it, in parentheses.
 * @param {Reached | undefined} first
 * @param {number} pits
 * @returns {string[]}
 */
function wordsOf(first, pits) {
  /** @type {string[]} */
  const words = [];
  let numbered = true;
  for (const turn of turnsFrom(first)) {
    const moves = [...turn.prefix, ...turn.places.map((place) => place.by.move)];
    const number = `${turn.number}${turn.second ? "..." : "."} `;
    words.push(`${numbered || !turn.second ? number : ""}${moves.join(pits > 9 ? "," : "")}`);
    const before = words.length;
    for (const place of turn.places) if (place.comment) words.push(...comment(place.comment));
    for (const other of variationsOf(turn)) words.push("(", ...wordsOf(other, pits), ")");
    numbered = words.length > before;
  }
  return words;
}

/**
 * Returns the text of a game with all comments and variations, from that of the server, which has the main line.
 * @param {string} text
 * @param {Place} root
 */
export function annotated(text, root) {
  const [headers, moves] = text.split("\n\n");
  const result = /\S+\s*$/.exec(moves)?.[0].trim() ?? "";
  const start = root.comment ? comment(root.comment) : [];
  const end = /^(\*|\d+-\d+)$/.test(result) ? result : "";
  const words = [...start, ...wordsOf(root.after[0], root.raw().rows[0].length), end];
  /** @type {string[]} */
  const lines = [""];
  for (const [index, word] of words.entries()) {
    const line = lines[lines.length - 1];
    const space = !line || words[index - 1] === "(" || word === ")" ? "" : " ";
    if (line.includes("; ") || (line && line.length + space.length + word.length > WIDTH)) lines.push(word);
    else lines[lines.length - 1] += space + word;
  }
  return `${[headers, "", ...lines].join("\n").trimEnd()}\n`;
}

/**
 * Takes comments and variations out of a text: returns the rest, in the same lines, and all words.
 * @param {string} text
 */
export function divided(text) {
  /** @type {string[]} */
  const words = [];
  const open = [];
  let bare = "";
  let end = 0;
  for (const { 0: word, index } of text.matchAll(TOKEN)) {
    const isHeader = word.trimStart().startsWith("[");
    const isMove = open.length === 0 && !/^[{;(]/.test(word) && word !== ")";
    if (!isHeader) words.push(word);
    if (word === "(") open.push(index);
    const closes = word === ")" && open.pop() !== undefined;
    // Parentheses without a partner are left for the server, which reports it.
    const stays = isHeader || isMove || (word === ")" && !closes);
    bare += text.slice(end, index) + (stays ? word : word.replaceAll(/[^\n]+/g, " "));
    end = index + word.length;
  }
  if (open.length > 0) bare = text.slice(0, open[0] + 1);
  else bare += text.slice(end);
  return { bare, words };
}

/**
 * Returns the lines of the variations among the words of a text, and the comments, with their places in the game.
 * @param {string[]} words
 * @param {number} pits
 */
export function interpreted(words, pits) {
  /** @type {number[][]} */
  const lines = [];
  /** @type {Note[]} */
  const comments = [];
  /** Open lines: the index of a variation, its moves so far, and those before its last turn. */
  const open = [{ index: -1, path: /** @type {number[]} */ ([]), before: /** @type {number[]} */ ([]) }];
  for (const word of words) {
    const line = open[open.length - 1];
    const turn = word.replace(/^\d+(\.+|…)/, "");
    if (word === "(") {
      // A line comes before the variations that leave it.
      open.push({ index: lines.push(line.before) - 1, path: line.before, before: line.before });
    } else if (word === ")") {
      if (open.length > 1) lines[line.index] = /** @type {typeof line} */ (open.pop()).path;
    } else if (/^[{;]/.test(word)) {
      const text = word.replace(/^[{;]/, "").replace(/\}$/, "").replaceAll(/\s+/g, " ").trim();
      if (text) comments.push({ path: line.path, text });
    } else if (/^\d[\d,]*$/.test(turn)) {
      line.before = line.path;
      line.path = [...line.path, ...turnsOf(turn, pits)[0]];
    }
  }
  return { lines, comments };
}
