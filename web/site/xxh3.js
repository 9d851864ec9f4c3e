// XXH3, 64 bits, seed 0, for 17 bytes or more, which is enough for tables.

const WORD = (1n << 64n) - 1n;
const [P32_1, P32_2, P32_3] = [0x9e3779b1n, 0x85ebca77n, 0xc2b2ae3dn];
const [P64_1, P64_2, P64_3] = [0x9e3779b185ebca87n, 0xc2b2ae3d27d4eb4fn, 0x165667b19e3779f9n];
const [P64_4, P64_5] = [0x85ebca77c2b2ae63n, 0x27d4eb2f165667c5n];
const SECRET = new DataView(new ArrayBuffer(192));
(
  "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221" +
  "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8" +
  "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb" +
  "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
  .match(/../g)
  ?.forEach((byte, at) => {
    SECRET.setUint8(at, parseInt(byte, 16));
  });

/** @param {number} at */
const secret = (at) => SECRET.getBigUint64(at, true);

/** @param {bigint} a @param {bigint} b */
function fold(a, b) {
  const product = a * b;
  return (product ^ (product >> 64n)) & WORD;
}

/** @param {bigint} x */
function avalanche(x) {
  x = ((x ^ (x >> 37n)) * 0x165667919e3779f9n) & WORD;
  return x ^ (x >> 32n);
}

/** @param {DataView} view @param {number} size */
function short(view, size) {
  /** @param {number} at @param {number} from */
  const mix = (at, from) =>
    fold(view.getBigUint64(at, true) ^ secret(from), view.getBigUint64(at + 8, true) ^ secret(from + 8));
  let total = BigInt(size) * P64_1;
  if (size <= 128) {
    for (let pair = 0; pair < Math.floor((size - 1) / 32) + 1; pair += 1) {
      total += mix(16 * pair, 32 * pair) + mix(size - 16 * (pair + 1), 32 * pair + 16);
    }
    return avalanche(total & WORD);
  }
  for (let part = 0; part < 8; part += 1) total += mix(16 * part, 16 * part);
  total = avalanche(total & WORD);
  for (let part = 8; part < Math.floor(size / 16); part += 1) total += mix(16 * part, 16 * (part - 8) + 3);
  return avalanche((total + mix(size - 16, 136 - 17)) & WORD);
}

/** Returns the checksum of bytes. @param {Uint8Array} bytes */
export function xxh3(bytes) {
  const size = bytes.length;
  if (size <= 16) throw new RangeError("xxh3 of 16 bytes or fewer");
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  if (size <= 240) return short(view, size);
  const lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1];
  /** @param {number} at @param {number} from */
  const stripe = (at, from) => {
    for (let lane = 0; lane < 8; lane += 1) {
      const word = view.getBigUint64(at + 8 * lane, true);
      const key = word ^ secret(from + 8 * lane);
      lanes[lane ^ 1] = (lanes[lane ^ 1] + word) & WORD;
      lanes[lane] = (lanes[lane] + (key & 0xffffffffn) * (key >> 32n)) & WORD;
    }
  };
  const stripes = Math.floor((size - 1) / 64);
  for (let number = 0; number < stripes; number += 1) {
    stripe(64 * number, 8 * (number % 16));
    if (number % 16 === 15) {
      for (let lane = 0; lane < 8; lane += 1) {
        const word = lanes[lane];
        lanes[lane] = ((word ^ (word >> 47n) ^ secret(128 + 8 * lane)) * P32_1) & WORD;
      }
    }
  }
  stripe(size - 64, 192 - 64 - 7);
  let total = BigInt(size) * P64_1;
  for (let lane = 0; lane < 8; lane += 2) {
    total += fold(lanes[lane] ^ secret(11 + 8 * lane), lanes[lane + 1] ^ secret(11 + 8 * (lane + 1)));
  }
  return avalanche(total & WORD);
}
