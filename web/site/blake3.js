// BLAKE3 (Aumasson, Neves, O'Connor, Wilcox-O'Hearn 2020), 32 bytes, without a key: the digests of tables.

const IV = Uint32Array.of(
  0x6a09e667,
  0xbb67ae85,
  0x3c6ef372,
  0xa54ff53a,
  0x510e527f,
  0x9b05688c,
  0x1f83d9ab,
  0x5be0cd19,
);
const PERMUTED = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const [CHUNK, BLOCK] = [1024, 64];
const [START, END, PARENT, ROOT] = [1, 2, 4, 8];

/** Order of the message words in each of the seven rounds. */
const ROUNDS = [...Array(16).keys()].map((word) => {
  const words = [word];
  for (let round = 1; round < 7; round += 1) words.push(PERMUTED[words[round - 1]]);
  return words;
});

/** Columns, then diagonals of the state. */
const MIXED = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];

/** @param {number} word @param {number} bits */
const rotated = (word, bits) => (word >>> bits) | (word << (32 - bits));

/**
 * A message of 16 words, with the other inputs of the compression.
 * @typedef {{ chain: Uint32Array, words: ArrayLike<number>, counter: number, length: number, flags: number }} Block
 */

/** Returns the chain after a block; `more` are further flags. @param {Block} block */
function compressed({ chain, words, counter, length, flags }, more = 0) {
  const state = new Uint32Array(16);
  state.set(chain);
  state.set(IV.subarray(0, 4), 8);
  state.set([counter >>> 0, Math.floor(counter / 2 ** 32), length, flags | more], 12);
  for (let round = 0; round < 7; round += 1) {
    for (let index = 0; index < 8; index += 1) {
      const [a, b, c, d] = MIXED[index];
      const [x, y] = [words[ROUNDS[2 * index][round]], words[ROUNDS[2 * index + 1][round]]];
      state[a] += state[b] + x;
      state[d] = rotated(state[d] ^ state[a], 16);
      state[c] += state[d];
      state[b] = rotated(state[b] ^ state[c], 12);
      state[a] += state[b] + y;
      state[d] = rotated(state[d] ^ state[a], 8);
      state[c] += state[d];
      state[b] = rotated(state[b] ^ state[c], 7);
    }
  }
  return state.subarray(0, 8).map((word, index) => word ^ state[index + 8]);
}

/**
 * Returns the last block of a chunk, after compressing those before it.
 * @param {Uint8Array} bytes
 * @param {number} counter
 * @returns {Block}
 */
function chunk(bytes, counter) {
  /** @type {Uint32Array} */
  let chain = IV;
  const blocks = Math.max(1, Math.ceil(bytes.length / BLOCK));
  for (let index = 0; ; index += 1) {
    const part = bytes.subarray(BLOCK * index, BLOCK * (index + 1));
    const padded = new Uint8Array(BLOCK);
    padded.set(part);
    const view = new DataView(padded.buffer);
    const words = Uint32Array.from({ length: 16 }, (_, word) => view.getUint32(4 * word, true));
    const last = index === blocks - 1;
    const block = { chain, words, counter, length: part.length, flags: (index === 0 ? START : 0) | (last ? END : 0) };
    if (last) return block;
    chain = compressed(block);
  }
}

/** @param {Uint32Array} left @param {Uint32Array} right @returns {Block} */
const parent = (left, right) => ({ chain: IV, words: [...left, ...right], counter: 0, length: BLOCK, flags: PARENT });

/** Returns the digest of some bytes, in hexadecimal digits. @param {Uint8Array} bytes */
export function blake3(bytes) {
  const chunks = Math.max(1, Math.ceil(bytes.length / CHUNK));
  /** @param {number} index */
  const part = (index) => chunk(bytes.subarray(CHUNK * index, CHUNK * (index + 1)), index);
  // Chains of complete trees, each larger than all after it.
  /** @type {Uint32Array[]} */
  const trees = [];
  for (let index = 0; index < chunks - 1; index += 1) {
    let chain = compressed(part(index));
    for (let done = index + 1; done % 2 === 0; done /= 2) chain = compressed(parent(trees.splice(-1)[0], chain));
    trees.push(chain);
  }
  let last = part(chunks - 1);
  for (const tree of trees.reverse()) last = parent(tree, compressed(last));
  const digest = new DataView(new ArrayBuffer(32));
  for (const [index, word] of compressed(last, ROOT).entries()) digest.setUint32(4 * index, word, true);
  return [...new Uint8Array(digest.buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
