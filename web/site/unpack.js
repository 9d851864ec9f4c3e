// Unpacks LZMA, by which WebAssembly is a quarter smaller than by gzip. Browsers have no decoder for it. A file is
// unpacked while it comes.

/** Bytes of the header: the properties, the size of the dictionary, and the size of the contents; and of the start. */
const [HEADER, START] = [13, 18];

/** No literal or match has more bytes than this. */
const LONGEST = 24;

// Places of the probabilities of the bits, as in the LZMA specification. The export packs with four bits of context
// for literals, and none for positions: instructions of WebAssembly have no alignment.
const CONTEXT_BITS = 4;
const IS_MATCH = 0;
const IS_REPEAT = IS_MATCH + 12;
const IS_NOT_FIRST = IS_REPEAT + 12;
const IS_NOT_SECOND = IS_NOT_FIRST + 12;
const IS_FOURTH = IS_NOT_SECOND + 12;
const IS_LONG = IS_FOURTH + 12;
const LENGTHS = 2 + 8 + 8 + 256;
const MATCH_LENGTH = IS_LONG + 12;
const REPEAT_LENGTH = MATCH_LENGTH + LENGTHS;
const SLOTS = REPEAT_LENGTH + LENGTHS;
const NEAR = SLOTS + 4 * 64;
const ALIGNMENT = NEAR + 115;
const LITERALS = ALIGNMENT + 16;
const PROBABILITIES = LITERALS + (0x300 << CONTEXT_BITS);

/** A range decoder, and the probabilities of the bits so far. */
class Bits {
  #probabilities = new Uint16Array(PROBABILITIES).fill(1024);
  #range = 2 ** 32 - 1;

  #packed = new Uint8Array();
  #place = 0;
  #code = 0;

  /** Bytes that have come, and are not read. */
  get left() {
    return this.#packed.length - this.#place;
  }

  /** Adds bytes that have come. @param {Uint8Array} bytes */
  add(bytes) {
    this.#packed = new Uint8Array([...this.#packed.subarray(this.#place), ...bytes]);
    this.#place = 0;
  }

