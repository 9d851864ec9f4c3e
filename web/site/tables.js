// Reads scores from table files of a static host, by HTTP range requests: docs/format.md, docs/indexing.md. It makes
// the same checks as the library: the header and every block that is read by their checksums; the directory by the
// digest of the table, which must be the one in the site; and a frame of one block by its digest. Undamaged parts are
// kept in the browser.

import { blake3 } from "./blake3.js";
import { xxh3 } from "./xxh3.js";

const [HEADER, ENTRY, GROUP, BLOCK] = [128, 72, 126, 65536];
const MAGIC = "KALAHTB\n";

/** A table is missing, damaged, or not the expected one. */
export class TableError extends Error {}

/** @typedef {[start: number, end: number]} Range */
/** Positions of the parts of a frame. @typedef {Awaited<ReturnType<Table["frame"]>>} Frame */

/** Returns the next multiple of 64. @param {number} size */
const up = (size) => Math.ceil(size / 64) * 64;

/** Ranks of the rows of a board. */
export class Rows {
  /** @param {number} pits @param {number} maxSeeds */
  constructor(pits, maxSeeds) {
    this.pits = pits;
    /** `count[n][k][p]`: rows of n pits with k seeds and potential p. @type {number[][][]} */
    this.count = [[], Array.from({ length: maxSeeds + 1 }, () => [1])];
    for (let n = 2; n <= pits; n += 1) {
      /** @type {number[][]} */
      const table = [];
      for (let k = 0; k <= maxSeeds; k += 1) {
        const counts = [...this.count[n - 1][k], ...Array(k).fill(0)];
        for (const [p, count] of table[k - 1]?.entries() ?? []) counts[p + n - 1] = (counts[p + n - 1] ?? 0) + count;
        table.push(counts);
      }
      this.count.push(table);
    }
  }

  /** Returns the number of rows with this number of seeds. @param {number} seeds */
  rows(seeds) {
    return this.count[this.pits][seeds].reduce((sum, count) => sum + count, 0);
  }

  /** Returns the rank of a row among those with the same number of seeds. @param {number[]} row */
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

/**
 * Cache of parts of tables between visits; undefined if the browser does not allow it. The worker removes old parts.
 */
const kept = async () => {
  if (!globalThis.caches) return undefined;
  const name = `kalah ${new URL(".", document.baseURI).pathname} tables`;
  return caches.open(name).catch(() => undefined);
};

/** A file whose parts are fetched, each once. Only undamaged parts are kept for later visits. */
class RemoteFile {
  /** @param {string} url */
  constructor(url) {
    this.url = url;
    /** @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>} */
    this.parts = new Map();
    /** Damaged parts, which are fetched from the host, not from the browser's cache. @type {Set<string>} */
    this.damaged = new Set();
    /** @type {Set<string>} */
    this.stored = new Set();
    /** All bytes, from a host without ranges. @type {Uint8Array<ArrayBuffer> | undefined} */
    this.whole = undefined;
    /** Size of the file in bytes, once a host has sent it. @type {number | undefined} */
    this.length = undefined;
  }

  /** Returns the bytes from `start` to `end`. @param {number} start @param {number} end */
  bytes(start, end) {
    const key = `${start}-${end}`;
    let part = this.parts.get(key);
    if (!part) {
      part = this.found(key, start, end);
      this.parts.set(key, part);
      // A failed request is repeated next time.
      part.catch(() => this.parts.delete(key));
    }
    return part;
  }

  /** @param {string} key @param {number} start @param {number} end */
  async found(key, start, end) {
    if (!this.damaged.has(key)) {
      const response = await (await kept())?.match(`${this.url}?${key}`);
      if (response) {
        this.stored.add(key);
        return this.part(response, start, end);
      }
    }
    return this.fetched(key, start, end);
  }

  /** @param {string} key @param {number} start @param {number} end */
  async fetched(key, start, end) {
    if (this.whole) return this.whole.subarray(start, end);
    const cache = this.damaged.has(key) ? "reload" : "default";
    const response = await globalThis.plainFetch(this.url, { cache, headers: { range: `bytes=${start}-${end - 1}` } });
    if (!response.ok) throw new TableError(`${this.url}: HTTP ${response.status}`);
    if (response.status === 206) return this.part(response, start, end);
    // A host without ranges sends the whole file.
    this.whole = new Uint8Array(await response.arrayBuffer());
    this.length = this.whole.length;
    return this.complete(this.whole.subarray(start, end), start, end);
  }

