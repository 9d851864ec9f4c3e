// The report of a game: losses of each side's moves.

import { analyse, isKnown } from "./analysis.js";
import { fail, find, make } from "./elements.js";
import { SIDES, isReached } from "./game.js";
import { evaluate, mark, turnLoss } from "./loss.js";
import { goTo } from "./play.js";
import { now } from "./session.js";
import { store } from "./store.js";
import { isOpen } from "./tabs.js";
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

/** Shows the report of a line, in so far as it is proved. @param {Place[]} places */
function fill(places) {
  const done = places.filter(isKnown).length;
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

/** Place at the end of the line of the last report. @type {Place | undefined} */
let reported;

/** Stops the work for the last report. */
let stop = () => {};

/** Stops the work for the report. */
export const closeReport = () => stop();

/** Requests the values of the shown line, and reports them until the report is closed or begins again. */
export async function report() {
  const { game } = now;
  const { places } = game;
  stop();
  reported = places.at(-1);
  find("report-list").replaceChildren();
  const work = new AbortController();
  const leave = store.subscribe(() => fill(places));
  stop = () => {
    leave();
    work.abort();
  };
  store.draw();
  await analyse(game, work.signal, () => store.change(), true).finally(leave);
  fill(places);
  store.change();
}

/** Updates an open report if another line is shown. */
export function updateReport() {
  if (isOpen("report") && !now.exercise && reported !== now.game.places.at(-1)) report().catch(fail);
}
