// The view of a game: the board, values, the moves, the explorer, and the visible buttons.

import { isKnown, isSearching } from "./analysis.js";
import { Board } from "./board.js";
import { showComment } from "./comment.js";
import { showExplorer } from "./explorer.js";
import { around, find } from "./elements.js";
import { isReached, other } from "./game.js";
import { Graph, setBar } from "./graph.js";
import { MoveList, showLine } from "./moves.js";
import { showScore, showStrips } from "./players.js";
import { task } from "./puzzle.js";
import { goesOn, isHuman, isPaused, isProgram, isSowing, mayExchange, mayPlay } from "./session.js";
import { now, onlyPerson, players } from "./session.js";
import { store } from "./store.js";
import { forks } from "./tree.js";
import { describe, ending, happened, name, origin, pitName, ruleName, t } from "./words.js";

/**
 * Actions of clicks: `goTo` a place, `sow` a pit of a side, `peek` at a move, `glance` at a place while the graph is
 * dragged, `playLine` of moves.
 * @typedef {{
 *   goTo: (place: Place) => void,
 *   sow: (side: Side, pit: number) => void,
 *   peek: Board["peek"],
 *   glance: (place: Place) => void,
 *   playLine: (moves: number[]) => void,
 * }} Actions
 */

/**
 * Parts of the view, which `openView` makes, and their actions.
 * @type {{ board: Board, graph: Graph, moves: MoveList, act: Actions }}
 */
export const view = /** @type {any} */ ({});

/** Heights of what is above and below the board, in units of the font size. */
const AROUND = { usual: 20, phone: 20, sideways: 3.4 };

/** Windows in which the open sheet leaves the whole board visible, as in shell.css. */
const SPLIT = "(max-width: 40rem) and (min-height: 44rem)";

const space = () => {
  const width = around(find("board")).clientWidth;
  const font = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const sideways = matchMedia("(max-height: 32rem) and (orientation: landscape) and (min-width: 36rem)").matches;
  const phone = matchMedia("(max-width: 52rem)").matches;
  const low = document.body.classList.contains("sheet") && matchMedia(SPLIT).matches;
  const beside = AROUND[sideways ? "sideways" : phone ? "phone" : "usual"];
  return { width, height: innerHeight - beside * font, low, font };
};

/** Makes the parts of the view. @param {Actions} act */
export function openView(act) {
  const board = new Board(find("board"), act.sow, space);
  board.scored = showScore;
  board.peek = act.peek;
  store.subscribe(() => now.game && draw());
  const [graph, moves] = [new Graph(find("graph"), act), new MoveList(find("moves"), act.goTo)];
  Object.assign(view, { act, board, graph, moves });
}

/** Returns the side to move, and its value. @param {Place} place */
export function status(place) {
  if (place.finished) return ending(place);
  const { answer, side } = place;
  const yours = onlyPerson() === side;
  const mover = t(yours ? "yourTurn" : "toMove", { side: name(side) });
  return answer && now.values
    ? t("toMoveValue", { mover, value: describe(answer, side).full, origin: origin(answer) })
    : `${mover}.`;
}

/** Returns the effects of the last move, or a hint before the first one. @param {Place} place */
function lastMove(place) {
  if (isReached(place)) return t("lastMove", { text: happened(place) });
  return onlyPerson() === place.side && mayPlay() && !now.game.puzzle ? t("firstMove") : "";
}

