// The elements of the page by id. `.ci/javascript` reads their types from index.html.

/** @template {keyof Elements} Id @param {Id} id @returns {Elements[Id]} */
export const find = (id) => /** @type {any} */ (document.getElementById(id));

/** The element around one of the page. @param {Element} element */
export const around = (element) => /** @type {HTMLElement} */ (element.parentElement);