  /** Reads the header; returns the size of the contents. */
  readHeader() {
    if (this.left < START || this.#packed[0] !== CONTEXT_BITS) throw new Error("it is no packed file");
    const start = new DataView(this.#packed.buffer);
    this.#code = start.getUint32(HEADER + 1);
    this.#place = START;
    return start.getUint32(5, true);
  }

  #fill() {
    if (this.#range >= 2 ** 24) return;
    if (this.#place === this.#packed.length) throw new Error("a packed file is not complete");
    this.#range *= 256;
    this.#code = this.#code * 256 + this.#packed[this.#place];
    this.#place += 1;
  }

  /** Reads a bit with the probability at this place. @param {number} place */
  bit(place) {
    const zero = this.#probabilities[place];
    const bound = (this.#range >>> 11) * zero;
    const isZero = this.#code < bound;
    if (isZero) {
      this.#range = bound;
      this.#probabilities[place] = zero + ((2048 - zero) >> 5);
    } else {
      this.#range -= bound;
      this.#code -= bound;
      this.#probabilities[place] = zero - (zero >> 5);
    }
    this.#fill();
    return isZero ? 0 : 1;
  }

  /** Reads a number whose bits are equally probable. @param {number} count */
  direct(count) {
    let number = 0;
    for (let index = 0; index < count; index += 1) {
      this.#range >>>= 1;
      const bit = this.#code < this.#range ? 0 : 1;
      this.#code -= bit * this.#range;
      this.#fill();
      number = 2 * number + bit;
    }
    return number;
  }

  /** Reads a number, the highest bit first. @param {number} place @param {number} count */
  number(place, count) {
    let node = 1;
    for (let index = 0; index < count; index += 1) node = 2 * node + this.bit(place + node);
    return node - 2 ** count;
  }

  /** Reads a number, the lowest bit first. @param {number} place @param {number} count */
  reversed(place, count) {
    let [node, number] = [1, 0];
    for (let index = 0; index < count; index += 1) {
      const bit = this.bit(place + node);
      node = 2 * node + bit;
      number += bit * 2 ** index;
    }
    return number;
  }

  /** Reads the length of a match. @param {number} place */
  length(place) {
    if (!this.bit(place)) return 2 + this.number(place + 2, 3);
    if (!this.bit(place + 1)) return 10 + this.number(place + 10, 3);
    return 18 + this.number(place + 18, 8);
  }

  /** Reads the distance of a match of this length, less one. @param {number} length */
  distance(length) {
    const slot = this.number(SLOTS + 64 * Math.min(length - 2, 3), 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const least = (2 + (slot & 1)) * 2 ** count;
    if (slot < 14) return least + this.reversed(NEAR + least - slot, count);
    return least + 16 * this.direct(count - 4) + this.reversed(ALIGNMENT, 4);
  }

  /**
   * Reads a byte. After a match, the byte that would have continued it is `expected`, otherwise 0x100.
   * @param {number} previous the byte before it
   * @param {number} expected
   */
  literal(previous, expected) {
    const place = LITERALS + 0x300 * (previous >> (8 - CONTEXT_BITS));
    let node = 1;
    for (let index = 7; node < 0x100 && expected < 0x100; index -= 1) {
      const likely = (expected >> index) & 1;
      const bit = this.bit(place + 0x100 * (1 + likely) + node);
      node = 2 * node + bit;
      if (bit !== likely) break;
    }
    while (node < 0x100) node = 2 * node + this.bit(place + node);
    return node;
  }
}

/**
 * Unpacks a file in the format of `.lzma`, as the export packs it. Of a damaged file the result may be arbitrary. The
 * stream fails if a file is not packed, or not complete.
 * @param {(done: number) => void} progress receives the number of bytes that have come
 * @returns {TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>}
 */
export function unpacking(progress = () => {}) {
  const bits = new Bits();
  let [done, place] = [0, 0];
  /** @type {Uint8Array<ArrayBuffer> | undefined} */
  let unpacked;
  // The kinds of the last steps: at least 7 after a match.
  let state = 0;
  // Distances of the last matches, less one.
  let distances = [0, 0, 0, 0];
  /** Unpacks what has come, while `least` bytes are left. @param {number} least */
  const unpack = (least) => {
    unpacked ??= new Uint8Array(bits.readHeader());
    const from = place;
    while (place < unpacked.length && bits.left >= least) {
      if (!bits.bit(IS_MATCH + state)) {
        const expected = state < 7 ? 0x100 : unpacked[place - distances[0] - 1];
        unpacked[place] = bits.literal(place ? unpacked[place - 1] : 0, expected);
        state = state < 4 ? 0 : state - (state < 10 ? 3 : 6);
        place += 1;
        continue;
      }
      let [length, next] = [1, 9];
      if (!bits.bit(IS_REPEAT + state)) {
        [length, next] = [bits.length(MATCH_LENGTH), 7];
        distances = [bits.distance(length), ...distances.slice(0, 3)];
      } else {
        const isNotFirst = bits.bit(IS_NOT_FIRST + state);
        if (isNotFirst) {
          const index = bits.bit(IS_NOT_SECOND + state) && 1 + bits.bit(IS_FOURTH + state);
          distances.unshift(...distances.splice(1 + index, 1));
        }
        if (isNotFirst || bits.bit(IS_LONG + state)) [length, next] = [bits.length(REPEAT_LENGTH), 8];
      }
      // These are 10 and 11 for all kinds of matches after another one.
      state = state < 7 ? next : next === 7 ? 10 : 11;
      for (const end = place + length; place < end; place += 1) unpacked[place] = unpacked[place - distances[0] - 1];
    }
    return unpacked.slice(from, place);
  };
  return new TransformStream({
    transform(part, next) {
      done += part.length;
      progress(done);
      bits.add(part);
      if (unpacked || bits.left >= START) next.enqueue(unpack(LONGEST));
    },
    flush: (next) => next.enqueue(unpack(0)),
  });
}
