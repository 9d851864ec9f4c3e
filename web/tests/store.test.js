// Views of the state: which changes are drawn, and how often.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Store } from "../page/store.js";

/** A store whose frames come when the test says. */
function stored() {
  /** @type {(() => void)[]} */
  let waiting = [];
  const store = new Store((draw) => waiting.push(draw));
  const frame = () => {
    const due = waiting;
    waiting = [];
    for (const draw of due) draw();
    return due.length;
  };
  return { store, frame };
}

test("any number of changes is drawn once, with the next frame, in the last state", () => {
  const { store, frame } = stored();
  let state = 0;
  /** @type {number[]} */
  const drawn = [];
  store.subscribe(() => drawn.push(state));
  for (; state < 100; state += 1) store.change();
  assert.deepEqual(drawn, []);
  assert.equal(frame(), 1);
  assert.deepEqual(drawn, [100]);
  assert.equal(frame(), 0);
  store.change();
  frame();
  assert.deepEqual(drawn, [100, 100]);
});

test("a step that is drawn at once includes the changes that wait", () => {
  const { store, frame } = stored();
  let drawn = 0;
  store.subscribe(() => (drawn += 1));
  store.change();
  store.draw();
  assert.equal(drawn, 1);
  frame();
  assert.equal(drawn, 1);
});

test("a view may change the state and leave", () => {
  const { store, frame } = stored();
  let [once, always] = [0, 0];
  const leave = store.subscribe(() => {
    once += 1;
    leave();
    store.change();
  });
  store.subscribe(() => (always += 1));
  store.change();
  frame();
  frame();
  assert.deepEqual([once, always, frame()], [1, 2, 0]);
});
