// The rules in a minute: an explanation of a rule set, and three moves to try.

import * as api from "./api.js";
import { Board } from "./board.js";
import { ask } from "./dialogs.js";
import { around, find } from "./find.js";
import { Game } from "./game.js";
import { sow } from "./sow.js";
import { explain, happened, ruleName, t } from "./words.js";

/** Examples, each with a board literal and the pit to sow. @type {Record<string, [board: string, pit: number]>} */
const EXAMPLES = {
  sow: ["<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>", 5],
  store: ["<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>", 3],
  empty: ["<6,8,7,2,5,0,6,0,1,0,3,1,4,5,6>", 1],
};

/** @type {Board} */
let board;
/** @type {Game} */
let game;
let [rules, shown] = ["", ""];

/** Buttons of the examples. @returns {NodeListOf<HTMLElement>} */
const buttons = () => document.querySelectorAll("[data-example]");

/** Shows an example before its move. @param {string} key */
function begin(key) {
  const [literal, pit] = EXAMPLES[key];
  game = new Game(rules, literal, "south");
  shown = key;
  board.show(game.place, true, false);
  board.hole("south", pit).element.classList.add("hint");
  find("rules-do").textContent = t("example", { pit });
  for (const button of buttons()) {
    button.setAttribute("aria-pressed", String(button.dataset.example === key));
  }
}

/** @param {Side} side @param {number} pit */
async function play(side, pit) {
  if (side !== "south" || game.place.before) return;
  const { places } = await api.line(game.place.literal, rules, [pit]);
  if (game.place.before) return;
  const place = game.play(places[0]);
  board.label(place.before, false, false);
  if (!(await sow(board, place)) || place !== game.place) return;
  board.show(place, false, false);
  find("rules-do").textContent = happened(place);
}

/**
 * Shows the rules of a rule set of the server's list.
 * @param {Api.RuleSet} ruleSet
 * @param {(error: Error) => void} fail
 */
export async function showRules(ruleSet, fail) {
  rules = ruleSet.name;
  find("rules-name").textContent = ruleName(rules);
  find("rules-told").textContent = explain(ruleSet);
  const shownIn = find("rules-board");
  board ??= new Board(
    shownIn,
    (side, pit) => play(side, pit).catch(fail),
    () => ({ width: around(shownIn).clientWidth, height: 236 }),
  );
  const closed = ask(find("rules-dialog"));
  begin("sow");
  board.fit(false);
  await closed;
}

/** Listens to the buttons of the examples. */
export function listenToRules() {
  for (const button of buttons()) button.addEventListener("click", () => begin(button.dataset.example ?? shown));
  find("rules-again").addEventListener("click", () => begin(shown));
}