  /**
   * Returns the bytes of an answer with the part from `start` to `end`.
   * @param {Response} response
   * @param {number} start
   * @param {number} end
   */
  async part(response, start, end) {
    const total = response.headers.get("content-range")?.split("/")[1] ?? "";
    if (/^\d+$/.test(total)) this.length = Number(total);
    return this.complete(new Uint8Array(await response.arrayBuffer()), start, end);
  }

  /** @param {Uint8Array<ArrayBuffer>} part @param {number} start @param {number} end */
  complete(part, start, end) {
    if (part.length !== end - start) throw new TableError(`${this.url}: it ends too early`);
    return part;
  }

  /**
   * Returns the result of `check` on parts of the file. Damaged parts are fetched once more, which repairs damage on
   * the way or in a cache.
   * @template Result
   * @param {Range[]} ranges
   * @param {(...parts: Uint8Array<ArrayBuffer>[]) => Result} check
   */
  async checked(ranges, check) {
    try {
      return await this.tried(ranges, check);
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      return this.tried(ranges, check);
    }
  }

  /** @template Result @param {Range[]} ranges @param {(...parts: Uint8Array<ArrayBuffer>[]) => Result} check */
  async tried(ranges, check) {
    try {
      const parts = await Promise.all(ranges.map(([start, end]) => this.bytes(start, end)));
      const result = check(...parts);
      this.keep(ranges, parts);
      return result;
    } catch (error) {
      if (error instanceof TableError) await this.forget(ranges);
      throw error;
    }
  }

  /**
   * Keeps undamaged parts. If that fails, they are fetched again next time.
   * @param {Range[]} ranges
   * @param {Uint8Array<ArrayBuffer>[]} parts
   */
  async keep(ranges, parts) {
    const headers = { "content-range": `bytes */${this.length ?? "*"}` };
    try {
      const cache = await kept();
      for (const [index, [start, end]] of ranges.entries()) {
        const key = `${start}-${end}`;
        this.damaged.delete(key);
        if (this.stored.has(key)) continue;
        this.stored.add(key);
        await cache?.put(`${this.url}?${key}`, new Response(parts[index], { headers }));
      }
    } catch {
      // The disk is full, or the browser has no storage.
    }
  }

  /** @param {Range[]} ranges */
  async forget(ranges) {
    this.whole = undefined;
    const cache = await kept();
    for (const [start, end] of ranges) {
      const key = `${start}-${end}`;
      this.parts.delete(key);
      this.stored.delete(key);
      this.damaged.add(key);
      await cache?.delete(`${this.url}?${key}`);
    }
  }
}

/** @param {Uint8Array} bytes */
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** The table of one layer. */
export class Table {
  /**
   * Describes the table at `url`; `code` is the number of its rule set, `digest` its digest.
   * @param {string} url
   * @param {number} code
   * @param {number} seeds
   * @param {Rows} rows
   * @param {string} digest
   */
  constructor(url, code, seeds, rows, digest) {
    this.name = url.split("/").at(-1);
    this.code = code;
    this.seeds = seeds;
    this.rows = rows;
    this.digest = digest;
    this.file = new RemoteFile(url);
    /**
     * Blocks that match their checksums, by their start.
     * @type {Map<number, Promise<Uint8Array<ArrayBuffer>>>}
     */
    this.sound = new Map();
    /** Header and directory, once they were requested. @type {Promise<DataView> | undefined} */
    this.heading = undefined;
  }

  /** @param {string} why */
  error(why) {
    return new TableError(`${this.name}: ${why}`);
  }

  /** Returns the header and the directory, checked. */
  head() {
    if (!this.heading) {
      this.heading = this.file.checked([[0, HEADER + ENTRY * (this.seeds - 1)]], (bytes) => this.headOf(bytes));
      // A failed request is repeated next time.
      this.heading.catch(() => {
        this.heading = undefined;
      });
    }
    return this.heading;
  }

  /** @param {Uint8Array<ArrayBuffer>} bytes */
  headOf(bytes) {
    if (String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC) throw this.error("not a kalah table");
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    if (view.getUint32(8, true) !== 1) throw this.error(`version ${view.getUint32(8, true)} of the format, not 1`);
    const sealed = bytes.slice(0, HEADER);
    sealed.fill(0, 120);
    if (xxh3(sealed) !== view.getBigUint64(120, true)) throw this.error("its header is damaged");
    const [code, pits, seeds, finished] = bytes.subarray(12, 16);
    if (finished !== 1) throw this.error("never finished");
    if (code !== this.code || pits !== this.rows.pits || seeds !== this.seeds)
      throw this.error("it is not the table of its name");
    const { length } = this.file;
    if (length !== undefined && view.getBigUint64(24, true) !== BigInt(length)) throw this.error("it is not complete");
    // Digest of the magic, the version, the rule set, the pits and the seeds, and the directory.
    const named = new Uint8Array([...bytes.subarray(0, 15), ...bytes.subarray(HEADER)]);
    const digest = hex(bytes.subarray(32, 64));
    if (blake3(named) !== digest) throw this.error("its directory is damaged");
    if (digest !== this.digest) throw this.error("its digest is not the one listed by this site");
    return view;
  }

