// The keyboard: a number sows a pit, arrows move through the game or along the row, letters stand for buttons.

import { find } from "./elements.js";
import { announce, setWork } from "./machine.js";
import { settings } from "./settings.js";
import { t } from "./words.js";

/** Milliseconds to wait for a second digit, with ten pits or more. */
const PATIENCE = 900;

/** Keys that move through the game. @type {Partial<Record<string, "first" | "back" | "on" | "last">>} */
const BROWSE = { home: "first", arrowleft: "back", u: "back", arrowright: "on", r: "on", end: "last" };

/**
 * Listens to keys, with the number of `pits` and the actions. Arrows move along the row while a pit has the focus,
 * unless a pointer put it there.
 * @param {{
 *   pits: () => number,
 *   walk: (by: 1 | -1) => void,
 *   sow: (pit: number) => void,
 *   hint: () => void,
 *   browse: (to: "first" | "back" | "on" | "last") => void,
 *   turn: () => void,
 *   nextMistake: () => void,
 * }} does
 */
export function listenToKeys({ pits, walk, sow, hint, browse, turn, nextMistake }) {
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
    if (pit >= 1 && pit <= pits()) sow(pit);
  };
  /** @param {string} digit */
  const type = (digit) => {
    clearTimeout(timer);
    digits += digit;
    // No further digit can follow, or none came in time.
    if (Number(digits) * 10 > pits() || digits.length === 2) {
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
    if (event.target instanceof Element && event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    const key = event.key.toLowerCase();
    // For people who speak to the computer or hit keys by chance: they can turn single keys off.
    if (key.length === 1 && !settings.keys) return;
    const inRow = !pointed && event.target instanceof Element && event.target.matches(".pit");
    if (/^\d$/.test(key) && (digits || key !== "0")) type(key);
    else if (key === "enter" && digits) sowTyped();
    else if (inRow && key === "arrowright") walk(1);
    else if (inRow && key === "arrowleft") walk(-1);
    else if (BROWSE[key]) browse(BROWSE[key]);
    else if (key === "h") hint();
    else if (key === "f") turn();
    else if (key === "m") nextMistake();
    else if (key === "?") find("keys-dialog").showModal();
    else return;
    event.preventDefault();
  });
}
