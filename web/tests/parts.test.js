// Parts of tables on hosts with and without range requests: how often and how much is requested.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { PartError, Parts } from "../site/parts.js";

const real = globalThis.fetch;

afterEach(() => {
  globalThis.fetch = real;
});

/** A host of one file. @param {Uint8Array} bytes @param {boolean} ranges */
function host(bytes, ranges) {
  /** @type {(string | undefined)[]} */
  const asked = [];
  globalThis.fetch = /** @type {any} */ (
    async (/** @type {URL} */ _, /** @type {{ headers?: { range: string } }} */ { headers }) => {
      asked.push(headers?.range);
      await new Promise((done) => setTimeout(done, 5));
      const length = { "content-length": String(bytes.length) };
      if (!ranges || !headers) return new Response(bytes.slice(), { headers: length });
      const [first, last] = headers.range.slice(6).split("-").map(Number);
      const total = { "content-range": `bytes ${first}-${last}/${bytes.length}` };
      return new Response(bytes.slice(first, last + 1), { status: 206, headers: total });
    }
  );
  return asked;
}

/** @param {number} size */
const parts = (size) => new Parts("http://host/", new Map([["tables/a", size]]));

/** Seven parts of the file. */
const SEVEN = [0, 10, 20, 30, 40, 50, 60].map((start) => ({ file: "tables/a", start, end: start + 10, fresh: false }));

test("a host without range requests sends a file once, however many parts are read at once", async () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, index) => index);
  const asked = host(bytes, false);
  const found = parts(100);
  const read = await Promise.all(SEVEN.map((part) => found.get(part)));
  assert.deepEqual(read.map(([first]) => first), [0, 10, 20, 30, 40, 50, 60]);
  assert.equal(asked.length, 1);
});

test("a host with range requests sends only the parts", async () => {
  const asked = host(new Uint8Array(100), true);
  const found = parts(100);
  await Promise.all(SEVEN.map((part) => found.get(part)));
  const ranges = SEVEN.map(({ start, end }) => `bytes=${start}-${end - 1}`);
  assert.deepEqual(asked, ranges);
});

test("a large file is never fetched as a whole", async () => {
  const asked = host(new Uint8Array(2 ** 23 + 1), false);
  const found = parts(2 ** 23 + 1);
  const results = await Promise.allSettled(SEVEN.map((part) => found.get(part)));
  assert.ok(results.every((result) => result.status === "rejected" && result.reason instanceof PartError));
  assert.equal(asked.length, 1);
});

test("a page instead of a table is an error, and says nothing about ranges", async () => {
  const found = parts(100);
  host(new TextEncoder().encode("<p>Log in"), false);
  await assert.rejects(found.get(SEVEN[0]), PartError);
  host(new Uint8Array(100), true);
  assert.equal((await found.get(SEVEN[0])).length, 10);
});
