// What the machine is doing, shown and announced.

import * as api from "./api.js";
import { find } from "./find.js";
import { t } from "./words.js";

let [connection, work, back] = [/** @type {api.State} */ ("online"), "", false];

/** Has a reader of the screen say something. @param {string} text */
export function announce(text) {
  find("said").textContent = text;
}

function show() {
  const machine = find("machine");
  machine.className = connection === "online" ? "" : connection;
  const text = connection === "online" ? (back ? t("reconnected") : work) : t(connection);
  if (find("machine-text").textContent !== text) find("machine-text").textContent = text;
  find("retry").hidden = connection === "online";
}

/** Says what the machine works on; nothing if it has nothing to do. */
export function setWork(text = "") {
  if (text === work) return;
  work = text;
  show();
}

api.onState((state, before) => {
  connection = state;
  if (state === "online" && before === "offline") {
    back = true;
    setTimeout(() => {
      back = false;
      show();
    }, 2500);
  }
  if (state !== "online" || back) announce(t(state === "online" ? "reconnected" : state));
  show();
});

find("retry").addEventListener("click", api.retry);
