// The panel with its tabs, which is a sheet on a phone; and the menu with its settings.

import { click, find } from "./elements.js";
import { remember, settings } from "./settings.js";
import { language, languages } from "./words.js";

/** @typedef {"moves" | "explorer" | "report"} Tab */

/** @type {Tab[]} */
const TABS = ["moves", "explorer", "report"];

/** Called with each tab that is opened. @type {(tab: Tab) => void} */
let opened = () => {};

/** Opens a tab, without opening the sheet. @param {Tab} tab */
export function openTab(tab) {
  for (const each of TABS) {
    find(`tab-${each}`).setAttribute("aria-selected", String(each === tab));
    find(`tab-${each}`).tabIndex = each === tab ? 0 : -1;
    find(`pane-${each}`).hidden = each !== tab;
  }
  opened(tab);
}

/** Returns true if a tab is open. @param {Tab} tab */
export const isOpen = (tab) => !find(`pane-${tab}`).hidden;

/** Called after the sheet was opened or closed. */
let resized = () => {};

/** Opens or closes the sheet, where the panel is one. @param {boolean} open */
export function openSheet(open) {
  if (document.body.classList.toggle("sheet", open) && matchMedia("(max-width: 52rem)").matches) scrollTo(0, 0);
  resized();
  find("panel").setAttribute("aria-expanded", String(open));
}

/**
 * Listens to the tabs, the buttons of the sheet, and clicks beside the menu. Calls `fit` after the sheet was opened or
 * closed, and `onTab` with each tab that is opened.
 * @param {() => void} fit
 * @param {(tab: Tab) => void} onTab
 */
export function listenToPanel(fit, onTab) {
  [resized, opened] = [fit, onTab];
  for (const tab of TABS) {
    const button = find(`tab-${tab}`);
    button.addEventListener("click", () => openTab(tab));
    button.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length];
      openTab(next);
      find(`tab-${next}`).focus();
    });
  }
  click("panel", () => openSheet(!document.body.classList.contains("sheet")));
  click("panel-close", () => {
    openSheet(false);
    find("panel").focus();
  });
  document.addEventListener("click", (event) => {
    const inside = event.target instanceof Element && event.target.closest("#menu");
    const chosen = event.target instanceof Element && event.target.closest("#edit, #text");
    if (!inside || chosen) find("menu").open = false;
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
    if (find("menu").open) {
      find("menu").open = false;
      find("menu").querySelector("summary")?.focus();
    } else {
      openSheet(false);
    }
  });
}

/** Shows and applies the settings of the menu. */
export function preparePreferences() {
  for (const id of /** @type {const} */ (["sounds", "keys"])) {
    find(id).checked = settings[id];
    find(id).addEventListener("change", () => remember({ [id]: find(id).checked }));
  }
  find("language").replaceChildren(...languages.map(({ tag, name }) => new Option(name, tag)));
  find("language").value = language();
  find("language").addEventListener("change", () => {
    remember({ language: find("language").value });
    location.reload();
  });
}
