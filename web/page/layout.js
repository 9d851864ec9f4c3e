// Layout of the board: pits as large as the space allows, and never smaller than a finger needs.

/** Minimum width of a pit in pixels, for fingers and mice. */
const LEAST = 44;

/** Pixels between pits, around the board, of a border, and of a label; larger on a projector. */
const [GAP, PADDING, BORDER] = [6, 10, 2];
const LABEL = { usual: 52, large: 76 };

/**
 * Returns the form of a board with this number of pits in a space of this width and height, and the width of its
 * pits:
 * `wide` has the stores at both ends, `stacked` above and below the rows, and `tall` has rows from top to bottom.
 * @param {number} pits
 * @param {number} width
 * @param {number} height
 * @param {boolean} labels
 * @returns {{ form: "wide" | "stacked" | "tall", pit: number }}
 */
export function layout(pits, width, height, labels, large = false) {
  const label = large ? LABEL.large : LABEL.usual;
  const edge = 2 * (PADDING + BORDER);
  /** @param {number} rows @param {number} more */
  const high = (rows, more) => (height - edge - more - 2 * (labels ? label : 14)) / rows;
  const wide = (width - edge - GAP * (pits + 1)) / (pits + 1.7);
  /** @param {number} pit @param {number} most */
  const fit = (pit, most) => Math.floor(Math.max(LEAST, Math.min(pit, most, large ? 320 : 220)));
  if (wide >= LEAST) return { form: "wide", pit: fit(wide, high(2, GAP)) };
  const stacked = (width - edge - (GAP / 2) * (pits - 1)) / pits;
  if (stacked >= LEAST) return { form: "stacked", pit: fit(stacked, high(2, 130)) };
  const tall = Math.min((height - 160) / pits - GAP, (width - edge - GAP - 2 * (labels ? 76 : 0)) / 2, 64);
  return { form: "tall", pit: Math.floor(Math.max(LEAST, tall)) };
}
