// A lesson of twenty seconds on the board of the page: three positions, each with a move to make.

import { openGame } from "./opening.js";
import { click, find } from "./elements.js";
import { arrive, onArrival, setPlayers } from "./play.js";
import { enter, now, players } from "./session.js";
import { settings } from "./settings.js";
import { view } from "./view.js";
import { t } from "./words.js";

/** Positions, each with the pit to sow. @type {[text: "Sow" | "Store" | "Capture", board: string, pit: number][]} */
const STEPS = [
  ["Sow", "<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>", 2],
  ["Store", "<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>", 3],
  ["Capture", "<6,3,2,0,1,0,4,0,2,3,0,1,5,2,6>", 2],
];

let at = 0;
/** The game of the shown step. @type {Game | undefined} */
let game;
/** The game and the players before the lesson. @type {{ game: Game } & typeof players | undefined} */
let before;

/** Shows the text for the shown place, or ends the lesson if another game was begun. */
function watch() {
  if (!game) return;
  if (now.game !== game) {
    end();
    return;
  }
  const { place } = now.game;
  const [text, , pit] = STEPS[at];
  const made = place.before && place.by?.move === pit;
  view.board.pointed = place.before ? undefined : pit;
  view.board.label(place, true, false);
  const last = at === STEPS.length - 1;
  find("coach-text").textContent = made
    ? `${t(`lesson${text}Done`)} ${last ? t("lessonGoal") : ""}`
    : t(place.before ? "lessonWrong" : `lesson${text}`, { pit });
  find("coach-next").hidden = !place.before || (last && Boolean(made));
  find("coach-next").textContent = t(made ? "lessonNext" : "lessonAgain");
  find("coach-end").textContent = t(last && made ? "lessonPlay" : "lessonEnd");
  find("coach-end").classList.toggle("main", Boolean(last && made));
}

/** Ends the lesson. */
function end() {
  game = undefined;
  view.board.pointed = undefined;
  now.lesson = false;
  document.body.classList.remove("taught");
  find("coach").hidden = true;
  now.values = Boolean(settings.values);
}

async function show() {
  game = undefined;
  setPlayers("human", "human");
  now.values = false;
  const rules = now.server.rules.includes("standard") ? "standard" : now.server.rules[0];
  // The lesson is not kept as the last game.
  now.lesson = true;
  await openGame({ rules, board: STEPS[at][1], side: "south" }, at === 0);
  game = now.game;
  document.body.classList.add("taught");
  find("coach").hidden = false;
  watch();
}

/** Begins the lesson. */
export function teach() {
  if (!game) before = { game: now.game, ...players };
  at = 0;
  return show();
}

/**
 * Listens to the buttons of the lesson. At its end, the game before it goes on; if it had no move, `play` begins one.
 * @param {() => unknown} play
 */
export function listenToLesson(play) {
  onArrival(watch);
  click("coach-next", () => {
    if (now.game.place.by?.move === STEPS[at][2]) {
      at += 1;
      return show();
    }
    now.game.show(now.game.root);
    return arrive();
  });
  click("coach-end", () => {
    end();
    if (before && (before.game.puzzle || before.game.root.after.length > 0)) {
      setPlayers(before.south, before.north);
      now.game = before.game;
      enter("open");
      arrive(true);
    } else {
      return play();
    }
    return undefined;
  });
}
