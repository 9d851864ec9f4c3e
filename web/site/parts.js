// Parts of files on the host, fetched by range requests and kept for later visits. The engine compares them with their
// checksums, and asks for fresh ones if they are damaged.

/** A part could not be fetched, or is not a part of the file that the site describes. */
export class PartError extends Error {}

/** Files above this are not fetched as a whole: a search is quicker. */
const LARGE = 2 ** 23;

/** @param {string} file */
const nameOf = (file) => file.split("/").at(-1);

/** @param {Part} part @param {string} base */
const address = ({ file, start, end }, base) => `${new URL(file, base).href}?${start}-${end}`;

/** Parts of the files below an address. */
export class Parts {
  /** Files of hosts without range requests. @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>} */
  #files = new Map();
  /** True if the host answers range requests, and false if it sends whole files. @type {boolean | undefined} */
  #ranges;
  /** The request that finds this out. @type {Promise<unknown> | undefined} */
  #asking;

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
   * Returns a part from the cache or the host, which it keeps; only from the host if it must be fresh.
   * @param {Part} part
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   * @throws {PartError} if the host does not send it
   */
  async get(part) {
    const [cache, key] = [await this.#cache(), address(part, this.base)];
    const cached = part.fresh ? undefined : await cache?.match(key);
    if (cached) return new Uint8Array(await cached.arrayBuffer());
    const bytes = await this.#fetch(part, part.fresh).catch((error) => {
      // A cache on the way may have what is no part.
      if (part.fresh || !(error instanceof PartError)) throw error;
      return this.#fetch(part, true);
    });
    // The disk may be full, or the browser without storage. Then it is fetched again next time.
    await cache?.put(key, new Response(bytes)).catch(() => {});
    return bytes;
  }

  /**
   * Fetches a part. Until it is known whether the host answers range requests, one request is sent at a time.
   * @param {Part} part
   * @param {boolean} fresh
   */
  async #fetch(part, fresh) {
    while (this.#ranges === undefined && this.#asking) await this.#asking.catch(() => {});
    if (this.#ranges === false) return (await this.#file(part.file, fresh)).subarray(part.start, part.end);
    const answer = this.#range(part, fresh);
    if (this.#ranges === undefined) {
      this.#asking = answer;
      const done = () => (this.#asking = undefined);
      answer.then(done, done);
    }
    return answer;
  }

  /** @param {Part} part @param {boolean} fresh */
  async #range({ file, start, end }, fresh) {
    const size = this.sizes.get(file);
    const headers = { range: `bytes=${start}-${end - 1}` };
    const response = await fetch(new URL(file, this.base), { cache: fresh ? "reload" : "default", headers });
    if (response.status === 206) {
      this.#ranges = true;
      const bytes = new Uint8Array(await response.arrayBuffer());
      const total = response.headers.get("content-range")?.split("/")[1] ?? "*";
      if (bytes.length === end - start && (total === "*" || Number(total) === size)) return bytes;
      throw new PartError(`${nameOf(file)}: it is not complete`);
    }
    const length = response.headers.get("content-length");
    // The whole file. What has another length is no table, but such as a page that asks to log in.
    if (response.ok && (length === null || Number(length) === size)) this.#ranges = false;
    return (await this.#whole(file, response)).subarray(start, end);
  }

  /** Returns a whole file, from one request. @param {string} file @param {boolean} fresh */
  #file(file, fresh) {
    if (fresh) this.#files.delete(file);
    const known = this.#files.get(file);
    if (known) return known;
    if (this.#isLarge(file)) throw new PartError(`${nameOf(file)}: the host sends only whole files, and it is large`);
    return this.#whole(file, fetch(new URL(file, this.base), { cache: fresh ? "reload" : "default" }));
  }

  /** @param {string} file */
  #isLarge = (file) => (this.sizes.get(file) ?? 0) > LARGE;

  /** Reads a whole file, and remembers it at once. @param {string} file @param {Response | Promise<Response>} sent */
  #whole(file, sent) {
    const read = async () => {
      const response = await sent;
      if (!response.ok) throw new PartError(`${nameOf(file)}: HTTP ${response.status}`);
      if (this.#isLarge(file)) {
        await response.body?.cancel();
        throw new PartError(`${nameOf(file)}: the host sends only whole files, and it is large`);
      }
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (bytes.length !== this.sizes.get(file)) throw new PartError(`${nameOf(file)}: it is not complete`);
      return bytes;
    };
    const whole = read();
    this.#files.set(file, whole);
    whole.catch(() => this.#files.delete(file));
    return whole;
  }
}
