// The page: a game, who plays it, what is known of it, and how it is shown.

import * as api from "./api.js";
import { analyse, isKnown, learn } from "./analysis.js";
import { Board } from "./board.js";
import { defaultRules, newGame, prepare, undisturbed } from "./dialogs.js";
import { setUp } from "./editor.js";
import { Game, other, parse, write } from "./game.js";
import { gameText } from "./gametext.js";
import { Graph, setBar } from "./graph.js";
import { listenToKeys } from "./keys.js";
import { showLine } from "./line.js";
import { copyLink, fragment, fromFragment } from "./link.js";
import { announce, setWork } from "./machine.js";
import { MoveList } from "./moves.js";
import { pause } from "./pace.js";
import { MIDDLE, chosenPlayer, fillPlayers, isPlayer, setPrograms, showPlayer } from "./players.js";
import { preparePreferences } from "./preferences.js";
import { askPuzzle, task, tryMove } from "./puzzle.js";
import { openReport, tellReport } from "./report.js";
import { showRules } from "./rules.js";
import { remember, settings } from "./settings.js";
import { sow } from "./sow.js";
import { ending, happened, language, name, origin, t, tell, translate } from "./words.js";

/** Seconds of a longer analysis. */
const LONG = 60;

const find = (id) => document.getElementById(id);
const space = () => {
  const width = find("board").parentElement.clientWidth;
  const short = matchMedia("(max-height: 32rem) and (orientation: landscape)").matches;
  return { width, height: short ? innerHeight - 24 : 0.62 * innerHeight };
};
const board = new Board(find("board"), (side, pit) => choose(side, pit), space);
const graph = new Graph(find("graph"), (at) => goTo(game.places[at]));
const moveList = new MoveList(find("moves"), (place) => goTo(place));
const players = { south: "human", north: "perfect" };
let server, game;
/** Ends what is asked of the server for the place that was shown before. */
let asking = new AbortController();
/** A number that changes with every step: what began earlier has nothing to say any more. */
let turn = 0;
/** Whether seeds are moving. */
let sowing = false;
/** Whether the shown place was reached by playing, so that a program goes on from it. */
let played = true;
let paused = false;
/** When the last move was shown. */
let shownAt = 0;

const isHuman = (place) => players[place.side] === "human";
const isProgram = (place) => !place.finished && !isHuman(place);
/** Whether a program moves here by itself: not where somebody only looks at a game. */
const goesOn = (place) => isProgram(place) && !paused && (played || place.after.length === 0);
const mayPlay = () => !sowing && !game.place.finished && !goesOn(game.place);
const values = () => find("values").checked;

function fail(error) {
  if (error.name === "AbortError") return;
  find("error").textContent = error.message;
  find("error").hidden = false;
}

const forgive = () => (find("error").hidden = true);

/** Whose turn it is, and what is known. */
function status(place) {
  if (place.finished) return ending(place);
  const { answer, side } = place;
  if (!answer || !values()) return `${t("toMove", { side: name(side) })}.`;
  return t("toMoveValue", { side: name(side), value: tell(answer).full, origin: origin(answer) });
}

/** Whether the other side may exchange the sides now: after the first turn. */
const mayExchange = (place) =>
  game.pie === "open" && place.before !== undefined && !place.finished && place.side !== game.root.side &&
  game.places.slice(0, game.at).every((before) => before.side === game.root.side);

