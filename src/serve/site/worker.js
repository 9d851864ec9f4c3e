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
  const key = `${request.url}?${range}`;
  const kept = await cache.match(key);
  if (kept) return new Response(await kept.arrayBuffer(), { status: 206 });
  const response = await fetch(request.url, { headers: { range } });
  if (response.status !== 206) return response;
  const bytes = await response.arrayBuffer();
  await cache.put(key, new Response(bytes));
  return new Response(bytes, { status: 206 });
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