/** @param {Place} place @param {boolean} shown */
function showButtons(place, shown) {
  const { game } = now;
  const { answer } = place;
  for (const id of /** @type {const} */ (["first", "undo"])) find(id).disabled = !place.before;
  for (const id of /** @type {const} */ (["redo", "final"])) find(id).disabled = !place.chosen;
  find("hint").disabled = shown || !mayPlay();
  find("longer").hidden = !shown || place.finished || !answer || isKnown(place) || isSearching();
  find("pause").hidden = !isPaused() && [players.south, players.north].includes("human");
  find("pause").textContent = t(isPaused() ? "resume" : "pause");
  find("pause").setAttribute("aria-pressed", String(isPaused()));
  find("go").hidden = !isProgram(place) || goesOn(place) || isSowing() || isPaused();
  find("go").textContent = t("go", { side: name(place.side) });
  const exchange = mayExchange(place) && isHuman(place) && !isSowing();
  find("swap").hidden = !exchange;
  find("pie").hidden = !exchange;
  find("pie").textContent = exchange ? t("pieNow", { side: name(place.side) }) : "";
  find("another").hidden = !game.puzzle?.solved;
  find("share-result").hidden = !game.puzzle?.solved || !game.puzzle.day;
  find("again").hidden = game.verdict !== "wrong";
  find("promote").hidden = forks(place).length === 0;
  find("remove").hidden = !isReached(place);
  find("restore").hidden = !game.removed;
  // Useful after the end of a game.
  find("new").classList.toggle("main", place.finished && !game.puzzle);
}

/** Marks the current one of the buttons at the top. @param {boolean} shown */
function showMode(shown) {
  const mode = now.game.puzzle ? "puzzle" : now.lesson ? "rules" : shown ? "analyse" : "new";
  for (const id of /** @type {const} */ (["new", "puzzle", "analyse", "rules"])) {
    if (id === mode) find(id).setAttribute("aria-current", "true");
    else find(id).removeAttribute("aria-current");
  }
}

/** Draws everything except the seeds; while they move, what does not show the place that they make. */
function draw() {
  const { game } = now;
  const { board, graph, moves, act } = view;
  const { place } = game;
  const shown = now.values;
  showMode(shown);
  document.body.classList.toggle("turned", now.bottom === "north");
  find("values").checked = shown;
  find("values-for").textContent = shown ? t("valuesFor", { side: name(now.bottom) }) : t("values");
  document.body.classList.toggle("hidden-values", !shown);
  find("status").textContent = status(place);
  if (isSowing()) return;
  if (board.labels !== shown) board.fit(shown);
  board.label(place, mayPlay(), shown, now.hinted === place || game.verdict === "wrong");
  showStrips(place);
  find("last").textContent = lastMove(place);
  const pits = place.raw().rows[0].length;
  const { answer } = place;
  if (shown && answer?.line) {
    /** @param {number} pit @param {number} turn */
    const labelOf = (pit, turn) => pitName(turn % 2 === 0 ? place.side : other(place.side), pit);
    showLine(find("line"), answer.line, pits, act.playLine, labelOf);
  } else {
    find("line").dataset.line = "";
    find("line").textContent = shown && answer && !place.finished ? t("noLine") : "–";
  }
  // A line of the book ends where the book ends.
  find("line").classList.toggle(
    "goes-on",
    Boolean(shown && answer?.line_open),
  );
  find("task").hidden = !game.puzzle && !game.message;
  find("task").className = game.verdict ?? "";
  // The task says who is to move.
  find("status").hidden = Boolean(game.puzzle) && !shown && !place.finished;
  find("task").textContent = game.message ?? (game.puzzle ? task(game.puzzle, game.root.side) : "");
  const about = t("about", { rules: ruleName(game.rules), n: pits });
  find("about").textContent = t(now.server.here ? "engineHere" : "engineServer", { about });
  showButtons(place, shown);
  document.body.classList.toggle("many", pits > 8);
  if (shown) graph.draw(game);
  setBar(find("bar"), place);
  moves.update(game, shown);
  find("moves-note").textContent = t(game.root.after.length > 0 ? "movesNote" : "movesNone");
  showComment(place);
  showExplorer(place, { playable: mayPlay(), values: shown }, (move) => act.playLine([move]));
}

/** Lays everything out again in the available space. */
export function fit() {
  view.board.fit(now.values);
  view.moves.reveal(view.moves.here);
  document.documentElement.style.setProperty("--board-high", `${find("board").offsetHeight}px`);
  if (now.values && now.game) view.graph.draw(now.game);
}
