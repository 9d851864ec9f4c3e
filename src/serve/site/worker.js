// Keeps the files of the page and what was read of tables, so that both are there without a network.

const NAME = "kalah-VERSION";

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const old = caches.keys().then((names) => names.filter((name) => name.startsWith("kalah-") && name !== NAME));
  event.waitUntil(old.then((names) => Promise.all(names.map((name) => caches.delete(name)))).then(() => self.clients.claim()));
});

/** Parts of tables are kept under the address with their range; a cache takes no partial answers. */
async function part(request, range) {
  const cache = await caches.open(NAME);
  const key = `${request.url}&${range}`;
  const partial = async (whole) => new Response(await whole.arrayBuffer(), { status: 206, headers: whole.headers });
  const kept = await cache.match(key);
  if (kept) return partial(kept);
  const response = await fetch(request.url, { headers: { range } });
  if (response.status !== 206) return response;
  const headers = { "content-range": response.headers.get("content-range") ?? "" };
  const whole = new Response(await response.arrayBuffer(), { headers });
  await cache.put(key, whole.clone());
  return partial(whole);
}

/** The newest file there is, or the kept one without a network. */
async function file(request) {
  const cache = await caches.open(NAME);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request.url.split("#")[0], response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(request.url.split("#")[0]);
    if (kept) return kept;
    throw error;
  }
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || new URL(request.url).origin !== location.origin) return;
  const range = request.headers.get("range");
  event.respondWith(range ? part(request, range) : file(request));
});
