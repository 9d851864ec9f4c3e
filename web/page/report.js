// The report of a game: losses of each side's moves.

import { find, make } from "./elements.js";
import { SIDES, isReached } from "./game.js";
import { evaluate, mark, turnLoss } from "./loss.js";
import { numberOf, turnsAmong } from "./tree.js";
import { language, name, t } from "./words.js";

/** @import { Key } from "./texts.js" */

/** @type {[Key, (evaluated: ReturnType<typeof evaluate>) => string | number][]} */
const ROWS = [
  ["reportTurns", ({ turns }) => turns],
  ["reportBest", ({ best }) => best],
  ["reportInaccuracies", ({ inaccuracies }) => inaccuracies],
  ["reportMistakes", ({ mistakes }) => mistakes],
  ["reportBlunders", ({ blunders }) => blunders],
  ["reportOpen", ({ open }) => open],
  ["reportLost", ({ lost }) => lost ?? "–"],
  ["reportAccuracy", ({ accuracy }) => accuracy?.toLocaleString(language(), { style: "percent" }) ?? "–"],
];

/**
 * Shows the report of a line; `done` of its positions are proved, with all moves.
 * @param {Place[]} places
 * @param {number} done
 * @param {(place: Place) => void} goTo
 */
export function fillReport(places, done, goTo) {
  const turns = turnsAmong(places.filter(isReached));
  const sides = SIDES.map((side) => evaluate(turns, side));
  const rows = ROWS.map(([key, of]) => {
    const cells = sides.map((side) => make("td", {}, String(of(side))));
    return make("tr", {}, make("th", { scope: "row" }, t(key)), ...cells);
  });
  find("report-rows").replaceChildren(...rows);
  const working = done < places.length;
  find("report-progress").max = places.length;
  find("report-progress").value = done;
  find("report-progress").hidden = !working;
  const wrong = turns.flatMap((turn) => {
    const lost = turnLoss(turn);
    return lost && lost.seeds > 0 ? [{ turn, lost }] : [];
  });
  find("report-state").textContent = working
    ? t("reportWorking", { n: done, all: places.length })
    : wrong.length === 0
      ? t("reportNone")
      : "";
  const items = wrong.map(({ turn, lost }) => {
    const moves = turn.places.map((place) => place.by.move).join(" ");
    const cost = t(lost.exact ? "moveLost" : "moveLostAtLeast", { n: lost.seeds });
    const text = `${numberOf(turn)} ${name(turn.side)} ${moves}${mark(lost)}: ${cost}`;
    const action = { className: lost.turns ? "blunder" : "slip", onclick: () => goTo(turn.places[0].before) };
    return make("li", {}, make("button", action, text));
  });
  find("report-list").replaceChildren(...items);
}

/** Stops the work for the last report. */
let stop = () => {};

/** Stops the work for the report. */
export const closeReport = () => stop();

/** Empties the report. Its signal stops the work for it when the report is closed or begins again. */
export function openReport() {
  find("report-list").replaceChildren();
  stop();
  const work = new AbortController();
  stop = () => work.abort();
  return work.signal;
}
