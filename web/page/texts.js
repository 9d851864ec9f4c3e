// All texts of the page, in which the languages are side by side. What is seen in a game, a lesson or a puzzle is in
// gametexts.js, all else in paneltexts.js.
// `{name}` is replaced. A text with several forms is chosen by a number, as Intl.PluralRules defines.

import { GAMES, RULE_SETS } from "./gametexts.js";
import { PANEL } from "./paneltexts.js";

/** Languages by their own names, in the order of each text. */
export const LANGUAGES = { en: "English", de: "Deutsch" };

/** Tag of a language. @typedef {keyof typeof LANGUAGES} Language */

/** Parts, none of which has a key of another one. */
export const PARTS = [GAMES, PANEL];

/** Texts by key. */
export const TEXTS = { ...GAMES, ...PANEL };

/** Name of a text. @typedef {keyof typeof TEXTS} Key */

const [order, texts] = [Object.keys(LANGUAGES), /** @type {Record<string, Wordings>} */ (TEXTS)];

/** Returns a text in a language. @param {string} key @param {Language} language @returns {Wording} */
export const textOf = (key, language) => texts[key]?.[order.indexOf(language)] ?? key;

/** Returns the explanation of a rule set; undefined in English. @param {string} rules @param {Language} language */
export const rulesIn = (rules, language) =>
  /** @type {Record<string, Record<string, string>>} */ (RULE_SETS)[language]?.[rules];
