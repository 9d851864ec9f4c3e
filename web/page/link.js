// The whole game as the fragment of an address, and back.

/** @param {string} text */
const numbers = (text) => text.split(",").filter(Boolean).map(Number);

/** Reads a comment of a link: moves from the start, and the text. @param {string} text @returns {Note} */
const note = (text) => {
  const [path, ...rest] = text.split(":");
  return { path: numbers(path), text: rest.join(":") };
};

/**
 * Returns the game as a fragment; `extra` are further fields.
 * @param {Game} game
 * @param {Record<Side, string>} players
 * @param {Record<string, string>} extra
 */
export function fragment(game, players, extra = {}) {
  const { literal, side } = game.root;
  /** @type {Record<string, string>} */
  const fields = { rules: game.rules, board: literal, first: side, ...players, ...extra };
  const { pie, exchanged, at, moves } = game;
  if (pie) fields.pie = exchanged ? `${pie}:${exchanged.path.join(",")}` : pie;
  if (moves.length > 0) fields.moves = moves.join(",");
  if (at < moves.length) fields.at = String(at);
  const { paths, shown } = game.lines;
  const others = paths.filter((path, index) => index !== shown && path.length > 0);
  if (others.length > 0) fields.also = others.map((path) => path.join(",")).join(";");
  if (shown > 0) fields.line = String(shown);
  const all = new URLSearchParams(fields);
  for (const { path, text } of game.notes) all.append("note", `${path.join(",")}:${text}`);
  const text = all.toString();
  return text.replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%3B", ";");
}

/** Reads a fragment, or the size of a board such as `6x4`; missing fields are undefined. @param {string} text */
export function fromFragment(text) {
  const fields = new URLSearchParams(/^\d+x\d+$/.test(text) ? { board: text } : text);
  /** @param {string} name */
  const field = (name) => fields.get(name) ?? undefined;
  /** @param {string} name @param {number} most @param {number} missing */
  const count = (name, most, missing) =>
    fields.has(name) ? Math.max(0, Math.min(most, Math.trunc(Number(fields.get(name))) || 0)) : missing;
  const moves = numbers(fields.get("moves") ?? "");
  const also = (fields.get("also") ?? "")
    .split(";")
    .map(numbers)
    .filter((path) => path.length > 0);
  const [pie, exchange] = field("pie")?.split(":") ?? [];
  return {
    rules: field("rules"),
    board: field("board"),
    side: /** @type {Side} */ (fields.get("first") === "north" ? "north" : "south"),
    moves,
    at: count("at", moves.length, moves.length),
    also,
    line: count("line", also.length, 0),
    players: { south: field("south"), north: field("north") },
    values: field("values"),
    pie,
    exchangePath: exchange ? numbers(exchange) : undefined,
    puzzle: field("puzzle"),
    comments: fields.getAll("note").map(note),
  };
}
