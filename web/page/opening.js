// Starting a game: a new one, one from a link or a text, or a puzzle.

import * as api from "./api.js";
import { fail } from "./elements.js";
import { Game, parse, sum, write } from "./game.js";
import { USUAL, fromFragment } from "./link.js";
import { FIRST, isPlayer } from "./players.js";
import { arrive, setPlayers } from "./play.js";
import { puzzleNamed } from "./puzzle.js";
import { enter, nextStep, now } from "./session.js";
import { lastFragment, remember, settings } from "./settings.js";
import { t } from "./words.js";

/**
 * Begins a game. `moves` are played, and `at` of them are shown. `also` are other lines from the start, of which the
 * first `line` come before `moves`; those that cannot be played are left out. `comments` are texts after the moves of a
 * `path`, and `headers` those of a text.
 * @param {GameStart} asked
 * @param {boolean} push
 */
export async function openGame(
  { rules, board: text, side, moves = [], at = 0, also = [], line = 0, comments = [], ...more },
  push = false,
) {
  const turn = nextStep();
  const { server } = now;
  const start = parse(text);
  const small = start && start.rows[0].length <= server.pits && sum(start.rows.flat()) <= server.seeds;
  const isNew = moves.length === 0 && also.length === 0 && server.rules.includes(rules);
  const known = small && isNew ? write(start) : undefined;
  const lines = known ? [] : [...also.slice(0, line), moves, ...also.slice(line)];
  /** @type {Error[]} */
  const errors = [];
  const described = await Promise.all(
    lines.map((path) =>
      api.line(text, rules, path).catch((error) => {
        if (path === moves) throw error;
        errors.push(new Error(t("badMoves", { reason: error.message })));
        return { places: [] };
      }),
    ),
  );
  if (turn !== now.turn) return;
  const game = new Game(rules, known ?? described[line].places[0].position, side);
  const ends = described.map(({ places }) => game.add(places.slice(0, -1)));
  game.show(ends[line] ?? game.root);
  game.annotate(comments);
  game.show(game.places[at] ?? game.root);
  const { pie, exchangePath, puzzle, headers } = more;
  Object.assign(game, { pie, exchangePath, puzzle, headers });
  Object.assign(now, { game, exercise: undefined });
  enter("open");
  arrive(push);
  errors.forEach(fail);
}

/**
 * Begins the game of a link, or resumes the last game. If it cannot be played, reports why and begins another one.
 */
export async function load(push = false) {
  const linked = fromFragment(location.hash.slice(1));
  if (!linked.board && settings.values === undefined) remember({ values: false });
  const shared = linked.board ? linked : fromFragment(lastFragment());
  if (!shared.board) {
    now.values = Boolean(settings.values);
    return openGame(usualGame(), push);
  }
  const { south = USUAL.south, north = USUAL.north } = shared.players;
  for (const player of [south, north]) if (!isPlayer(player)) fail(new Error(t("unknownPlayer", { player })));
  setPlayers(south, north);
  const rules = shared.rules ?? now.server.rules[0];
  const start = parse(shared.board);
  const puzzle = await puzzleNamed(shared.puzzle, rules, start ? write(start) : "");
  if (puzzle) setPlayers(...PUZZLE_PLAYERS);
  now.isHidden = shared.values === "off";
  now.values = shared.values ? !now.isHidden : puzzle ? false : (settings.values ?? true);
  /** @param {Error} error */
  const openAnother = (error) => {
    fail(error);
    return openGame(usualGame(), push);
  };
  const asked = { ...shared, board: shared.board, rules, puzzle };
  try {
    await openGame(asked, push);
  } catch (error) {
    if (error.code === "request") {
      fail(new Error(t("badMoves", { reason: error.message })));
      await openGame({ ...asked, moves: [], at: 0, also: [], line: 0 }, push).catch(openAnother);
    } else {
      await openAnother(error);
    }
  }
}

/** Returns the settings of the last new game, or some for beginners. @returns {NewGame} */
export const lastGame = () => ({
  rules: now.server.rules.includes("standard") ? "standard" : now.server.rules[0],
  pits: 6,
  seeds: 4,
  first: "south",
  you: "south",
  opponent: FIRST,
  time: now.server.time,
  ...settings.game,
});

/** Sets the players of a new game, and returns its beginning. @returns {GameStart} */
export function usualGame(asked = lastGame()) {
  /** @param {Side} side */
  const of = (side) => (asked.you === side || asked.you === "both" ? "human" : asked.opponent);
  setPlayers(of("south"), of("north"));
  return {
    rules: asked.rules,
    board: `${asked.pits}x${asked.seeds}`,
    side: asked.first,
    pie: asked.pie ? "open" : undefined,
  };
}

/** South solves puzzles; North replies. @type {[south: string, north: string]} */
const PUZZLE_PLAYERS = ["human", "perfect"];

/** Begins a puzzle. @param {Puzzle} puzzle */
export async function openPuzzle(puzzle) {
  setPlayers(...PUZZLE_PLAYERS);
  now.values = false;
  await openGame({ rules: puzzle.rules, board: puzzle.position, side: "south", puzzle }, true);
}
