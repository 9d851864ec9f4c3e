// The parts of the page: they are made, connected and shown here.

import * as api from "./api.js";
import { openGame, usualGame, load } from "./opening.js";
import { askNewGame, listenToButtons, playToday } from "./commands.js";
import { listenToComments } from "./comment.js";
import { prepareDialogs } from "./dialogs.js";
import { listenToEditor } from "./editor.js";
import { around, fail, find } from "./elements.js";
import { SIDES, parse, write } from "./game.js";
import { listenToGameText } from "./gametext.js";
import { listenToKeys } from "./keys.js";
import { listenToLesson, teach } from "./lesson.js";
import { fromFragment } from "./link.js";
import { listenToMachine } from "./machine.js";
import { listenToMistakes } from "./mistakes.js";
import { actions, arrive, isOwnAddress, onArrival, saveAddress, showValues } from "./play.js";
import { fillPlayers } from "./players.js";
import { closeReport, report, updateReport } from "./report.js";
import { enter, now, players } from "./session.js";
import { lastFragment, loadSettings, settings } from "./settings.js";
import { store } from "./store.js";
import { listenToPanel, preparePreferences } from "./tabs.js";
import { fit, openView, view } from "./view.js";
import { endWelcome, listenToWelcome, showWelcome } from "./cards.js";
import { language, speak, translate } from "./words.js";

function listen() {
  listenToButtons();
  listenToEditor();
  listenToGameText();
  listenToPanel(fit, (tab) => (tab === "report" ? report().catch(fail) : closeReport()));
  onArrival(endWelcome);
  onArrival(updateReport);
  listenToWelcome({
    play: askNewGame,
    learn: teach,
    puzzle: playToday,
    analyse: () => showValues(),
  });
  listenToMistakes();
  listenToLesson(() => openGame(usualGame(), true));
  find("values").addEventListener("change", () => showValues(find("values").checked));
  for (const side of SIDES) {
    find(side).addEventListener("change", () => {
      players[side] = find(side).value;
      arrive();
    });
  }
  listenToKeys();
  listenToComments(
    () => now.game.place,
    () => {
      saveAddress();
      store.draw();
    },
  );
  new ResizeObserver(fit).observe(around(find("board")));
  addEventListener("resize", fit);
  new ResizeObserver(() => now.values && store.change()).observe(find("graph"));
  addEventListener("hashchange", () => {
    const { game } = now;
    const asked = fromFragment(location.hash.slice(1));
    const board = asked.board && parse(asked.board);
    // A link may also name other players.
    const same =
      isOwnAddress() &&
      game.rules === (asked.rules ?? now.server.rules[0]) &&
      game.root.literal === (board && write(board)) &&
      game.root.side === asked.side &&
      game.pie === asked.pie;
    const place = same && game.find(asked.moves.slice(0, asked.at));
    if (!place) {
      load().catch(fail);
      return;
    }
    enter("look");
    game.show(place);
    arrive();
  });
}

/** Shows an empty board of the expected size, so that nothing moves when the server has answered. */
function showFrame() {
  const linked = location.hash.length > 1;
  const { board: text, values: shown, puzzle } = fromFragment(linked ? location.hash.slice(1) : lastFragment());
  const rows = text ? parse(text)?.rows : undefined;
  now.values = shown ? shown !== "off" : puzzle ? false : (settings.values ?? (linked && Boolean(text)));
  find("values").checked = now.values;
  document.body.classList.toggle("hidden-values", !now.values);
  const pits = rows?.[0].length ?? (text ? 6 : (settings.game?.pits ?? 6));
  document.body.classList.toggle("many", pits > 8);
  view.board.labels = now.values;
  view.board.build(Math.min(pits, 16));
  showWelcome();
  document.body.classList.add("ready");
}

/**
 * Starts the page, whose requests are sent by `transport`.
 * @param {Parameters<typeof api.connect>[0]} transport
 */
export async function start(transport) {
  api.connect(transport);
  loadSettings();
  speak([settings.language ?? "", ...(navigator.languages ?? [])]);
  openView(actions);
  listenToMachine();
  document.documentElement.lang = language();
  translate(document);
  // A button that is clicked before the first answer works after it.
  const wanted = { button: /** @type {HTMLElement | null} */ (null) };
  /** @param {Event} event */
  const early = ({ target }) => {
    wanted.button = (target instanceof Element ? target.closest("button") : null) ?? wanted.button;
  };
  document.addEventListener("click", early);
  showFrame();
  now.server = await api.server();
  // The engine in the page has its own queue.
  api.grant(now.server.here ? Number.POSITIVE_INFINITY : now.server.searches);
  for (const side of SIDES) fillPlayers(find(side), true);
  prepareDialogs();
  preparePreferences();
  await load();
  listen();
  document.removeEventListener("click", early);
  wanted.button?.click();
}
