// The page: actions of its buttons, keys and address.

import * as api from "./api.js";
import { analyse, isKnown, learn } from "./analysis.js";
import { begin, beginPuzzle, beginning, lastGame, load } from "./begin.js";
import { listenToComments } from "./comment.js";
import { defaultRules, newGame, prepare } from "./dialogs.js";
import { setUp } from "./editor.js";
import { around, find } from "./find.js";
import { closeEnd } from "./finish.js";
import { SIDES, other, parse } from "./game.js";
import { gameText } from "./gametext.js";
import { listenToKeys } from "./keys.js";
import { listenToLesson, teach } from "./lesson.js";
import { fromFragment } from "./link.js";
import { announce, setWork } from "./machine.js";
import { arrive, browse, choose, exchange, goTo, keep, step } from "./play.js";
import { chosenPlayer, fillPlayers, setPrograms, showPlayer } from "./players.js";
import { preparePreferences } from "./preferences.js";
import { anotherPuzzle, askPuzzle, helped, task } from "./puzzle.js";
import { listenToReport, openReport, showReport, tellReport } from "./report.js";
import { lastFragment } from "./resume.js";
import { showRules } from "./rules.js";
import { goesOn, mayPlay, now, players, values } from "./session.js";
import { remember, settings } from "./settings.js";
import { copyLink } from "./share.js";
import { isOpen, listenToPanel, onTab, openSheet } from "./tabs.js";
import { board, chosen, fail, fit, forgive, tellAll } from "./view.js";
import { endWelcome, listenToWelcome, showWelcome } from "./welcome.js";
import { language, t, translate } from "./words.js";

/** Seconds of a longer analysis. */
const LONG = 60;

async function askNewGame() {
  const { game } = now;
  const you =
    players.south === "human"
      ? players.north === "human"
        ? "both"
        : "south"
      : players.north === "human"
        ? "north"
        : "none";
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
  const { board, time, ...kept } = asked;
  remember({ game: kept, time });
  forgive();
  if (game.puzzle) find("values").checked = settings.values ?? true;
  await begin({ ...beginning(asked), board }, true);
}

/** Place at the end of the line of the last report. @type {Place | undefined} */
let reported;

async function report() {
  const { game } = now;
  const { places } = game;
  reported = places[places.length - 1];
  const begun = new AbortController();
  const done = () => places.filter(isKnown).length;
  const tellDone = () => tellReport(places, done(), goTo);
  const closed = openReport();
  tellDone();
  closed.then(() => begun.abort());
  await analyse(game, begun.signal, tellDone, true);
  tellAll();
}

/** Shows the values. */
function showValues() {
  if (values()) return;
  find("values").checked = true;
  find("values").dispatchEvent(new Event("change"));
}

/** Begins the same game again; the other side moves first where both have the same. */
async function rematch() {
  const { game } = now;
  const { rows, stores } = game.root.raw();
  const even = stores[0] === stores[1] && String(rows[0]) === String(rows[1]);
  const side = even ? other(game.root.side) : game.root.side;
  await begin({ rules: game.rules, board: game.root.literal, side, pie: game.pie ? "open" : undefined }, true);
}

async function hint() {
  const { game } = now;
  const { place } = game;
  if (!mayPlay()) return;
  if (game.puzzle) {
    helped(game);
    tellAll();
  }
  const isProved = () => place.answer?.known === "exact";
  const mark = () => {
    if (place !== now.game.place) return;
    board.label(place, mayPlay(), values(), true);
    setWork(t(isProved() ? "hintProved" : "hintProbable"));
  };
  const { signal } = now.asking;
  await learn(game, place, signal, false, () => {});
  mark();
  // Goes on until the hint is proved.
  if (!isProved()) {
    await learn(game, place, signal, LONG, mark, false);
    if (place === now.game.place && !isProved()) setWork(t("hintOpen"));
  }
}

async function longer() {
  const { game } = now;
  const { place } = game;
  find("longer").hidden = true;
  await learn(game, place, now.asking.signal, LONG, () => place === now.game.place && tellAll());
}

/** Begins the requested puzzle, if there is one. @param {Promise<Api.Puzzle | undefined>} asked */
async function puzzle(asked) {
  const found = await asked;
  if (!found) return;
  forgive();
  await beginPuzzle(found);
  announce(task(found, "south"));
}

