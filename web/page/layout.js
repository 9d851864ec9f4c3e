// Layout of the board: pits as large as the space allows, and never smaller than a finger needs.

/** Minimum width of a pit in pixels, for fingers and mice. */
const LEAST = 44;

/** Pixels between pits, around the board, and of a border. */
const [GAP, PADDING, BORDER] = [8, 12, 2];

/** Pixels around a tight board. */
const TIGHT = 4;

/** Heights in units of the font size: a count, a label, a store between rows. */
const [COUNT, LABEL, STORE] = [1.75, 2.5, 3.5];

/** Width of a store, in pits. */
const WIDE = 1.15;

/**
 * Returns the form of a board with this number of pits in a space of this width and height, and the width and height
 * of its pits:
 * `wide` has the stores at both ends, `stacked` above and below the rows, and `tall` has rows from top to bottom.
 * With `low`, stacked pits are lower than wide. A `tight` board reaches the edges of the screen.
 * @param {number} pits
 * @param {{ width: number, height: number, low?: boolean, font?: number }} space
 * @param {boolean} labels
 * @returns {{ form: "wide" | "stacked" | "tall", pit: number, high: number, tight?: boolean }}
 */
export function layout(pits, { width, height, low = false, font = 16 }, labels) {
  const edge = 2 * (PADDING + BORDER);
  const beside = font * (COUNT + (labels ? LABEL : 0)) + 4;
  /** @param {number} more */
  const high = (more) => (height - edge - more - 2 * beside) / 2;
  const wide = (width - edge - GAP * (pits + 1)) / (pits + 2 * WIDE);
  if (wide >= LEAST) {
    const pit = Math.floor(Math.max(LEAST, Math.min(wide, high(GAP), 220)));
    // A pit may be higher than wide, as on boards of wood.
    return { form: "wide", pit, high: Math.max(pit, Math.min(Math.floor(high(GAP)), Math.round(1.3 * pit))) };
  }
  /** Height of the pits of a stacked board. @param {number} pit */
  const heightOf = (pit) => {
    if (low) return Math.max(LEAST, Math.round(0.8 * pit));
    const room = Math.floor(high(3 * GAP + 2 * STORE * font));
    return Math.max(pit, Math.min(room, Math.round(1.5 * pit)));
  };
  const stacked = Math.floor(Math.min(220, (width - edge - 3 * (pits - 1)) / pits));
  if (stacked >= LEAST) {
    return { form: "stacked", pit: stacked, high: heightOf(stacked) };
  }
  // A board of many pits may reach the edges of a phone.
  const tight = Math.floor((width + font - 2 * (TIGHT + BORDER) - (pits - 1)) / pits);
  if (tight >= LEAST && width > 22 * font) return { form: "stacked", pit: tight, high: heightOf(tight), tight: true };
  const across = (width - edge - GAP) / 2 - font * (labels ? 5.3 : 1.8);
  const tall = Math.floor(Math.max(LEAST, Math.min((height - 160) / pits - GAP, across, 64)));
  return { form: "tall", pit: tall, high: tall };
}
