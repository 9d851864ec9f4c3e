// Elements of the page: found by id, or made. `.ci/javascript` reads the types of ids from index.html.

const SVG = "http://www.w3.org/2000/svg";

/** @template {keyof Elements} Id @param {Id} id @returns {Elements[Id]} */
export const find = (id) => /** @type {any} */ (document.getElementById(id));

/** The element around one of the page. @param {Element} element */
export const around = (element) => /** @type {HTMLElement} */ (element.parentElement);

/**
 * Makes an element with these properties and contents. Buttons submit no form.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Partial<Omit<HTMLElementTagNameMap[Tag], "style" | "dataset">>} [properties]
 * @param {(Node | string)[]} contents
 */
export function make(tag, properties = {}, ...contents) {
  const element = document.createElement(tag);
  Object.assign(element, tag === "button" && { type: "button" }, properties);
  element.append(...contents);
  return element;
}

/**
 * Makes an element of a drawing, with these attributes and contents.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} attributes
 * @param {(Node | string)[]} contents
 */
export function shape(tag, attributes, ...contents) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...contents);
  return element;
}

/**
 * Sets a text, unless it is there: what did not change is not read out again.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Calls a function after each click, and shows its errors. @param {keyof Elements} id @param {() => unknown} run */
export const click = (id, run) => find(id).addEventListener("click", () => (async () => run())().catch(fail));

/** Shows an error, unless it only reports that another step began. @param {Error} error */
export function fail(error) {
  if (error.name === "AbortError") return;
  find("error").textContent = error.message;
  find("error").hidden = false;
}

/** Hides the error. */
export const forgive = () => {
  find("error").hidden = true;
};
