// Images as small PNG files: with a palette of few colours.

import { deflateSync, inflateSync } from "node:zlib";

/** Yields the chunks of a file: kind and contents. @param {Buffer} file */
function* chunks(file) {
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    yield { kind: file.toString("latin1", at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

/** Returns width, height and pixels of an image of 8 bits a channel, with or without alpha. @param {Buffer} file */
function decoded(file) {
  const all = [...chunks(file)];
  const head = all[0].data;
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[head[9]];
  if (head[8] !== 8 || !channels || head[12] !== 0) throw new Error("an image of 24 or 32 bits is expected");
  const packed = Buffer.concat(all.filter(({ kind }) => kind === "IDAT").map(({ data }) => data));
  const rows = inflateSync(packed);
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const left = x >= channels ? pixels[y * stride + x - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * stride + x] : 0;
      const corner = x >= channels && y > 0 ? pixels[(y - 1) * stride + x - channels] : 0;
      const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      const add = [0, left, up, (left + up) >> 1, paeth][filter];
      pixels[y * stride + x] = rows[y * (stride + 1) + 1 + x] + add;
    }
  }
  return { width, height, channels, pixels };
}

/** @param {Buffer} data */
function checksum(data) {
  let sum = 0xffffffff;
  for (const byte of data) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}

/** @param {string} kind @param {Uint8Array} data */
function chunk(kind, data) {
  const whole = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const [length, end] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  end.writeUInt32BE(checksum(whole));
  return Buffer.concat([length, whole, end]);
}

/**
 * Divides colours, with their numbers of pixels, into at most `most` groups: always the widest, at its median.
 * @param {[number[], number][]} colours
 * @param {number} most
 */
function groups(colours, most) {
  const all = [colours];
  /** @param {[number[], number][]} group */
  const widest = (group) => {
    const widths = [0, 1, 2, 3].map((channel) => {
      const values = group.map(([colour]) => colour[channel]);
      return values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
    });
    const width = Math.max(...widths);
    return { channel: widths.indexOf(width), weight: width * Math.sqrt(group.reduce((sum, [, n]) => sum + n, 0)) };
  };
  while (all.length < most) {
    const found = all.map(widest);
    const weight = Math.max(...found.map(({ weight }) => weight));
    if (weight === 0) break;
    const index = found.findIndex((each) => each.weight === weight);
    const [group] = all.splice(index, 1);
    group.sort(([a], [b]) => a[found[index].channel] - b[found[index].channel]);
    const half = Math.max(1, Math.floor(group.length / 2));
    all.push(group.slice(0, half), group.slice(half));
  }
  return all;
}

/** Returns an image with at most `most` colours. @param {Buffer} file @param {number} most */
export function reduced(file, most) {
  const { width, height, channels, pixels } = decoded(file);
  /** @type {Map<number, number>} */
  const counts = new Map();
  /** @param {number} at */
  const key = (at) => pixels.readUIntBE(at, 3) * 256 + (channels === 4 ? pixels[at + 3] : 255);
  for (let at = 0; at < pixels.length; at += channels) counts.set(key(at), (counts.get(key(at)) ?? 0) + 1);
  /** @param {number} key */
  const parts = (key) => [24, 16, 8, 0].map((bits) => Math.floor(key / 2 ** bits) % 256);
  const found = groups([...counts].map(([key, count]) => [parts(key), count]), most);
  /** @type {Map<number, number>} */
  const places = new Map();
  const palette = found.map((group, index) => {
    const all = group.reduce((sum, [, count]) => sum + count, 0);
    for (const [colour] of group) places.set(colour.reduce((sum, part) => sum * 256 + part, 0), index);
    return [0, 1, 2, 3].map((part) => Math.round(group.reduce((sum, [each, n]) => sum + each[part] * n, 0) / all));
  });
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = places.get(key((y * width + x) * channels)) ?? 0;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    file.subarray(0, 8),
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(palette.flatMap((colour) => colour.slice(0, 3)))),
    chunk("tRNS", Buffer.from(palette.map((colour) => colour[3]))),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