function listenToButtons() {
  /** @param {keyof Elements} id @param {() => unknown} run */
  const click = (id, run) => find(id).addEventListener("click", () => Promise.resolve(run()).catch(fail));
  click("undo", () => step(-1));
  click("redo", () => step(1));
  click("share", () => copyLink(values()));
  click("hint", hint);
  click("first", () => browse("first"));
  click("final", () => browse("last"));
  click("analyse", showValues);
  click("rematch", rematch);
  click("end-close", () => closeEnd(now.game.place));
  click("review", () => {
    closeEnd(now.game.place);
    showValues();
    openSheet(true);
    showReport();
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
  click("rules", async () => {
    const ruleSet = now.server.rule_sets.find((set) => set.name === now.game.rules);
    if (ruleSet) await showRules(ruleSet, fail);
  });
  click("puzzle", () => puzzle(askPuzzle(now.game.rules)));
  click("another", async () => {
    if (now.game.puzzle) await puzzle(anotherPuzzle(now.game.puzzle));
  });
  click("go", () => {
    now.played = true;
    arrive();
  });
  click("pause", () => {
    now.paused = !now.paused;
    arrive();
  });
  click("text", async () => {
    const asked = await gameText(now.game, players, fail);
    if (asked) await begin(asked, true);
  });
  click("edit", async () => {
    const asked = await setUp(now.game.rules, now.game.place);
    forgive();
    if (asked) await begin(asked, true);
  });
}

function listen() {
  listenToButtons();
  listenToPanel();
  listenToReport();
  onTab((tab) => tab === "report" && report().catch(fail));
  chosen.arrived = () => {
    const { places } = now.game;
    endWelcome();
    if (isOpen("report") && reported !== places[places.length - 1]) report().catch(fail);
  };
  listenToWelcome({ play: () => askNewGame().catch(fail), learn: () => teach().catch(fail), analyse: showValues });
  listenToLesson(() => begin(beginning(), true).catch(fail));
  find("values").addEventListener("change", () => {
    remember({ values: values() });
    if (values()) helped(now.game);
    if (goesOn(now.game.place)) tellAll();
    else arrive();
  });
  for (const side of SIDES) {
    const changed = () => {
      players[side] = chosenPlayer(find(side), find(`${side}-number`));
      showPlayer(find(side), find(`${side}-number`), players[side]);
      arrive();
    };
    find(side).addEventListener("change", changed);
    find(`${side}-number`).addEventListener("change", changed);
  }
  listenToKeys({
    pits: () => board.pits,
    walk: (by) => board.walk(by),
    sow: (pit) => choose(now.game.place.side, pit),
    hint,
    step,
    browse,
  });
  listenToComments(
    () => now.game.place,
    () => {
      keep();
      tellAll();
    },
  );
  new ResizeObserver(fit).observe(around(find("board")));
  addEventListener("resize", fit);
  new ResizeObserver(() => values() && tellAll()).observe(find("graph"));
  addEventListener("hashchange", () => {
    expandLink();
    const { game } = now;
    const asked = fromFragment(location.hash.slice(1));
    const same =
      game.rules === asked.rules &&
      game.root.literal === asked.board &&
      game.root.side === asked.side &&
      game.pie === asked.pie;
    const place = same && game.find(asked.moves.slice(0, asked.at));
    if (!place) {
      load().catch(fail);
      return;
    }
    now.played = false;
    game.show(place);
    arrive();
  });
}

/** Gives a short link such as `#6x4` its full form. */
function expandLink() {
  const [, board, more] = /^#(\d{1,2}x\d{1,3})(&.*)?$/.exec(location.hash) ?? [];
  if (board) history.replaceState(null, "", `#board=${board}${more ?? ""}`);
}

/** Shows an empty board of the expected size, so that nothing moves when the server has answered. */
function showFrame() {
  const linked = location.hash.length > 1;
  const { board: text, values: shown, puzzle } = fromFragment(linked ? location.hash.slice(1) : lastFragment());
  const rows = text ? parse(text)?.rows : undefined;
  find("values").checked = shown ? shown !== "off" : puzzle ? false : (settings.values ?? (linked && Boolean(text)));
  document.body.classList.toggle("hidden-values", !values());
  const pits = rows?.[0].length ?? (text ? 6 : (settings.game?.pits ?? 6));
  document.body.classList.toggle("many", pits > 8);
  board.labels = values();
  board.build(Math.min(pits, 16));
  showWelcome();
  document.body.classList.add("ready");
}

async function start() {
  document.documentElement.lang = language;
  translate(document);
  expandLink();
  document.body.classList.toggle("large", settings.large);
  // A button that is clicked before the first answer works after it.
  const wanted = { button: /** @type {HTMLElement | null} */ (null) };
  /** @param {Event} event */
  const early = ({ target }) => {
    wanted.button = (target instanceof Element ? target.closest("button") : null) ?? wanted.button;
  };
  document.addEventListener("click", early);
  showFrame();
  const [told, tables] = await Promise.all([api.server(), api.tables()]);
  now.server = { ...told, default: defaultRules(told, tables) };
  setPrograms(now.server.players);
  for (const side of SIDES) fillPlayers(find(side));
  prepare(now.server);
  preparePreferences(() => board.fit());
  await load();
  listen();
  document.removeEventListener("click", early);
  wanted.button?.click();
}

start().catch(fail);
