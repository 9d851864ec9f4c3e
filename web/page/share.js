// The button that copies the link to the game.

import { find } from "./find.js";
import { t } from "./words.js";

/** Copies the link to the game, without values if they are hidden. @param {boolean} values */
export async function copyLink(values) {
  const button = find("share");
  const link = values ? location.href : `${location.href}&values=off`;
  try {
    await navigator.clipboard.writeText(link);
    button.textContent = t("copied");
  } catch {
    button.textContent = t("copyYourself");
  }
  setTimeout(() => (button.textContent = t("share")), 2000);
}
