// Unpacking of a file that `xz --format=lzma --lzma1=preset=9,lc=4,pb=0` packed, with its size in the header.

import assert from "node:assert/strict";
import { test } from "node:test";
import { unpacking } from "../site/unpack.js";

/** Its contents: single bytes, and copies of what came before, near and far, short and long. */
function contents() {
  const bytes = [];
  let number = 1;
  for (let count = 0; count < 500; count += 1) {
    number = (Math.imul(number, 1664525) + 1013904223) >>> 0;
    if (number >>> 24 < 120 && bytes.length > 300) {
      const distance = 1 + ((number >>> 8) % Math.min(bytes.length, 2 ** ((number >>> 20) % 12)));
      const length = 2 + ((number >>> 3) % (1 + (number >>> 24)));
      for (let copied = 0; copied < length; copied += 1) bytes.push(bytes[bytes.length - distance]);
    } else {
      bytes.push(((number >>> 16) % 7) * (1 + ((number >>> 12) % 2) * 30));
    }
  }
  return Uint8Array.from(bytes);
}

const PACKED = [
  "BAAAQAD3CwAAAAAAAABNgD7QPdrxIeRILBhEUCF3aDW3i3Owh+cyX4jIf3PNuoDd5k+izrCj7wc+IOzfwUyj5/zVKOOBNk1/2gU7pa/BM3oNLPA0",
  "4tnWvOGNNYUSQon1jab38cw1n7wb1a8FV8mNVZFuEPwzQsmM7jCYQL703d1gd+eUghwMi4z01tG1Mkb0F6cYXDnv1xmwhBGet6ZLL14IRaW/E9hJ",
  "KD8YOPvY3Cz1luBADdjqrHvnbWMTG8rt/TnANytjWsbp2MxA/QfHJxaY1wSaQIoWZ8iTUUE/OCaYSPOjedyahWpp0C8i0PBULGQ0+QV4MnH89mO6",
  "ID3uEEuyG+tCoa0q/p9kCbvmT4udOefz7vw9RKGovSwCoNCztNc0v2qzCqjhb2CaQzdbhjMio11NTQltOKQ9wy/ZAdZbFuTwsu4uo/xIDq+mCj0T",
  "h3rBpfTmPHYELozg/T54/WPOAE250Ok+h9TXT5YNf2oOPcsSuEcdqpgYodkwAJMMmPs0t0iso11FEjX2jH/DF5eW8xR9AR1miV3D6euyqLBpOtaL",
  "c2BVhBv/rBRRCRW83hObDXi1eNV7MWlAHC7kCxsYCrlU6kNy4JYd6eT/9rnuYvQaYoOy9HjKBRjtRc72ELknwHSB7vRKne8BT7XylRyLEglPBU2u",
  "NRnvQP/a2xnA",
];

const packed = Uint8Array.from(atob(PACKED.join("")), (letter) => letter.charCodeAt(0));

/** Unpacks bytes that come in parts of this length. @param {Uint8Array<ArrayBuffer>} bytes @param {number} length */
async function unpacked(bytes, length) {
  const parts = Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.slice(index * length, (index + 1) * length),
  );
  return new Uint8Array(await new Response(ReadableStream.from(parts).pipeThrough(unpacking())).arrayBuffer());
}

test("a packed file is unpacked while it comes", async () => {
  for (const length of [1, 2, 17, 18, 100, packed.length]) assert.deepEqual(await unpacked(packed, length), contents());
  const { readable, writable } = unpacking();
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  writer.write(packed.slice(0, 400));
  const { value } = await reader.read();
  assert.ok(value && value.length > 0);
  assert.deepEqual(value, contents().slice(0, value.length));
});

test("an incomplete file and one that is not packed are refused", async () => {
  for (let length = 0; length < packed.length - 5; length += 1) {
    await assert.rejects(unpacked(packed.slice(0, length), 50), /packed/);
  }
  const page = new TextEncoder().encode("<!doctype html><title>Portal</title>");
  await assert.rejects(unpacked(page, 50), /no packed file/);
});
