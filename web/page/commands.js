// Actions of the buttons of the page.

import { analyse, learn } from "./analysis.js";
import { openGame, openPuzzle, usualGame, lastGame } from "./opening.js";
import { newGame, showRules } from "./dialogs.js";
import { setUp } from "./editor.js";
import { click, find, forgive } from "./elements.js";
import { other, shortest } from "./game.js";
import { gameText } from "./gametext.js";
import { teach } from "./lesson.js";
import { addressOf } from "./link.js";
import { announce, setWork } from "./machine.js";
import { nextMistake } from "./mistakes.js";
import { arrange, arrive, browse, exchange, goTo, linkOf, setPlayers, showValues, turnBoard } from "./play.js";
import { anotherPuzzle, askPuzzle, helped, named, resultText, task, todaysPuzzle } from "./puzzle.js";
import { enter, mayPlay, now, onlyPerson, players } from "./session.js";
import { remember, settings } from "./settings.js";
import { copy, share } from "./share.js";
import { store } from "./store.js";
import { openSheet, openTab } from "./tabs.js";
import { endWelcome } from "./cards.js";
import { t } from "./words.js";

/** Seconds of a longer analysis. */
const LONG = 60;

/** Asks for a new game, and begins it. */
export async function askNewGame() {
  const { game } = now;
  const you = onlyPerson() ?? (players.south === "human" ? "both" : "none");
  const opponent = [players.north, players.south].find((player) => player !== "human") ?? lastGame().opponent;
  const { rows } = game.root.raw();
  const even = !game.puzzle && new Set(rows.flat()).size === 1 ? { pits: rows[0].length, seeds: rows[0][0] } : {};
  const asked = await newGame({
    ...lastGame(),
    ...even,
    rules: game.rules,
    first: game.root.side,
    you,
    opponent,
    pie: game.pie,
  });
  if (!asked) return;
  const { board, time, ...chosen } = asked;
  remember({ game: chosen, time });
  forgive();
  if (game.puzzle) now.values = settings.values ?? true;
  await openGame({ ...usualGame(asked), board }, true);
}

/** Begins the same game again; the other side moves first where both have the same. @param {string} [opponent] */
async function rematch(opponent) {
  const { game } = now;
  const { rows, stores } = game.root.raw();
  const even = stores[0] === stores[1] && String(rows[0]) === String(rows[1]);
  const side = even ? other(game.root.side) : game.root.side;
  const you = onlyPerson();
  if (opponent && you) {
    if (you === "south") setPlayers("human", opponent);
    else setPlayers(opponent, "human");
    remember({ game: { ...settings.game, opponent } });
  }
  await openGame({ rules: game.rules, board: game.root.literal, side, pie: game.pie ? "open" : undefined }, true);
}

/** Marks the best moves, and goes on until they are proved. */
export async function hint() {
  const { game } = now;
  const { place } = game;
  if (!mayPlay()) return;
  if (game.puzzle) {
    helped(game);
    store.change();
  }
  const isProved = () => place.answer?.known === "exact";
  const mark = () => {
    if (place !== now.game.place) return;
    now.hinted = place;
    store.change();
    setWork(t(isProved() ? "hintProved" : "hintProbable"));
  };
  const { signal } = now.asking;
  await learn(game, place, signal, false, () => {});
  mark();
  if (!isProved()) {
    await learn(game, place, signal, LONG, mark, false);
    if (place === now.game.place && !isProved()) setWork(t("hintOpen"));
  }
}

/** Searches the shown position for longer. */
async function longer() {
  const { game } = now;
  const { place } = game;
  const { signal } = now.asking;
  await learn(game, place, signal, LONG, () => store.change());
  await analyse(game, signal, () => store.change());
}

/** Begins the puzzle of the day. */
export const playToday = () => puzzle(todaysPuzzle("standard"));

/** Begins the requested puzzle, if there is one. @param {Promise<Api.Puzzle | undefined>} asked */
async function puzzle(asked) {
  const found = await asked;
  if (!found) return;
  forgive();
  await openPuzzle(found);
  announce(task(found, "south"));
}

/** Listens to the buttons. */
export function listenToButtons() {
  click("undo", () => browse("back"));
  click("redo", () => browse("on"));
  // Not the address of the browser, which refuses some changes of it.
  click("share", () => copy("share", addressOf(linkOf(!now.values))));
  click("hint", hint);
  click("first", () => browse("first"));
  click("final", () => browse("last"));
  click("analyse", () => now.values || showValues());
  click("rematch", () => rematch());
  click("next-level", () => rematch(find("next-level").value));
  click("again", () => goTo(now.game.place.before ?? now.game.root));
  click("turn", turnBoard);
  for (const id of /** @type {const} */ (["mistakes", "next-mistake"])) click(id, nextMistake);
  for (const how of /** @type {const} */ (["promote", "remove", "restore"])) click(how, () => arrange(how));
  click("share-result", async () => {
    const { puzzle, root } = now.game;
    // Without the moves, which are the solution.
    const start = puzzle && `${shortest(root.literal)}&${new URLSearchParams(named(puzzle))}`;
    if (start) await share("share-result", resultText(puzzle), addressOf(start));
  });
  click("review", () => {
    find("end").close();
    if (!now.values) showValues();
    openSheet(true);
    openTab("report");
  });
  click("lesson", () => {
    find("rules-dialog").close();
    return teach();
  });
  click("longer", longer);
  click("swap", exchange);
  click("new", () => {
    endWelcome();
    return askNewGame();
  });
  click("rules", () => showRules(now.game.rules));
  click("puzzle", () => puzzle(askPuzzle(now.game.rules)));
  click("another", async () => {
    if (now.game.puzzle) await puzzle(anotherPuzzle(now.game.puzzle));
  });
  click("go", () => {
    enter("go");
    arrive();
  });
  click("pause", () => {
    enter("pause");
    arrive();
  });
  click("text", async () => {
    const asked = await gameText();
    if (asked) await openGame(asked, true);
  });
  click("edit", async () => {
    const asked = await setUp();
    forgive();
    if (asked) await openGame(asked, true);
  });
}
