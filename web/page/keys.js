// The keyboard: a number sows a pit, arrows move through the game or along the row, letters stand for buttons.

import { hint } from "./commands.js";
import { fail, find } from "./elements.js";
import { announce, setWork } from "./machine.js";
import { nextMistake } from "./mistakes.js";
import { browse, choose, turnBoard } from "./play.js";
import { now } from "./session.js";
import { settings } from "./settings.js";
import { view } from "./view.js";
import { t } from "./words.js";

/** @import { Step } from "./play.js" */

/** Milliseconds to wait for a second digit, with ten pits or more. */
const PATIENCE = 900;

/** Keys that move through the game, and further ones on its graph. @type {Partial<Record<string, Step>>} */
const BROWSE = { home: "first", arrowleft: "back", u: "back", arrowright: "on", r: "on", end: "last" };
/** @type {Partial<Record<string, Step>>} */
const ON_GRAPH = { arrowdown: "back", arrowup: "on" };

/** Listens to keys. Arrows move along the row while a pit has the focus, unless a pointer put it there. */
export function listenToKeys() {
  let [digits, pointed] = ["", false];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  document.addEventListener("pointerdown", () => (pointed = true));
  document.addEventListener("keyup", (event) => {
    if (event.key === "Tab") pointed = false;
  });
  const sowTyped = () => {
    clearTimeout(timer);
    const pit = Number(digits);
    digits = "";
    setWork();
    if (pit >= 1 && pit <= view.board.pits) choose(now.game.place.side, pit);
  };
  /** @param {string} digit */
  const type = (digit) => {
    clearTimeout(timer);
    digits += digit;
    // No further digit can follow, or none came in time.
    if (Number(digits) * 10 > view.board.pits || digits.length === 2) {
      sowTyped();
      return;
    }
    const text = t("typed", { digits });
    setWork(text);
    announce(text);
    timer = setTimeout(sowTyped, PATIENCE);
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (target.matches("input:not([type=checkbox]), select, textarea")) return;
    const key = event.key.toLowerCase();
    // For people who speak to the computer or hit keys by chance: they can turn single keys off.
    if (key.length === 1 && !settings.keys) return;
    const inRow = !pointed && target.matches(".pit");
    const step = BROWSE[key] ?? (target.matches(".graph") ? ON_GRAPH[key] : undefined);
    if (/^\d$/.test(key) && (digits || key !== "0")) type(key);
    else if (key === "enter" && digits) sowTyped();
    else if (inRow && key === "arrowright") view.board.walk(1);
    else if (inRow && key === "arrowleft") view.board.walk(-1);
    else if (step) browse(step);
    else if (key === "h") hint().catch(fail);
    else if (key === "f") turnBoard();
    else if (key === "m") nextMistake();
    else if (key === "?") find("keys-dialog").showModal();
    else return;
    event.preventDefault();
  });
}
