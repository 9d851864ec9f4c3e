// Learning from the mistakes of a game: each is a position in which to find a better move.

import { find } from "./elements.js";
import { isReached } from "./game.js";
import { loss, mark, mistake, why } from "./loss.js";
import { announce } from "./machine.js";
import { goTo, onArrival, showValues } from "./play.js";
import { now, onlyPerson } from "./session.js";
import { store } from "./store.js";
import { pitName, t } from "./words.js";

/** Returns the mistakes of the person who plays alone, or of both sides, on the shown line. @param {Game} game */
const mistakesOf = ({ places }) =>
  places
    .filter(isReached)
    .filter((place) => mistake(place) && (onlyPerson() ?? place.before.side) === place.before.side);

/** Shows the position of the next mistake, without values, to find a better move. */
export function nextMistake() {
  const { game, exercise } = now;
  if (exercise) game.show(exercise);
  const [all, at] = [mistakesOf(game), exercise ? game.at : 0];
  const next = all.find((place) => place.path.length > at) ?? all[0];
  if (!next) return;
  Object.assign(now, { exercise: next, values: false });
  goTo(next.before);
  announce(game.message ?? "");
}

/** Leaves the exercise: the values are shown again. */
function leave() {
  now.exercise = undefined;
  Object.assign(now.game, { message: undefined, verdict: undefined });
  showValues();
}

/** Compares the shown place of an exercise with its mistake. */
function compare() {
  const { game, exercise } = now;
  if (!exercise) return;
  const { place } = game;
  const lost = loss(place);
  if (place === exercise.before) {
    const move = `${pitName(exercise.before.side, exercise.by.move)} ${mark(mistake(exercise))}`;
    Object.assign(game, { verdict: undefined, message: t("mistakeFind", { move, why: why(exercise) }) });
  } else if (place.before !== exercise.before) {
    leave();
  } else if (lost?.exact && lost.seeds === 0) {
    Object.assign(game, { verdict: "right", message: t("mistakeRight") });
  } else if (lost && lost.seeds > 0) {
    Object.assign(game, { verdict: "wrong", message: t("mistakeWrong", { why: why(place) }) });
  }
}

/** Looks at moves as they are made, and once their values are known. */
export function listenToMistakes() {
  onArrival(() => {
    compare();
    if (now.exercise) store.change();
  });
  store.subscribe(() => {
    if (now.exercise && now.game.place.before === now.exercise.before) compare();
    find("mistakes").hidden = mistakesOf(now.game).length === 0;
    find("next-mistake").hidden = !now.exercise;
  });
}
