// Keeps the files of one version of the page, so that it works without a network. The export puts constants before
// this script: the VERSION; the FILES, each with its path, media type and SHA-256 digest; and the paths of the TABLES.
//
// Only files with the right digest are kept, and later answers of a host or a network never replace them. Parts of
// tables are kept by parts.js; the engine compares them with their checksums.

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const SCOPE = new URL("./", location.href);
const PREFIX = `kalah ${SCOPE.pathname} `;
const [NAME, PARTS] = [`${PREFIX}${VERSION}`, `${PREFIX}tables`];

/** @param {string} path */
const address = (path) => new URL(path, SCOPE).href;
const LISTED = new Map(FILES.map((file) => [address(file[0]), file]));

/** @param {BufferSource} bytes */
const sha256 = async (bytes) =>
  [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");

/**
 * Returns a file from the host, if it has the right digest.
 * @param {typeof FILES[number]} file
 * @param {RequestCache} cache
 */
async function fetched([path, type, digest], cache) {
  const response = await fetch(address(path), { cache, mode: "same-origin" });
  const kind = response.headers.get("content-type");
  if (response.status !== 200 || response.type !== "basic" || !(kind ?? "").startsWith(type))
    throw new TypeError(`${path}: the answer is not this file`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if ((await sha256(bytes)) !== digest) throw new TypeError(`${path}: damaged, or of another version`);
  // A new response: browsers reject redirected ones for a page.
  return new Response(bytes, { headers: kind ? { "content-type": kind } : {} });
}

/** Fetches a file and saves it. @param {typeof FILES[number]} file */
async function save(file) {
  // The page has just loaded most files, and the digest shows whether the browser's copy is right, however old it is.
  // If not, it may be damaged, or the host may have repaired the file.
  const response = await fetched(file, "force-cache").catch(() => fetched(file, "reload"));
  const cache = await caches.open(NAME);
  await cache.put(address(file[0]), response.clone());
  return response;
}

worker.addEventListener("install", (event) => event.waitUntil(Promise.all(FILES.map(save))));

/** Removes the files of other versions. */
async function tidy() {
  const names = await caches.keys();
  const others = names.filter((name) => name.startsWith(PREFIX) && name !== NAME && name !== PARTS);
  await Promise.all(others.map((name) => caches.delete(name)));
  const [parts, tables] = [await caches.open(PARTS), new Set(TABLES.map(address))];
  const lost = (await parts.keys()).filter((request) => !tables.has(request.url.split("?")[0]));
  await Promise.all(lost.map((request) => parts.delete(request)));
}

worker.addEventListener("activate", (event) => event.waitUntil(tidy().then(() => worker.clients.claim())));

/** @param {string} url */
const saved = async (url) => (await caches.open(NAME)).match(url);

/** Returns the newest page, or the saved one if the host does not answer. @param {Request} request */
async function page(request) {
  try {
    const response = await fetch(request);
    if (response.status < 400) return response;
    return (await saved(SCOPE.href)) ?? response;
  } catch (error) {
    const response = await saved(SCOPE.href);
    if (response) return response;
    throw error;
  }
}

/** Returns a file of this version, never of another. @param {Request} request @param {typeof FILES[number]} listed */
async function file(request, listed) {
  return (await saved(address(listed[0]))) ?? save(listed).catch(() => fetch(request));
}

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== SCOPE.origin) return;
  const url = origin + pathname;
  const listed = LISTED.get(url);
  if (request.mode === "navigate") {
    // Ignores the part after a question mark.
    if (url === SCOPE.href || url === address("index.html")) event.respondWith(page(request));
  } else if (listed) {
    event.respondWith(file(request, listed));
  }
});
