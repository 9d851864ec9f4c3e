// The page: a game, who plays it, what is known of it, and how it is shown.

import * as api from "./api.js";
import { Board } from "./board.js";
import { explainRules, newGame, setUp } from "./editor.js";
import { Game, fragment, fromFragment, loss } from "./game.js";
import { draw } from "./graph.js";
import { name, origin, seeds, tell } from "./words.js";

/** Seconds of the first search of a position, so that there is something to see. */
const QUICK = 0.3;

const find = (id) => document.getElementById(id);
const board = new Board(find("board"), (side, pit) => choose(side, pit));
const players = { south: "human", north: "perfect" };
let game;
/** Ends what is asked of the server for the place that was shown before. */
let asking = new AbortController();
/** A number that changes with every step: what began earlier has nothing to say any more. */
let turn = 0;
/** Whether seeds are moving. */
let sowing = false;

const isHuman = (place) => players[place.side] === "human";
const mayPlay = () => !sowing && isHuman(game.place) && !game.place.finished;

function fail(error) {
  if (error.name === "AbortError") return;
  find("error").textContent = error.message;
  find("error").hidden = false;
}

/** Whose turn it is, and what is known. */
function status(place) {
  const { answer, side } = place;
  if (place.finished) {
    const { stores, rows } = place.board();
    const [south, north] = stores.map((store, index) => store + rows[index].reduce((sum, count) => sum + count, 0));
    const end = south === north ? "a draw" : `${south > north ? "South" : "North"} wins`;
    return `The game is over: ${end}, ${Math.max(south, north)} to ${Math.min(south, north)}.`;
  }
  const who = `${name(side)} to move`;
  if (!answer) return `${who}.`;
  if (!find("values").checked) return `${who}.`;
  return `${who}: ${tell(answer).full} (${origin(answer)}).`;
}

