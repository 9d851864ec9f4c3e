// Settings of the page: speed of moves, language, sounds, a large board.

import { find } from "./find.js";
import { remember, settings } from "./settings.js";
import { language, languages } from "./words.js";

/**
 * Shows and applies the settings; `fit` lays the board out again, and `label` shows the labels of moves again.
 * @param {{ fit: () => void, label: () => void }} does
 */
export function preparePreferences({ fit, label }) {
  find("speed").value = settings.speed;
  find("speed").addEventListener("change", () =>
    remember({ speed: /** @type {Settings["speed"]} */ (find("speed").value) }),
  );
  find("labels").value = settings.labels;
  find("labels").addEventListener("change", () => {
    remember({ labels: /** @type {Settings["labels"]} */ (find("labels").value) });
    label();
  });
  find("sounds").checked = settings.sounds;
  find("sounds").addEventListener("change", () => remember({ sounds: find("sounds").checked }));
  const sounds = () => find("mute").setAttribute("aria-pressed", String(!settings.sounds));
  find("mute").addEventListener("click", () => {
    remember({ sounds: !settings.sounds });
    find("sounds").checked = settings.sounds;
    sounds();
  });
  find("sounds").addEventListener("change", sounds);
  sounds();
  for (const key of /** @type {const} */ (["vibrate", "keys"])) {
    find(key).checked = settings[key];
    find(key).addEventListener("change", () => remember({ [key]: find(key).checked }));
  }
  const large = () => {
    document.body.classList.toggle("large", settings.large);
    fit();
  };
  find("large").checked = settings.large;
  find("large").addEventListener("change", () => {
    remember({ large: find("large").checked });
    large();
  });
  large();
  find("language").replaceChildren(...languages.map(({ tag, name }) => new Option(name, tag)));
  find("language").value = language();
  find("language").addEventListener("change", () => {
    remember({ language: find("language").value });
    location.reload();
  });
}