/** Shows all that is known now, the seeds aside. */
function tellAll() {
  const { place } = game;
  const shown = values();
  board.label(place, mayPlay(), shown);
  find("status").textContent = status(place);
  find("last").textContent = place.by ? t("lastMove", { text: happened(place) }) : "";
  const pits = place.raw().rows[0].length;
  const { answer } = place;
  if (shown && answer?.line) {
    showLine(find("line"), answer.line, pits, playLine, (pit) => t("moveLabel", { side: "", pit }).trim());
  } else {
    find("line").dataset.line = "";
    find("line").textContent = shown && answer && !place.finished ? t("noLine") : "–";
  }
  find("task").hidden = !game.puzzle;
  if (game.puzzle) find("task").textContent = game.told ?? task(game.puzzle, game.root.side);
  find("about").textContent = t("about", { rules: game.rules, n: pits });
  find("undo").disabled = !place.before;
  find("redo").disabled = !place.chosen;
  find("report").disabled = game.places.length < 2;
  find("hint").hidden = shown || !mayPlay();
  find("longer").hidden = !shown || place.finished || !answer || isKnown(place);
  find("pause").hidden = players.south === "human" && players.north === "human";
  find("pause").textContent = t(paused ? "resume" : "pause");
  find("pause").setAttribute("aria-pressed", String(paused));
  find("go").hidden = !isProgram(place) || goesOn(place) || sowing || paused;
  find("go").textContent = t("go", { side: name(place.side) });
  const exchange = mayExchange(place) && isHuman(place) && !sowing;
  find("swap").hidden = !exchange;
  find("pie").hidden = !exchange;
  find("pie").textContent = exchange ? t("pieNow", { side: name(place.side) }) : "";
  document.body.classList.toggle("hidden-values", !shown);
  document.body.classList.toggle("many", pits > 8);
  if (shown) graph.draw(game);
  setBar(find("bar"), place);
  moveList.update(game, shown);
}

/** Keeps the game in the address; `push`: so that the browser's Back returns to what was shown before. */
function keep(push) {
  const link = `#${fragment(game, players, game.pie ? { pie: game.pie } : {})}`;
  if (link !== location.hash) history[push ? "pushState" : "replaceState"](null, "", link);
}

/** Shows the place where the game is, asks what is known of it, and lets its player move. */
function arrive(push = false) {
  turn += 1;
  asking.abort();
  asking = new AbortController();
  sowing = false;
  find("next").hidden = true;
  setWork();
  const { place } = game;
  board.show(place, mayPlay(), values());
  tellAll();
  keep(push);
  shownAt = performance.now();
  const { signal } = asking;
  const told = () => {
    if (sowing) find("status").textContent = status(game.place);
    else tellAll();
  };
  if (goesOn(place)) {
    letProgramMove(place, turn).catch(fail);
  } else {
    learn(game, place, signal, values(), told)
      .then(() => values() && analyse(game, signal, told)).catch(fail);
  }
}

async function letProgramMove(place, begun) {
  const { signal } = asking;
  await undisturbed();
  if (begun !== turn) return;
  setWork(t("thinking", { side: name(place.side) }));
  const told = () => begun === turn && tellAll();
  await learn(game, place, signal, false, told);
  if (begun !== turn || place.finished) return setWork();
  if (mayExchange(place) && (place.answer.value ?? place.answer.estimate ?? 0) < 0) return exchange();
  const choice = await api.move(place.literal, game.rules, players[place.side], settings.time, signal);
  setWork();
  await pause(shownAt, signal);
  await undisturbed();
  if (begun === turn) await make(choice);
}

/** Plays a move that the server described; `push` as in `keep`. */
async function make(move, push = false) {
  turn += 1;
  asking.abort();
  const begun = turn;
  played = true;
  const place = game.play(move);
  sowing = true;
  if (game.puzzle && place.before === game.root) game.told = tryMove(game.puzzle, move.move);
  // Before anything is seen to move, so that the move is kept if the page is left meanwhile.
  keep(push);
  board.label(place.before, false, false);
  announce(`${happened(place)} ${place.finished ? ending(place) : `${t("toMove", { side: name(place.side) })}.`} ${game.told ?? ""}`);
  const whole = await sow(board, place);
  if (whole && begun === turn) arrive();
}

/** A person chose a pit. */
function choose(side, pit) {
  const { place } = game;
  if (side !== place.side || !mayPlay()) return;
  forgive();
  const known = place.answer?.moves.find((move) => move.move === pit && move.next);
  if (known) {
    make(known, true).catch(fail);
    return;
  }
  // Not known yet: the line of this one move tells what it does.
  api.line(place.literal, game.rules, [pit]).then(({ places }) => {
    if (place === game.place && mayPlay()) return make(places[0], true);
  }).catch(fail);
}

/** Shows a place of the game. */
function goTo(place) {
  forgive();
  played = false;
  game.show(place);
  arrive(true);
  announce(`${place.by ? happened(place) : ""} ${status(place)}`);
}

/** The next place in a direction where a person is to move, or the end. */
function step(by) {
  const next = (place) => (by < 0 ? place.before : place.chosen);
  let place = next(game.place);
  if (!place) return;
  if (players.south === "human" || players.north === "human") while (!isHuman(place) && next(place)) place = next(place);
  goTo(place);
}

