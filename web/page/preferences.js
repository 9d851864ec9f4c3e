// Settings of the page: speed of moves, language, sounds, single keys.

import { find } from "./elements.js";
import { remember, settings } from "./settings.js";
import { language, languages } from "./words.js";

/** Shows and applies the settings. */
export function preparePreferences() {
  find("speed").value = settings.speed;
  find("speed").addEventListener("change", () =>
    remember({ speed: /** @type {Settings["speed"]} */ (find("speed").value) }),
  );
  const sounds = () => {
    find("sounds").checked = settings.sounds;
    find("mute").setAttribute("aria-pressed", String(!settings.sounds));
  };
  for (const id of /** @type {const} */ (["mute", "sounds"])) {
    find(id).addEventListener(id === "mute" ? "click" : "change", () => {
      remember({ sounds: !settings.sounds });
      sounds();
    });
  }
  sounds();
  find("keys").checked = settings.keys;
  find("keys").addEventListener("change", () => remember({ keys: find("keys").checked }));
  find("language").replaceChildren(...languages.map(({ tag, name }) => new Option(name, tag)));
  find("language").value = language();
  find("language").addEventListener("change", () => {
    remember({ language: find("language").value });
    location.reload();
  });
}