/** The moves as buttons, with what each lost. */
function listMoves() {
  const items = game.moves.map((move, index) => {
    const place = game.places[index];
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${place.side === "south" ? "S" : "N"} ${move}`;
    const lost = find("values").checked ? loss(place) : undefined;
    if (lost?.seeds > 0) {
      button.textContent += ` −${lost.seeds}`;
      button.className = lost.turns ? "blunder" : "slip";
      button.title = `${name(place.side)} lost ${seeds(lost.seeds)} of the final difference`;
    }
    if (index + 1 === game.at) button.setAttribute("aria-current", "step");
    button.addEventListener("click", () => goTo(index + 1));
    item.append(button);
    return item;
  });
  find("moves").replaceChildren(...items);
}

/** Shows all that is known now, the seeds aside. */
function tellAll() {
  const { place } = game;
  const shown = find("values").checked;
  board.label(place, mayPlay(), shown);
  find("status").textContent = status(place);
  const { answer } = place;
  find("line").textContent = shown && answer ? answer.line || (place.finished ? "–" : "No line is proved.") : "–";
  find("about").textContent = `Rules: ${game.rules}. ${place.board().rows[0].length} pits a side.`;
  find("undo").disabled = game.at === 0;
  find("redo").disabled = game.last;
  document.body.classList.toggle("hidden-values", !shown);
  draw(find("graph"), game, goTo);
  listMoves();
}

/** Shows the place where the game is, asks what is known of it, and lets its player move. */
function arrive() {
  turn += 1;
  asking.abort();
  asking = new AbortController();
  sowing = false;
  find("error").hidden = true;
  const { place } = game;
  board.show(place, mayPlay(), find("values").checked);
  tellAll();
  history.replaceState(null, "", `#${fragment(game, players)}`);
  const { signal } = asking;
  if (game.last && !place.finished && !isHuman(place)) {
    const begun = turn;
    learn(place, signal, [QUICK]).then(() => !place.finished && letPlayerMove(place, begun)).catch(fail);
  } else {
    learn(place, signal).then(() => learnOthers(signal)).catch(fail);
  }
}

/** Asks what is known of a place: first what is known quickly, then what can be proved. The server goes on where it was. */
async function learn(place, signal, times = [QUICK, undefined, undefined, undefined]) {
  for (const time of times) {
    if (isKnown(place)) return;
    place.answer = await api.position(place.literal, game.rules, time, signal);
    place.over = place.answer.finished ?? false;
    if (place === game.place) {
      if (!sowing) tellAll();
      else find("status").textContent = status(place);
    }
  }
}

/** Whether the server has no more to say of a place. */
const isKnown = ({ answer }) =>
  answer !== undefined && answer.known === "exact" && answer.moves.every((move) => move.known === "exact");

/** Learns something of the places that were never shown, such as those of a shared game. */
async function learnOthers(signal) {
  for (const place of game.places) {
    if (place.answer) continue;
    await learn(place, signal, [QUICK]);
    tellAll();
  }
}

async function letPlayerMove(place, begun) {
  const { signal } = asking;
  const choice = await api.move(place.literal, game.rules, players[place.side], signal);
  if (begun === turn) await make(choice);
}

/** Plays a move that the server described. */
async function make(move) {
  turn += 1;
  const begun = turn;
  const { side } = game.place;
  game.play(move);
  sowing = true;
  board.label(game.places[game.at - 1], false, false);
  const whole = await board.sow(side, move);
  if (whole && begun === turn) arrive();
}

/** A person chose a pit. */
function choose(side, pit) {
  const { place } = game;
  if (side !== place.side || !mayPlay()) return;
  const known = place.answer?.moves.find((move) => move.move === pit);
  if (known) {
    make(known).catch(fail);
    return;
  }
  // Not known yet: the line of this one move tells what it does.
  api.line(place.literal, game.rules, [pit]).then(({ places }) => {
    if (place === game.place && mayPlay()) return make(places[0]);
  }).catch(fail);
}

function goTo(at) {
  game.at = Math.max(0, Math.min(game.places.length - 1, at));
  arrive();
}

/** The next place in a direction where a person is to move, or the end. */
function step(by) {
  if (players.south !== "human" && players.north !== "human") return goTo(game.at + by);
  let at = game.at + by;
  while (at > 0 && at < game.places.length - 1 && !isHuman(game.places[at])) at += by;
  return goTo(at);
}

/** Begins a game, or takes up a shared one. */
async function begin({ rules, board: literal, side, moves = [], at = 0 }) {
  turn += 1;
  asking.abort();
  const { places } = await api.line(literal, rules, moves);
  game = new Game(rules, places[0].position, side);
  for (const place of places.slice(0, -1)) game.play(place);
  game.at = Math.max(0, Math.min(game.places.length - 1, at || 0));
  arrive();
}

/** Shows who plays a side. */
function showPlayer(side) {
  const [kind, number] = players[side].split(":");
  const select = find(side);
  const option = [...select.options].find((option) => option.value.split(":")[0] === kind);
  if (option) select.value = option.value;
  const field = find(`${side}-number`);
  if (number !== undefined) field.value = number;
  field.parentElement.hidden = !select.value.endsWith(":D");
}

function changePlayer(side) {
  const kind = find(side).value;
  players[side] = kind.endsWith(":D") ? kind.replace("D", Number(find(`${side}-number`).value) || 1) : kind;
  showPlayer(side);
  arrive();
}

async function copyLink() {
  const button = find("share");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy it from the address bar";
  }
  setTimeout(() => (button.textContent = "Copy link"), 2000);
}

function onKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (event.target.matches("input:not([type=checkbox]), select")) return;
  if (/^[1-9]$/.test(event.key)) choose(game.place.side, Number(event.key));
  else if (event.key === "ArrowRight") board.walk(1);
  else if (event.key === "ArrowLeft") board.walk(-1);
  else if (event.key.toLowerCase() === "u" && !find("undo").disabled) step(-1);
  else if (event.key.toLowerCase() === "r" && !find("redo").disabled) step(1);
  else return;
  event.preventDefault();
}

async function start() {
  const server = await api.server();
  for (const select of document.querySelectorAll("select.rules")) {
    select.replaceChildren(...server.rules.map((rules) => new Option(rules)));
  }
  explainRules(server.rule_sets);
  const kinds = ["human", ...server.players.map((player) => player.replace(":SEED", ""))];
  for (const side of ["south", "north"]) {
    find(side).replaceChildren(...kinds.map((kind) => new Option(kind.replace(":D", ""), kind)));
    find(side).addEventListener("change", () => changePlayer(side));
    find(`${side}-number`).addEventListener("change", () => changePlayer(side));
  }
  find("undo").addEventListener("click", () => step(-1));
  find("redo").addEventListener("click", () => step(1));
  find("share").addEventListener("click", copyLink);
  find("values").addEventListener("change", tellAll);
  find("new").addEventListener("click", async () => {
    const asked = await newGame(game.rules);
    if (asked) begin(asked).catch(fail);
  });
  find("edit").addEventListener("click", async () => {
    const asked = await setUp(game.rules, game.place);
    if (asked) begin(asked).catch(fail);
  });
  document.addEventListener("keydown", onKey);
  addEventListener("resize", () => game && draw(find("graph"), game, goTo));

  const load = () => {
    const shared = fromFragment(location.hash.slice(1));
    Object.assign(players, shared.players);
    for (const side of ["south", "north"]) showPlayer(side);
    const rules = shared.rules ?? server.rules[0];
    return begin({ ...shared, rules, board: shared.board ?? "6x4" });
  };
  addEventListener("hashchange", () => load().catch(fail));
  await load();
}

start().catch(fail);