/** Adds moves from a place to the tree. */
async function graft(from, moves) {
  const { places } = await api.line(from.literal, game.rules, moves);
  game.show(from);
  for (const place of places.slice(0, -1)) game.play(place);
}

/** Plays the first moves of the line that is shown, beside those that were played. */
async function playLine(moves) {
  const from = game.place;
  try {
    await graft(from, moves);
    goTo(game.place);
  } catch (error) {
    fail(error);
  }
}

/** Begins a game, or takes up a shared one. */
async function begin({ rules, board: text, side, moves = [], at = 0, also = [], pie, puzzle }, push = false) {
  turn += 1;
  const begun = turn;
  asking.abort();
  const start = parse(text);
  const small = start && start.rows[0].length <= server.pits && start.rows.flat().reduce((sum, count) => sum + count, 0) <= server.seeds;
  const known = small && moves.length === 0 && server.rules.includes(rules);
  const places = known ? [{ position: write(start) }] : (await api.line(text, rules, moves)).places;
  if (begun !== turn) return;
  game = new Game(rules, places[0].position, side);
  game.pie = pie;
  game.puzzle = puzzle;
  game.pending = [...also];
  for (const place of places.slice(0, -1)) game.play(place);
  game.show(game.places[at] ?? game.root);
  played = false;
  paused = false;
  arrive(push);
  const to = game;
  for (const path of also) {
    await addVariation(to, path).catch((error) => fail(new Error(t("badMoves", { reason: error.message }))));
  }
}

/** Adds a line from the start to the tree of a game, if it is still there; what is shown stays. */
async function addVariation(to, path) {
  const { places } = await api.line(to.root.literal, to.rules, path).finally(() => to.pending.shift());
  if (game !== to) return;
  const [now, end] = [game.place, game.places.at(-1)];
  game.show(game.root);
  for (const place of places.slice(0, -1)) game.play(place);
  game.show(end);
  game.show(now);
  tellAll();
  keep();
}

/** Begins the game of a link; says what is wrong with it, and begins another one if that cannot be played. */
async function load(push = false) {
  const shared = fromFragment(location.hash.slice(1));
  if (!shared.board) {
    if (settings.values === undefined) remember({ values: false });
    find("values").checked = settings.values;
    return begin(beginning(), push);
  }
  for (const side of ["south", "north"]) {
    shared.players[side] ??= { south: "human", north: "perfect" }[side];
    const player = shared.players[side];
    if (!isPlayer(player)) fail(new Error(t("unknownPlayer", { player })));
  }
  setPlayers(shared.players.south, shared.players.north);
  find("values").checked = shared.values ? shared.values !== "off" : settings.values ?? true;
  const asked = { ...shared, rules: shared.rules ?? server.rules[0] };
  try {
    await begin(asked, push);
  } catch (error) {
    if (error.code === "line" || error.code === "request") {
      fail(new Error(t("badMoves", { reason: error.message })));
      await begin({ ...asked, moves: [], at: 0, also: [] }, push).catch((error) => (fail(error), begin(beginning(), push)));
    } else {
      fail(error);
      await begin(beginning(), push);
    }
  }
}

/** The last new game, or one that a beginner can enjoy. */
const lastGame = () => ({ rules: server.default, pits: 6, seeds: 4, first: "south", you: "south", opponent: MIDDLE, time: server.time, ...settings.game });

/** Sets who plays, a person where the server does not have a player. */
function setPlayers(south, north) {
  for (const [side, player] of [["south", south], ["north", north]]) {
    players[side] = isPlayer(player) ? player : "human";
    showPlayer(find(side), find(`${side}-number`), players[side]);
  }
}

/** Sets the players of a new game, and says how it begins. */
function beginning(asked = lastGame()) {
  const of = (side) => (asked.you === side || asked.you === "both" ? "human" : asked.opponent);
  setPlayers(of("south"), of("north"));
  return { rules: asked.rules, board: `${asked.pits}x${asked.seeds}`, side: asked.first, pie: asked.pie ? "open" : undefined };
}

/** The sides change their players, by the pie rule. */
function exchange() {
  setPlayers(players.north, players.south);
  game.pie = "swapped";
  played = true;
  arrive(true);
  announce(t("swapped"));
}

