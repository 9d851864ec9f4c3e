// A calendar of the puzzles of past days, a month at a time.

import { monthAfter, weeksOf } from "./streak.js";
import { t } from "./words.js";

/** Signs of results. @type {Record<PuzzleResult, string>} */
const SIGNS = { first: "✓", later: "○", missed: "✗" };

/** @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {string} text @param {Element} parent */
function make(tag, text, parent) {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}

export class Calendar {
  /**
   * Adds the calendar before an element; `choose` is called with a chosen day.
   * @param {Element} next
   * @param {string} language
   * @param {(day: string) => void} choose
   */
  constructor(next, language, choose) {
    this.language = language;
    this.choose = choose;
    this.today = "";
    this.month = "";
    /** @type {(day: string) => PuzzleResult | undefined} */
    this.resultOf = () => undefined;
    this.element = document.createElement("section");
    this.element.className = "calendar wide";
    this.element.setAttribute("aria-label", t("calendar"));
    const head = make("div", "", this.element);
    head.className = "head";
    this.back = this.turn(head, "←", "calendarBack", -1);
    this.title = make("b", "", head);
    this.title.setAttribute("aria-live", "polite");
    this.forth = this.turn(head, "→", "calendarForth", 1);
    this.days = make("table", "", this.element);
    make("p", t("calendarSigns", SIGNS), this.element).className = "note";
    next.before(this.element);
  }

  /**
   * Adds a button to another month.
   * @param {Element} head
   * @param {string} text
   * @param {"calendarBack" | "calendarForth"} key
   * @param {number} by
   */
  turn(head, text, key, by) {
    const button = make("button", text, head);
    button.type = "button";
    button.setAttribute("aria-label", t(key));
    button.addEventListener("click", () => {
      this.month = monthAfter(this.month, by);
      this.fill();
    });
    return button;
  }

  /**
   * Shows the month of a day, with results.
   * @param {string} today
   * @param {(day: string) => PuzzleResult | undefined} resultOf
   */
  show(today, resultOf) {
    if (today !== this.today) this.month = today.slice(0, 7);
    this.today = today;
    this.resultOf = resultOf;
    this.fill();
  }

  /** Formats a day or month, which is a date in UTC. @param {string} day @param {Intl.DateTimeFormatOptions} options */
  format(day, options) {
    return new Date(`${day}T00:00Z`).toLocaleDateString(this.language, { ...options, timeZone: "UTC" });
  }

  fill() {
    this.title.textContent = this.format(`${this.month}-01`, { year: "numeric", month: "long" });
    this.forth.disabled = this.month >= this.today.slice(0, 7);
    this.days.replaceChildren();
    const head = make("tr", "", make("thead", "", this.days));
    const weeks = weeksOf(this.month);
    // Any full week has the names of all days.
    for (const day of weeks[1]) {
      const cell = make("th", this.format(day ?? "", { weekday: "short" }), head);
      cell.scope = "col";
    }
    const body = make("tbody", "", this.days);
    for (const week of weeks) {
      const row = make("tr", "", body);
      for (const day of week) this.day(make("td", "", row), day);
    }
  }

  /** @param {Element} cell @param {string | undefined} day */
  day(cell, day) {
    if (!day) return;
    const number = String(Number(day.slice(8)));
    if (day > this.today) {
      make("span", number, cell);
      return;
    }
    const result = this.resultOf(day);
    const button = make("button", number, cell);
    button.type = "button";
    button.dataset.day = day;
    button.className = result ?? "";
    if (result) make("small", SIGNS[result], button);
    if (day === this.today) button.setAttribute("aria-current", "date");
    const date = this.format(day, { day: "numeric", month: "long" });
    button.setAttribute("aria-label", result ? `${date}: ${t(`calendar.${result}`)}` : date);
    button.addEventListener("click", () => this.choose(day));
  }
}
