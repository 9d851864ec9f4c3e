// How the board lies on the screen: the wider it may be, the larger the pits, and none smaller than a finger needs.

/** The least width of a pit in pixels, for fingers and for a mouse. */
const [FINGER, MOUSE] = [44, 30];

/** Pixels between pits, around the board, of a label, of a border. */
const [GAP, PADDING, LABEL, BORDER] = [6, 10, 52, 2];

/**
 * The form of a board of so many pits in a space of this width and height, and the width of its pits:
 * `wide` has the stores at both ends, `stacked` above and below the rows, and `tall` has rows from top to bottom.
 */
export function layout(pits, width, height, labels, coarse = false) {
  const least = coarse || width < 620 ? FINGER : MOUSE;
  const edge = 2 * (PADDING + BORDER);
  const high = (rows, more) => (height - edge - more - 2 * (labels ? LABEL : 14)) / rows;
  const wide = (width - edge - GAP * (pits + 1)) / (pits + 1.7);
  const fit = (pit, most) => Math.floor(Math.max(least, Math.min(pit, most, 220)));
  if (wide >= least) return { form: "wide", pit: fit(wide, high(2, GAP)) };
  const stacked = (width - edge - GAP / 2 * (pits - 1)) / pits;
  if (stacked >= least) return { form: "stacked", pit: fit(stacked, high(2, 130)) };
  const tall = Math.min((height - 160) / pits - GAP, (width - edge - GAP - 2 * (labels ? 76 : 0)) / 2, 64);
  return { form: "tall", pit: Math.floor(Math.max(FINGER, tall)) };
}
