// The elements of the page by their ids. `.ci/javascript` reads from index.html which there are, and of which kind.

/** @template {keyof Elements} Id @param {Id} id @returns {Elements[Id]} */
export const find = (id) => /** @type {any} */ (document.getElementById(id));

/** The element around one of the page. @param {Element} element */
export const around = (element) => /** @type {HTMLElement} */ (element.parentElement);
