// The report of a game: losses of each side's moves.

import { find } from "./find.js";
import { SIDES, isReached } from "./game.js";
import { loss, mistake } from "./loss.js";
import { onTab, openTab } from "./tabs.js";
import { language, pitName, t } from "./words.js";

/** @import { Key } from "./texts.js" */

/**
 * Returns the losses of a side's moves, counted as the server counts them: without moves that have no choice, and
 * without those whose values are not proved.
 * @param {Place[]} places
 * @param {Side} side
 */
export function evaluate(places, side) {
  const moves = places.filter(({ before }) => before?.side === side && before.answer?.moves.length !== 1);
  const lost = moves.map(loss).flatMap((lost) => (lost?.exact ? [lost] : []));
  const exact = lost.filter(({ seeds }) => seeds === 0).length;
  const total = lost.reduce((sum, { seeds }) => sum + seeds, 0);
  return {
    moves: moves.length,
    exact,
    slips: lost.filter(({ seeds, turns }) => seeds > 0 && !turns).length,
    blunders: lost.filter(({ turns }) => turns).length,
    open: moves.length - lost.length,
    lost: lost.length > 0 ? total / lost.length : undefined,
    accuracy: lost.length > 0 ? (100 * exact) / lost.length : undefined,
  };
}

const TWO_DIGITS = { minimumFractionDigits: 2, maximumFractionDigits: 2 };

/** @type {[Key, (evaluated: ReturnType<typeof evaluate>) => string | number][]} */
const ROWS = [
  ["reportMoves", ({ moves }) => moves],
  ["reportExact", ({ exact }) => exact],
  ["reportSlips", ({ slips }) => slips],
  ["reportBlunders", ({ blunders }) => blunders],
  ["reportOpen", ({ open }) => open],
  ["reportLost", ({ lost }) => lost?.toLocaleString(language(), TWO_DIGITS) ?? "–"],
  [
    "reportAccuracy",
    ({ accuracy }) =>
      accuracy === undefined ? "–" : (accuracy / 100).toLocaleString(language(), { style: "percent" }),
  ],
];

/**
 * Shows the report of a line; `done` of its positions are proved, with all moves.
 * @param {Place[]} places
 * @param {number} done
 * @param {(place: Place) => void} goTo
 */
export function tellReport(places, done, goTo) {
  const sides = SIDES.map((side) => evaluate(places, side));
  const rows = ROWS.map(([key, of]) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = t(key);
    const cells = sides.map((side) => {
      const cell = document.createElement("td");
      cell.textContent = String(of(side));
      return cell;
    });
    row.append(head, ...cells);
    return row;
  });
  find("report-rows").replaceChildren(...rows);
  const working = done < places.length;
  find("report-progress").max = places.length;
  find("report-progress").value = done;
  find("report-progress").hidden = !working;
  const wrong = places.filter(isReached).flatMap((place) => {
    const lost = mistake(place);
    return lost ? [{ place, ...lost }] : [];
  });
  find("report-state").textContent = working
    ? t("reportWorking", { n: done, all: places.length })
    : wrong.length === 0
      ? t("reportNone")
      : "";
  const items = wrong.map(({ place, seeds, turns, exact }) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = turns ? "blunder" : "slip";
    const move = pitName(place.before.side, place.by.move);
    const lost = t(exact ? "moveLost" : "moveLostAtLeast", { n: seeds });
    button.textContent = `${place.path.length}. ${move}: ${lost}`;
    button.addEventListener("click", () => goTo(place.before));
    item.append(button);
    return item;
  });
  find("report-list").replaceChildren(...items);
}

/** Ends the wait of the last report. */
let close = () => {};

/** Empties the report; resolves when it is closed, or begun anew. @returns {Promise<void>} */
export function openReport() {
  find("report-list").replaceChildren();
  close();
  return new Promise((done) => (close = done));
}

/** Makes the end of the report known when another tab is opened. */
export function listenToReport() {
  onTab((tab) => tab !== "report" && close());
}

/** Opens the tab of the report. */
export const showReport = () => openTab("report");
