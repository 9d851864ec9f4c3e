// Parts of files on the host, fetched by range requests. They are kept for later visits once the engine has compared
// them with their checksums.

/** A part could not be fetched, or is not a part of the file that the site describes. */
export class PartError extends Error {}

/** @param {Part} part @param {string} base */
const address = ({ file, start, end }, base) => `${new URL(file, base).href}?${start}-${end}`;

/** Parts of the files below an address. */
export class Parts {
  /** Parts that are kept already. @type {Set<string>} */
  #stored = new Set();
  /** Files of hosts without range requests. @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>} */
  #whole = new Map();

  /**
   * @param {string} base address of the page's folder
   * @param {Map<string, number>} sizes of the files in bytes
   */
  constructor(base, sizes) {
    this.base = base;
    this.sizes = sizes;
  }

  /** Opens the cache; undefined if the browser does not allow it. The service worker removes old files from it. */
  async #cache() {
    if (!globalThis.caches) return undefined;
    return caches.open(`kalah ${new URL(this.base).pathname} tables`).catch(() => undefined);
  }

  /**
   * Returns a part from the cache or the host; only from the host if it is `fresh`.
   * @param {Part} part
   * @param {boolean} fresh
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   * @throws {PartError} if the host does not send it
   */
  async get(part, fresh) {
    const key = address(part, this.base);
    if (!fresh) {
      const kept = await (await this.#cache())?.match(key);
      if (kept) {
        this.#stored.add(key);
        return new Uint8Array(await kept.arrayBuffer());
      }
    }
    return this.#fetch(part, fresh);
  }

  /** @param {Part} part @param {boolean} fresh */
  async #fetch({ file, start, end }, fresh) {
    const name = file.split("/").at(-1);
    const size = this.sizes.get(file);
    const kept = fresh ? undefined : this.#whole.get(file);
    if (kept) return (await kept).subarray(start, end);
    const headers = { range: `bytes=${start}-${end - 1}` };
    const response = await fetch(new URL(file, this.base), { cache: fresh ? "reload" : "default", headers });
    if (!response.ok) throw new PartError(`${name}: HTTP ${response.status}`);
    if (response.status === 206) {
      const bytes = new Uint8Array(await response.arrayBuffer());
      const total = response.headers.get("content-range")?.split("/")[1] ?? "*";
      if (bytes.length !== end - start || (total !== "*" && Number(total) !== size))
        throw new PartError(`${name}: it is not complete`);
      return bytes;
    }
    // A host without range requests sends the whole file.
    const whole = response.arrayBuffer().then((buffer) => {
      if (buffer.byteLength !== size) throw new PartError(`${name}: it is not complete`);
      return new Uint8Array(buffer);
    });
    this.#whole.set(file, whole);
    whole.catch(() => this.#whole.delete(file));
    return (await whole).subarray(start, end);
  }

  /**
   * Keeps parts. If that fails, they are fetched again next time.
   * @param {Map<Part, Uint8Array<ArrayBuffer>>} parts
   */
  async keep(parts) {
    try {
      const cache = await this.#cache();
      for (const [part, bytes] of parts) {
        const key = address(part, this.base);
        if (this.#stored.has(key)) continue;
        this.#stored.add(key);
        await cache?.put(key, new Response(bytes));
      }
    } catch {
      // The disk is full, or the browser has no storage.
    }
  }

  /** Forgets damaged parts. @param {Iterable<Part>} parts */
  async forget(parts) {
    const cache = await this.#cache();
    for (const part of parts) {
      const key = address(part, this.base);
      this.#stored.delete(key);
      this.#whole.delete(part.file);
      await cache?.delete(key);
    }
  }
}
