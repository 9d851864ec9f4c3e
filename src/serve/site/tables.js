// Reads scores from table files of a static host, by HTTP range requests: docs/format.md, docs/indexing.md. Checked is what
// the library checks: the header and every block that is read by their checksums; the directory by the digest of the table,
// which must be the one that the site names; and a frame of one block by its digest.

import { blake3 } from "./blake3.js";
import { xxh3 } from "./xxh3.js";

const [HEADER, ENTRY, GROUP, BLOCK] = [128, 72, 126, 65536];
const MAGIC = "KALAHTB\n";

/** A table is missing, damaged, or not the expected one. */
export class TableError extends Error {}

/** The next multiple of 64. */
const up = (size) => Math.ceil(size / 64) * 64;

/** Ranks of the rows of a board. */
export class Rows {
  constructor(pits, maxSeeds) {
    this.pits = pits;
    // count[n][k][p]: rows of n pits with k seeds and potential p.
    this.count = [undefined, Array.from({ length: maxSeeds + 1 }, () => [1])];
    for (let n = 2; n <= pits; n += 1) {
      const table = [];
      for (let k = 0; k <= maxSeeds; k += 1) {
        const counts = [...this.count[n - 1][k], ...Array(k).fill(0)];
        (k > 0 ? table[k - 1] : []).forEach((count, p) => (counts[p + n - 1] = (counts[p + n - 1] ?? 0) + count));
        table.push(counts);
      }
      this.count.push(table);
    }
  }

  /** How many rows have so many seeds. */
  rows(seeds) {
    return this.count[this.pits][seeds].reduce((sum, count) => sum + count, 0);
  }

  /** The rank of a row among those with as many seeds. */
  rank(row) {
    let k = row.reduce((sum, seeds) => sum + seeds, 0);
    let p = row.reduce((sum, seeds, pit) => sum + seeds * (this.pits - 1 - pit), 0);
    let rank = this.count[this.pits][k].slice(0, p).reduce((sum, count) => sum + count, 0);
    for (let pit = 0; pit < this.pits - 2; pit += 1) {
      const n = this.pits - pit;
      rank += this.count[n][k][p];
      k -= row[pit];
      p -= row[pit] * (n - 1);
      rank -= this.count[n][k][p];
    }
    return rank;
  }
}

/** A file of which parts are fetched, each once. */
class RemoteFile {
  constructor(url) {
    this.url = url;
    this.parts = new Map();
  }

  /** The bytes from `start` to `end`. */
  bytes(start, end) {
    const key = `${start}-${end}`;
    if (!this.parts.has(key)) {
      const part = this.fetched(start, end);
      this.parts.set(key, part);
      // What failed is tried again.
      part.catch(() => this.parts.delete(key));
    }
    return this.parts.get(key);
  }

