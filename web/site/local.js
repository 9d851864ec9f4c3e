// Answers the page's requests here, by the engine in a worker, instead of a server. All other requests go to the
// network.

const version = new URL(".", import.meta.url).pathname.split("/").at(-2);

globalThis.plainFetch = globalThis.fetch.bind(globalThis);

/**
 * Receives results, the answer, or a failure.
 * @typedef {object} Listener
 * @property {(document: any) => void} progress
 * @property {(status: number, answer: any) => void} end
 * @property {(error: Error) => void} fail
 */

/** Listeners of open requests. @type {Map<number, Listener>} */
const open = new Map();
let last = 0;
/** @type {Worker | undefined} */
let engine;
/** Address of its script. */
let script = "";
/** Answers that need no engine, by the target of the request. @type {Record<string, any>} */
let answers = {};

/** Makes the browser run the service worker of this version, which keeps the files of the page. */
async function saveFiles() {
  await navigator.serviceWorker?.register(new URL(`offline-${version}.js`, document.baseURI));
}

/** Returns the engine, which is started once the page is there, and after a failure. */
function started() {
  if (engine) return engine;
  engine = new Worker(script, { type: "module", name: new URL(".", import.meta.url).href });
  const fail = (/** @type {string} */ why) => {
    engine?.terminate();
    engine = undefined;
    for (const listener of open.values()) listener.fail(new TypeError(why));
    open.clear();
  };
  engine.onmessage = ({ data }) => {
    if (data.failed !== undefined) fail(data.failed);
    else if (data.loading) dispatchEvent(new CustomEvent("engine", { detail: data.loading }));
    // All files have come, so that the service worker finds them in the browser's cache.
    else if (data.ready) {
      dispatchEvent(new CustomEvent("engine"));
      saveFiles().catch(() => {});
    }
    else if ("progress" in data) open.get(data.id)?.progress(data.progress);
    else {
      open.get(data.id)?.end(data.status, data.answer);
      open.delete(data.id);
    }
  };
  engine.onerror = (event) => fail(event.message || "the engine could not be loaded");
  return engine;
}

/**
 * Asks the engine.
 * @param {Omit<EngineRequest, "id">} request
 * @param {AbortSignal | null | undefined} signal
 * @param {Listener} listener
 */
function ask(request, signal, listener) {
  signal?.throwIfAborted();
  last += 1;
  const id = last;
  open.set(id, listener);
  started().postMessage({ id, ...request });
  const giveUp = () => {
    if (!open.delete(id)) return;
    engine?.postMessage({ cancel: id });
    listener.fail(signal?.reason);
  };
  signal?.addEventListener("abort", giveUp, { once: true });
}

/**
 * Answers a request with a stream of events, as a server does.
 * @param {Omit<EngineRequest, "id">} request
 * @param {AbortSignal | null | undefined} signal
 */
function stream(request, signal) {
  const text = new TextEncoder();
  /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */
  const events = new ReadableStream({
    start(controller) {
      /** @param {string} event @param {any} document */
      const put = (event, document) =>
        controller.enqueue(text.encode(`event: ${event}\ndata: ${JSON.stringify(document)}\n\n`));
      ask(request, signal, {
        progress: (document) => put("progress", document),
        end: (status, answer) => {
          put(status === 200 ? "answer" : "error", answer);
          controller.close();
        },
        fail: (error) => controller.error(error),
      });
    },
  });
  return new Response(events, { headers: { "content-type": "text/event-stream" } });
}

/** A puzzle without a day or a number is that of today. @param {string} target */
function dated(target) {
  const [path, query = ""] = target.split("?");
  const fields = new URLSearchParams(query);
  if (path !== "puzzle" || fields.has("day") || fields.has("seed")) return target;
  fields.set("day", new Date().toISOString().slice(0, 10));
  return `${path}?${fields}`;
}

/** @type {typeof fetch} */
globalThis.fetch = async (resource, options = {}) => {
  const base = new URL("./api", document.baseURI);
  const url = new URL(typeof resource === "string" || resource instanceof URL ? resource : resource.url, base);
  const isApi = url.origin === base.origin && `${url.pathname}/`.startsWith(`${base.pathname}/`);
  if (!isApi) return globalThis.plainFetch(resource, options);
  const target = dated(url.pathname.slice(base.pathname.length).replace(/^\//, "") + url.search);
  const accepts = new Headers(options.headers).get("accept") ?? "";
  const streams = target.startsWith("search?") || accepts.includes("text/event-stream");
  const body = typeof options.body === "string" ? options.body : "";
  const waits = options.priority === "low" && !streams;
  const hastens = options.priority === "high";
  const request = { method: options.method ?? "GET", target, body, streams, waits, hastens };
  if (streams) return stream(request, options.signal);
  return new Promise((done, fail) => {
    /** @param {number} status @param {any} answer */
    const end = (status, answer) =>
      done(Response.json(target === "" ? { ...answer, here: true } : answer, { status }));
    const known = request.method === "GET" && answers[target];
    if (known) end(200, known);
    else ask(request, options.signal, { progress: () => {}, end, fail });
  });
};

/** Shows the page and runs its scripts, which are packed: many hosts compress nothing. The policy has its digest. */
async function runPage() {
  const packed = await plainFetch(new URL("page.bin", import.meta.url));
  const text = await new Response(packed.body?.pipeThrough(new DecompressionStream("gzip"))).text();
  const [style, body, textContent, worker, known] = text.split("\0");
  script = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
  answers = JSON.parse(known);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  document.adoptedStyleSheets = [sheet];
  document.body.insertAdjacentHTML("beforeend", body);
  document.head.append(Object.assign(document.createElement("script"), { type: "module", textContent }));
}

runPage().then(started);
