// Common parts of all dialogs, and the dialog of a new game.

import { around, find } from "./elements.js";
import { write } from "./game.js";
import { fillLevels, fillPlayers, showPlayer } from "./players.js";
import { now } from "./session.js";
import { explain, ruleName, t } from "./words.js";

/** Shows a dialog; resolves to true if it was left by its main button. @param {HTMLDialogElement} dialog */
export function ask(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return closed(dialog).then(() => dialog.returnValue === "ok");
}

/** @param {Element} dialog */
const closed = (dialog) => new Promise((done) => dialog.addEventListener("close", done, { once: true }));

/** Resolves when no dialog is open. */
export async function undisturbed() {
  for (;;) {
    const dialog = document.querySelector("dialog[open]");
    if (!dialog) return;
    await closed(dialog);
  }
}

/** Marks the face of the chosen opponent. */
let markLevel = () => {};

/** Prepares the dialogs for the server. */
export function prepareDialogs() {
  const { server } = now;
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog")?.close(""));
  }
  for (const select of [find("new-rules"), find("edit-rules")]) {
    select.replaceChildren(...server.rules.map((rules) => new Option(ruleName(rules), rules)));
  }
  fillPlayers(find("new-opponent"));
  markLevel = fillLevels(find("new-levels"), find("new-opponent"));
  find("versus-computer").addEventListener("change", () => choosePlayers("south"));
  find("versus-person").addEventListener("change", () => choosePlayers("both"));
  // A browser cannot show what is wrong with a hidden field.
  find("new-dialog").addEventListener("invalid", () => (find("new-more").open = true), true);
  for (const field of [find("new-pits"), find("edit-pits")]) field.max = String(server.pits);
  find("new-time").max = String(server.time);
  find("new-rules").addEventListener("change", explainNewRules);
  for (const field of [find("new-pits"), find("new-seeds")]) field.addEventListener("input", checkSize);
}

/** @param {NewGame["you"]} you */
function choosePlayers(you) {
  find("new-you").value = you;
  find("new-you").dispatchEvent(new Event("change"));
}

/** Shows the explanation of a rule set. @param {HTMLElement} element @param {string} name */
function explainRules(element, name) {
  const rules = now.server.rule_sets.find((rules) => rules.name === name);
  element.textContent = rules ? explain(rules) : "";
}

const explainNewRules = () => explainRules(find("new-rules-text"), find("new-rules").value);

/** Shows the rules of a rule set. @param {string} rules */
export function showRules(rules) {
  find("rules-name").textContent = ruleName(rules);
  explainRules(find("rules-text"), rules);
  return ask(find("rules-dialog"));
}

/** Rejects boards that the server refuses. */
function checkSize() {
  const [n, most] = [2 * Number(find("new-pits").value) * Number(find("new-seeds").value), now.server.seeds];
  find("new-seeds").setCustomValidity(n > most ? t("tooMany", { n, most }) : "");
}

/**
 * Asks for a new game, with the given settings at first. Resolves to the settings and `board`, its literal; undefined
 * without a new game.
 * @param {Omit<NewGame, "pie"> & { pie?: unknown }} given
 * @returns {Promise<NewGame & { board: string } | undefined>}
 */
export async function newGame(given) {
  for (const key of /** @type {const} */ (["rules", "pits", "seeds", "first", "you", "time"])) {
    if (given[key] !== undefined) find(`new-${key}`).value = String(given[key]);
  }
  showPlayer(find("new-opponent"), given.opponent);
  find("new-pie").checked = Boolean(given.pie);
  const opponent = () => {
    const both = find("new-you").value === "both";
    for (const field of [find("new-opponent"), find("new-time")]) around(field).hidden = both;
    find("new-levels").hidden = both;
    find(both ? "versus-person" : "versus-computer").checked = true;
    markLevel();
  };
  for (const field of [find("new-you"), find("new-opponent")]) field.onchange = opponent;
  opponent();
  explainNewRules();
  checkSize();
  if (!(await ask(find("new-dialog")))) return undefined;
  const [pits, seeds] = [find("new-pits"), find("new-seeds")].map((field) => Number(field.value));
  const row = Array(pits).fill(seeds);
  return {
    rules: find("new-rules").value,
    pits,
    seeds,
    first: /** @type {Side} */ (find("new-first").value),
    you: /** @type {NewGame["you"]} */ (find("new-you").value),
    opponent: find("new-opponent").value,
    time: Number(find("new-time").value) || undefined,
    pie: find("new-pie").checked,
    board: write({ stores: [0, 0], rows: [row, row] }),
  };
}