  async fetched(start, end) {
    if (this.whole) return this.whole.subarray(start, end);
    const response = await globalThis.plainFetch(this.url, { headers: { range: `bytes=${start}-${end - 1}` } });
    if (!response.ok) throw new TableError(`${this.url}: HTTP ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    // A host without ranges sends all of it.
    if (response.status !== 206) this.whole = bytes;
    const total = response.status === 206 ? response.headers.get("content-range")?.split("/")[1] : bytes.length;
    if (/^\d+$/.test(total)) this.length = Number(total);
    const part = response.status === 206 ? bytes : bytes.subarray(start, end);
    if (part.length !== end - start) throw new TableError(`${this.url}: it ends too early`);
    return part;
  }
}

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** The table of one layer. */
export class Table {
  /** `name` is the file's name in `directory`; `code` the number of the rule set; `digest` that of the table. */
  constructor(directory, name, code, seeds, rows, digest) {
    // What a browser keeps of another version of the site is another address.
    const file = new RemoteFile(`${directory}/${name}?${digest.slice(0, 16)}`);
    Object.assign(this, { name, code, seeds, rows, digest, file, sound: new Map() });
  }

  error(why) {
    return new TableError(`${this.name}: ${why}`);
  }

  /** The header and the directory, checked. */
  async head() {
    const bytes = await this.file.bytes(0, HEADER + ENTRY * (this.seeds - 1));
    if (String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC) throw this.error("not a kalah table");
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    if (view.getUint32(8, true) !== 1) throw this.error(`version ${view.getUint32(8, true)} of the format, not 1`);
    const sealed = bytes.slice(0, HEADER);
    sealed.fill(0, 120);
    if (xxh3(sealed) !== view.getBigUint64(120, true)) throw this.error("its header is damaged");
    const [code, pits, seeds, finished] = bytes.subarray(12, 16);
    if (finished !== 1) throw this.error("never finished");
    if (code !== this.code || pits !== this.rows.pits || seeds !== this.seeds) throw this.error("another table than its name says");
    const { length } = this.file;
    if (length !== undefined && view.getBigUint64(24, true) !== BigInt(length)) throw this.error("it is not complete");
    // Of the magic, the version, the rule set, the pits and the seeds, and the directory.
    const named = new Uint8Array([...bytes.subarray(0, 15), ...bytes.subarray(HEADER)]);
    const digest = hex(bytes.subarray(32, 64));
    if (blake3(named) !== digest) throw this.error("its directory is damaged");
    if (digest !== this.digest) throw this.error("its digest is not the one that this site names");
    return view;
  }

  /** The frame of the mover's rows with so many seeds: where its parts are. */
  async frame(moverSeeds) {
    this.view ??= await (this.heading ??= this.head().catch((error) => ((this.heading = undefined), Promise.reject(error))));
    const at = HEADER + ENTRY * (moverSeeds - 1);
    const [start, rows, groups, patchBytes] = [0, 8, 16, 24].map((field) => Number(this.view.getBigUint64(at + field, true)));
    if (rows !== this.rows.rows(moverSeeds)) throw this.error("its directory is damaged");
    const groupsAt = up(rows);
    const patchesAt = groupsAt + 64 * groups;
    const end = patchesAt + up(patchBytes);
    if (!Number.isSafeInteger(start + end)) throw this.error("its directory is damaged");
    const digest = hex(new Uint8Array(this.view.buffer, this.view.byteOffset + at + 40, 32));
    return { start, rows, groups, patchBytes, groupsAt, patchesAt, end, digest };
  }

  /** A block of a frame, compared with its checksum. */
  block(frame, number) {
    const key = frame.start + BLOCK * number;
    if (!this.sound.has(key)) {
      const compared = this.compared(frame, number);
      this.sound.set(key, compared);
      compared.catch(() => this.sound.delete(key));
    }
    return this.sound.get(key);
  }

  async compared(frame, number) {
    const [from, to] = [BLOCK * number, Math.min(BLOCK * (number + 1), frame.end)];
    const sums = frame.start + frame.end;
    const blocks = Math.ceil(frame.end / BLOCK);
    const [bytes, checksums] = await Promise.all([
      this.file.bytes(frame.start + from, frame.start + to),
      this.file.bytes(sums, sums + up(8 * blocks)),
    ]);
    const checksum = new DataView(checksums.buffer, checksums.byteOffset + 8 * number).getBigUint64(0, true);
    if (bytes.length <= 16 || xxh3(bytes) !== checksum) {
      throw this.error(`its block of scores at byte ${frame.start + from} is damaged`);
    }
    // Another frame of one block would bring its checksum along.
    if (blocks === 1 && blake3(new Uint8Array([...bytes, ...checksums])) !== frame.digest) {
      throw this.error(`its frame at byte ${frame.start} is damaged`);
    }
    return bytes;
  }

  /** Checked bytes of a frame. */
  async bytes(frame, start, end) {
    if (start >= end || end > frame.end) throw this.error("its directory is damaged");
    const [first, last] = [Math.floor(start / BLOCK), Math.floor((end - 1) / BLOCK)];
    const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const blocks = await Promise.all(numbers.map((number) => this.block(frame, number)));
    if (blocks.length === 1) return blocks[0].subarray(start - BLOCK * first, end - BLOCK * first);
    const joined = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
    blocks.forEach((block, index) => joined.set(block, BLOCK * index));
    return joined.subarray(start - BLOCK * first, end - BLOCK * first);
  }

  /** The score of the position with these rows, each in its owner's sowing order. */
  async score(mover, other) {
    const frame = await this.frame(mover.reduce((sum, seeds) => sum + seeds, 0));
    const rank = this.rows.rank(mover);
    const index = this.rows.rank(other) * frame.rows + rank;
    const [number, place] = [Math.floor(index / GROUP), index % GROUP];
    const damaged = () => this.error(`its group of scores at byte ${frame.start + frame.groupsAt + 64 * number} is damaged`);
    if (number >= frame.groups) throw this.error("its directory is damaged");
    const at = frame.groupsAt + 64 * number;
    const [[profile], group] = await Promise.all([this.bytes(frame, rank, rank + 1), this.bytes(frame, at, at + 64)]);
    let codes = group;
    let code;
    if (group[63] >= 128) {
      const patch = frame.patchesAt + new DataView(group.buffer, group.byteOffset).getUint32(0, true);
      const patchesEnd = frame.patchesAt + frame.patchBytes;
      if (patch + 5 > patchesEnd) throw damaged();
      const head = await this.bytes(frame, patch, patch + 5);
      const end = patch + 5 + 2 * head[4];
      if (end > patchesEnd) throw damaged();
      const exceptions = head[4] > 0 ? await this.bytes(frame, patch + 5, end) : [];
      for (let at = 0; at < exceptions.length; at += 2) if (exceptions[at] === place) code = exceptions[at + 1];
      codes = [...head.subarray(0, 4), ...group.subarray(4)];
    }
    code ??= (codes[Math.floor(place / 2)] >> (4 * (place % 2))) & 15;
    const score = ((group[63] & 127) - 64 + code + profile + 512) % 256;
    if (score > this.seeds) throw damaged();
    return score;
  }
}
