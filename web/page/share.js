// The button that copies the link to the game.

import { fail, find, make } from "./elements.js";
import { t } from "./words.js";

/** Copies a text; returns false if the browser forbids it. @param {string} text */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without HTTPS, or in a frame of another website.
    const field = make("textarea", { value: text });
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

/**
 * Offers a text and an address to other programs of a phone; copies both elsewhere.
 * @param {"share-result"} id of its button
 * @param {string} text
 * @param {string} url
 */
export async function share(id, text, url) {
  if (!navigator.share) return copy(id, `${text} ${url}`);
  // An error means that the person closed the list of programs.
  return navigator.share({ text, url }).catch(() => {});
}

/**
 * Copies the address of a game, or a text. If that is forbidden, as in some frames, it shows what to copy.
 * @param {"share" | "share-result"} id of its button
 * @param {string} text
 */
export async function copy(id, text) {
  if (!(await copied(text))) {
    fail(new Error(`${t("copyYourself")} ${text}`));
    return;
  }
  const button = find(id);
  const before = button.textContent;
  button.textContent = t("copied");
  setTimeout(() => (button.textContent = before), 2000);
}
