// How values are told.

/** A number with its sign, with a true minus. */
export const signed = (value) => (value > 0 ? `+${value}` : value < 0 ? `−${-value}` : "0");

const outcome = (value) => (value > 0 ? "win" : value < 0 ? "loss" : "draw");

/**
 * What is known of a value: a short text and the word under it for a label, a class for its colour, and a sentence.
 * Takes the fields value, lower, upper, estimate of the server's answers.
 */
export function tell({ value, lower, upper, estimate }) {
  if (value !== undefined) {
    const word = outcome(value);
    const full = value === 0 ? "draw" : `${word} by ${Math.abs(value)}`;
    return { text: signed(value), word, kind: word, full: `${full}, exact` };
  }
  if (lower !== undefined && lower > 0) {
    return { text: `≥${signed(lower)}`, word: "win", kind: "win", full: `win by at least ${lower}, proved` };
  }
  if (upper !== undefined && upper < 0) {
    return { text: `≤${signed(upper)}`, word: "loss", kind: "loss", full: `loss by at least ${-upper}, proved` };
  }
  if (estimate !== undefined) {
    const bounds = lower === undefined ? "" : `, proved between ${signed(lower)} and ${signed(upper)}`;
    return { text: `≈${signed(estimate)}`, word: "est.", kind: "open", full: `estimate ${signed(estimate)}${bounds}` };
  }
  if (lower !== undefined) {
    return { text: `${signed(lower)}…${signed(upper)}`, word: "open", kind: "open", full: `between ${signed(lower)} and ${signed(upper)}, proved` };
  }
  return { text: "", word: "", kind: "open", full: "not known" };
}

/** Where an answer comes from. */
export function origin(answer) {
  switch (answer.source) {
    case "tables": return "from the tables";
    case "book": return "from the book";
    case "solver": return "proved by the solver";
    case "bound": return "bounds proved in time";
    case "depth": return `looking ${answer.depth} ahead`;
    default: return "by the rules";
  }
}

export const name = (side) => (side === "south" ? "South" : "North");

/** A number of seeds. */
export const seeds = (count) => `${count} ${count === 1 ? "seed" : "seeds"}`;
