// Texts of the page: complete and alike in all languages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { LANGUAGES, PARTS, TEXTS, textOf } from "../page/texts.js";
import { speak, t } from "../page/words.js";

const TAGS = /** @type {(keyof typeof LANGUAGES)[]} */ (Object.keys(LANGUAGES));

/** @param {Wording} text */
const forms = (text) => (typeof text === "string" ? [text] : Object.values(text));

/** Returns the names in braces of all forms of a text. @param {Wording} text */
const named = (text) => new Set(forms(text).flatMap((form) => form?.match(/\{\w+\}/g) ?? []));

test("every text is in every language", () => {
  assert.ok(Object.keys(TEXTS).length > 200);
  for (const [key, texts] of Object.entries(TEXTS)) {
    assert.equal(texts.length, TAGS.length, key);
    for (const tag of TAGS) {
      const text = textOf(key, tag);
      assert.ok(forms(text).every((form) => form?.trim()), `${key}, ${tag}`);
      if (typeof text === "string") continue;
      const needed = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
      assert.deepEqual(Object.keys(text).sort(), needed.sort(), `${key}, ${tag}`);
    }
  }
});

test("a text has the same places for names and numbers in all languages", () => {
  for (const key of Object.keys(TEXTS)) {
    const [first, ...others] = TAGS.map((tag) => named(textOf(key, tag)));
    for (const other of others) assert.deepEqual(other, first, key);
  }
});

test("no text is in two parts", () => {
  const keys = PARTS.flatMap((part) => Object.keys(part));
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(keys.length, Object.keys(TEXTS).length);
});

test("texts that the HTML of the page names exist", () => {
  const html = readFileSync(new URL("../page/index.html", import.meta.url), "utf8");
  const keys = [...html.matchAll(/data-(?:t|title|label)="([^"]+)"/g)].map(([, key]) => key);
  assert.ok(keys.length > 100);
  assert.deepEqual(keys.filter((key) => !Object.hasOwn(TEXTS, key)), []);
});

test("texts fit mice, fingers and keys", () => {
  for (const key of Object.keys(TEXTS)) {
    const all = TAGS.flatMap((tag) => forms(textOf(key, tag)));
    for (const form of all) assert.doesNotMatch(String(form), /[ck]lick/i, key);
  }
});

test("the language of the page is the first that has texts", () => {
  const forms = { none: "en", "de-AT": "de", "fr,de": "de", "en-GB,de": "en" };
  for (const [wanted, found] of Object.entries(forms)) {
    speak(wanted.split(","));
    assert.equal(t("draw"), { en: "draw", de: "Remis" }[found], wanted);
  }
  // Chosen by the number.
  assert.deepEqual([1, 2].map((n) => t("seeds", { n })), ["1 seed", "2 seeds"]);
});
