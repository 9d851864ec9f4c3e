// State of the server and of searches, shown and announced.

import * as api from "./api.js";
import { click, find, setText } from "./elements.js";
import { language, t } from "./words.js";

let [connection, work] = [/** @type {api.State} */ ("online"), ""];

/** Bytes of the engine that have come, and all. @type {{ done: number, all: number } | undefined} */
let loading;

/** @param {number} bytes */
const megabytes = (bytes) => (Math.round(bytes / 1e5) / 10).toLocaleString(language(), { minimumFractionDigits: 1 });

/** Describes what is loading; undefined if nothing is. */
const loadingText = () =>
  loading && t(loading.all ? "loadingOf" : "loading", { done: megabytes(loading.done), all: megabytes(loading.all) });

/** Makes screen readers say a text. @param {string} text */
export function announce(text) {
  find("said").textContent = text;
}

function show() {
  const machine = find("machine");
  machine.className = connection === "online" ? "" : connection;
  const text = connection === "online" ? (loadingText() ?? work) : t(connection);
  setText(find("machine-text"), text);
  find("retry").hidden = connection === "online";
}

/** Shows the current work; an empty text stands for no work. */
export function setWork(text = "") {
  if (text === work) return;
  work = text;
  show();
}

/** Shows changes of the connection, and repeats requests at once when the browser is online again or on a click. */
export function listenToMachine() {
  api.onState((state, before) => {
    connection = state;
    if (state !== "online") announce(t(state));
    else if (before === "offline") announce(t("reconnected"));
    show();
  });
  addEventListener("engine", (event) => {
    loading = /** @type {CustomEvent} */ (event).detail ?? undefined;
    show();
  });
  click("retry", api.retry);
  addEventListener("online", api.retry);
}
