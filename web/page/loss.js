// Losses of moves against the best one, as far as they are proved.

/**
 * Returns the loss of a move: `seeds` of the final difference, and `turns` if it turns a win or a draw into something
 * worse. It is `exact`, or at least this. Undefined if nothing is proved.
 * @param {Api.Value} answer of the position
 * @param {Api.Value} move
 */
export function lossOf(answer, move) {
  const best = answer.value ?? answer.lower;
  const got = move.value ?? move.upper;
  if (best === undefined || got === undefined) return undefined;
  const exact = answer.value !== undefined && move.value !== undefined;
  if (!exact && best <= got) return undefined;
  return { seeds: Math.max(0, best - got), turns: Math.sign(best) > Math.sign(got), exact };
}

/** Returns the answer before the move that led to a place, and its value. @param {Place} place */
export function made(place) {
  const answer = place.before?.answer;
  const move = answer?.moves.find((move) => move.move === place.by?.move);
  return answer && move ? { answer, move } : undefined;
}

/** Returns the loss of the move that led to a place. @param {Place} place */
export function loss(place) {
  const known = made(place);
  return known && lossOf(known.answer, known.move);
}

/** Returns the loss of the move that led to a place, if it lost anything. @param {Place} place */
export function mistake(place) {
  const lost = loss(place);
  return lost && lost.seeds > 0 ? lost : undefined;
}
