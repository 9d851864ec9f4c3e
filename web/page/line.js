// A line of play as text, turn by turn, and as buttons.

/** Returns the moves of the turns of a line such as `36 21 4`, or `11,3 2` with commas. @param {string} text */
export function turnsOf(text) {
  return text
    .split(/\s+/)
    .filter(Boolean)
    .map((turn) => (turn.includes(",") ? turn.split(",") : [...turn]).map(Number));
}

/**
 * Shows a line as buttons, each of which calls `play` with the moves up to it. Lines of more than nine pits a side
 * have turns of one move without a comma, too, so `pits` determines how turns are read.
 * @param {HTMLElement} element
 * @param {string} text
 * @param {number} pits
 * @param {(moves: number[]) => void} play
 * @param {(move: number) => string} label
 */
export function showLine(element, text, pits, play, label) {
  if (element.dataset.line === text) return;
  element.dataset.line = text;
  const turns =
    pits > 9
      ? text
          .split(/\s+/)
          .filter(Boolean)
          .map((turn) => turn.split(",").filter(Boolean).map(Number))
      : turnsOf(text);
  /** @type {number[]} */
  const moves = [];
  const groups = turns.map((turn) => {
    const group = document.createElement("span");
    group.className = "turn";
    for (const move of turn) {
      moves.push(move);
      const upTo = [...moves];
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = String(move);
      button.setAttribute("aria-label", label(move));
      button.addEventListener("click", () => play(upTo));
      group.append(button);
    }
    return group;
  });
  element.replaceChildren(...groups);
}
