// Whose turn it is: when a program moves by itself, and when a person may move or exchange sides.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { PHASES, enter, goesOn, isHuman, isPaused, isSowing } from "../page/session.js";
import { mayExchange, mayPlay, nextStep, now, onlyPerson, players } from "../page/session.js";
import { newGame, play } from "./games.js";

beforeEach(() => {
  Object.assign(players, { south: "human", north: "greedy" });
  Object.assign(now, { game: newGame(), phase: "playing", exercise: undefined });
});

test("a program moves by itself after a move, and not while somebody browses the game", () => {
  const { game } = now;
  assert.ok(!goesOn(game.root));
  const place = play(game, "3");
  assert.ok(goesOn(place));
  enter("pause");
  assert.ok(!goesOn(place));
  enter("pause");
  enter("look");
  assert.ok(goesOn(place), "at the end of the line, there is nothing to browse");
  play(game, "2");
  assert.ok(!goesOn(place));
});

test("a person moves in their own turn, while no seeds move, and for a program that does not go on", () => {
  const { game } = now;
  assert.ok(mayPlay());
  enter("move");
  assert.ok(!mayPlay());
  enter("end");
  play(game, "3");
  assert.ok(!mayPlay());
  enter("pause");
  assert.ok(mayPlay());
  game.place.over = true;
  assert.ok(!mayPlay());
});

test("there is an only person if the other side is a program", () => {
  assert.equal(onlyPerson(), "south");
  assert.ok(isHuman(now.game.root));
  players.north = "human";
  assert.equal(onlyPerson(), undefined);
  players.south = players.north = "greedy";
  assert.equal(onlyPerson(), undefined);
});

test("sides may be exchanged once, after the first turn, by the pie rule", () => {
  const { game } = now;
  game.pie = "open";
  assert.ok(!mayExchange(game.root));
  assert.ok(!mayExchange(play(game, "3+")), "the first turn goes on");
  const place = play(game, "4");
  assert.ok(mayExchange(place));
  game.pie = "swapped";
  assert.ok(!mayExchange(place));
  game.pie = "open";
  play(game, "2");
  assert.ok(!mayExchange(play(game, "1")), "the second turn is over");
});

test("a new step ends the requests of the last one", () => {
  const { asking, turn } = now;
  assert.equal(nextStep(), turn + 1);
  assert.ok(asking.signal.aborted && !now.asking.signal.aborted);
});

test("a pause ends only by its button, a program, or another game; seeds move only after a move", () => {
  const events = /** @type {const} */ (["open", "look", "move", "end", "go", "pause"]);
  const reached = new Set();
  /** @param {import("../page/session.js").Phase} phase */
  const walk = (phase) => {
    if (reached.has(phase)) return;
    reached.add(phase);
    for (const event of events) {
      now.phase = phase;
      const wasPaused = isPaused();
      enter(event);
      assert.ok(Object.hasOwn(PHASES, now.phase), `${phase} ${event}`);
      assert.equal(isSowing(), event === "move", `${phase} ${event}`);
      const ends = ["open", "go", "pause"].includes(event);
      assert.equal(isPaused(), event === "pause" ? !wasPaused : wasPaused && !ends, `${phase} ${event}`);
      walk(now.phase);
    }
  };
  walk("browsing");
  assert.deepEqual([...reached].sort(), Object.keys(PHASES).sort());
  // Nobody continues from a place that somebody only looks at.
  now.phase = "playing";
  for (const event of /** @type {const} */ (["move", "end", "look"])) enter(event);
  assert.equal(now.phase, "browsing");
});