async function askNewGame() {
  const you = players.south === "human" ? (players.north === "human" ? "both" : "south") : players.north === "human" ? "north" : "none";
  const opponent = [players.north, players.south].find((player) => player !== "human") ?? lastGame().opponent;
  const { rows } = game.root.raw();
  const even = new Set(rows.flat()).size === 1 ? { pits: rows[0].length, seeds: rows[0][0] } : {};
  const asked = await newGame({ ...lastGame(), ...even, rules: game.rules, first: game.root.side, you, opponent, pie: game.pie });
  if (!asked) return;
  const { board, time, ...kept } = asked;
  remember({ game: kept, time });
  forgive();
  if (game.puzzle) find("values").checked = settings.values ?? true;
  await begin({ ...beginning(asked), board }, true);
}

async function report() {
  const { places } = game;
  const begun = new AbortController();
  const done = () => places.filter((place) => place.answer).length;
  const tellDone = () => tellReport(places, done(), goTo);
  const closed = openReport();
  tellDone();
  closed.then(() => begun.abort());
  await analyse(game, begun.signal, tellDone);
  tellAll();
}

function hint() {
  const { place } = game;
  if (!mayPlay()) return;
  learn(game, place, asking.signal, false, () => {}).then(() => place === game.place && board.label(place, mayPlay(), values(), true)).catch(fail);
}

async function longer() {
  const { place } = game;
  find("longer").hidden = true;
  await learn(game, place, asking.signal, LONG, () => place === game.place && tellAll());
}

function listen() {
  const click = (id, run) => find(id).addEventListener("click", () => Promise.resolve(run()).catch(fail));
  click("undo", () => step(-1));
  click("redo", () => step(1));
  click("share", () => copyLink(values()));
  click("hint", hint);
  click("report", report);
  click("longer", longer);
  click("swap", exchange);
  click("new", askNewGame);
  click("rules", () => showRules(server.rule_sets.find((set) => set.name === game.rules), fail));
  click("puzzle", async () => {
    const puzzle = await askPuzzle(game.rules);
    if (!puzzle) return;
    setPlayers("human", "human");
    find("values").checked = false;
    await begin({ rules: puzzle.rules, board: puzzle.position, side: "south", puzzle }, true);
    announce(task(puzzle, "south"));
  });
  click("go", () => {
    played = true;
    arrive();
  });
  click("pause", () => {
    paused = !paused;
    arrive();
  });
  click("text", async () => {
    const asked = await gameText(game, players, fail);
    if (asked) await begin(asked, true);
  });
  click("edit", async () => {
    const asked = await setUp(game.rules, game.place);
    forgive();
    if (asked) await begin(asked, true);
  });
  find("values").addEventListener("change", () => {
    remember({ values: values() });
    if (goesOn(game.place)) tellAll();
    else arrive();
  });
  for (const side of ["south", "north"]) {
    const changed = () => {
      players[side] = chosenPlayer(find(side), find(`${side}-number`));
      showPlayer(find(side), find(`${side}-number`), players[side]);
      arrive();
    };
    find(side).addEventListener("change", changed);
    find(`${side}-number`).addEventListener("change", changed);
  }
  listenToKeys({ pits: () => board.pits, walk: (by) => board.walk(by), sow: (pit) => choose(game.place.side, pit), hint, step });
  new ResizeObserver(() => {
    board.fit(values());
    if (values()) graph.draw(game);
  }).observe(find("board").parentElement);
  addEventListener("resize", () => board.fit(values()));
  addEventListener("hashchange", () => {
    const asked = fromFragment(location.hash.slice(1));
    const same = game.rules === asked.rules && game.root.literal === asked.board && game.root.side === asked.side;
    const place = same && game.find(asked.moves.slice(0, asked.at));
    if (!place) return load().catch(fail);
    played = false;
    game.show(place);
    arrive();
  });
}

async function start() {
  document.documentElement.lang = language;
  translate(document);
  const [told, tables] = await Promise.all([api.server(), api.tables()]);
  server = { ...told, default: defaultRules(told, tables) };
  setPrograms(server.players);
  for (const side of ["south", "north"]) fillPlayers(find(side));
  prepare(server);
  preparePreferences(() => board.fit());
  await load();
  listen();
}

start().catch(fail);