  /**
   * Returns the positions of the parts of the frame with this number of seeds in the mover's row.
   * @param {number} moverSeeds
   */
  async frame(moverSeeds) {
    const view = await this.head();
    const at = HEADER + ENTRY * (moverSeeds - 1);
    const [start, rows, groups, patchBytes] = [0, 8, 16, 24].map((field) =>
      Number(view.getBigUint64(at + field, true)),
    );
    if (rows !== this.rows.rows(moverSeeds)) throw this.error("its directory is damaged");
    const groupsAt = up(rows);
    const patchesAt = groupsAt + 64 * groups;
    const end = patchesAt + up(patchBytes);
    if (!Number.isSafeInteger(start + end)) throw this.error("its directory is damaged");
    const digest = hex(new Uint8Array(view.buffer, view.byteOffset + at + 40, 32));
    return { start, rows, groups, patchBytes, groupsAt, patchesAt, end, digest };
  }

  /** Returns a block of a frame, checked against its checksum. @param {Frame} frame @param {number} number */
  block(frame, number) {
    const key = frame.start + BLOCK * number;
    let block = this.sound.get(key);
    if (!block) {
      block = this.compared(frame, number);
      this.sound.set(key, block);
      block.catch(() => this.sound.delete(key));
    }
    return block;
  }

  /** @param {Frame} frame @param {number} number */
  compared(frame, number) {
    const [from, to] = [BLOCK * number, Math.min(BLOCK * (number + 1), frame.end)];
    const [sums, blocks] = [frame.start + frame.end, Math.ceil(frame.end / BLOCK)];
    /** @type {Range[]} */
    const ranges = [
      [frame.start + from, frame.start + to],
      [sums, sums + up(8 * blocks)],
    ];
    return this.file.checked(ranges, (bytes, checksums) => this.compare(frame, number, bytes, checksums));
  }

  /**
   * @param {Frame} frame
   * @param {number} number
   * @param {Uint8Array<ArrayBuffer>} bytes
   * @param {Uint8Array} checksums
   */
  compare(frame, number, bytes, checksums) {
    const checksum = new DataView(checksums.buffer, checksums.byteOffset + 8 * number).getBigUint64(0, true);
    if (bytes.length <= 16 || xxh3(bytes) !== checksum) {
      throw this.error(`its block of scores at byte ${frame.start + BLOCK * number} is damaged`);
    }
    // Another frame of one block would have a matching checksum, too.
    if (frame.end <= BLOCK && blake3(new Uint8Array([...bytes, ...checksums])) !== frame.digest) {
      throw this.error(`its frame at byte ${frame.start} is damaged`);
    }
    return bytes;
  }

  /** Returns checked bytes of a frame. @param {Frame} frame @param {number} start @param {number} end */
  async bytes(frame, start, end) {
    if (start >= end || end > frame.end) throw this.error("its directory is damaged");
    const [first, last] = [Math.floor(start / BLOCK), Math.floor((end - 1) / BLOCK)];
    const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const blocks = await Promise.all(numbers.map((number) => this.block(frame, number)));
    if (blocks.length === 1) return blocks[0].subarray(start - BLOCK * first, end - BLOCK * first);
    const joined = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
    for (const [index, block] of blocks.entries()) joined.set(block, BLOCK * index);
    return joined.subarray(start - BLOCK * first, end - BLOCK * first);
  }

  /**
   * Returns the score of the position with these rows, each in its owner's sowing order.
   * @param {number[]} mover
   * @param {number[]} other
   */
  async score(mover, other) {
    const frame = await this.frame(mover.reduce((sum, seeds) => sum + seeds, 0));
    const rank = this.rows.rank(mover);
    const index = this.rows.rank(other) * frame.rows + rank;
    const [number, place] = [Math.floor(index / GROUP), index % GROUP];
    const damaged = () =>
      this.error(`its group of scores at byte ${frame.start + frame.groupsAt + 64 * number} is damaged`);
    if (number >= frame.groups) throw this.error("its directory is damaged");
    const at = frame.groupsAt + 64 * number;
    const [[profile], group] = await Promise.all([this.bytes(frame, rank, rank + 1), this.bytes(frame, at, at + 64)]);
    let codes = [...group];
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
