// Run it in this folder with: node --test
const assert = require("node:assert");
const { spawnSync } = require("node:child_process");
const { test } = require("node:test");
const { choose, randomSource } = require("./bot.js");

const HELLO = { type: "hello", protocol: "torres/1", seats: 2, seat: 0, seed: "9f" };
const DECIDE = { type: "decide", decision: "turn", legal: ["block c4", "buy", "end"] };
const END = { type: "end", scores: [61, 55], ranks: [1, 2], reason: "completed" };

test("it plays a legal action and goes on while it can", () => {
  for (let seed = 0; seed < 50; seed++) {
    const [action] = choose(DECIDE, randomSource(String(seed)));
    assert.ok(["block c4", "buy"].includes(action));
  }
});

test("it ends the turn when nothing else is left", () => {
  const legal = ["end 3,2", "end 3,3"];
  assert.ok(legal.includes(choose({ ...DECIDE, legal }, randomSource("1"))[0]));
});

test("it answers each question once and exits", () => {
  const input = [HELLO, DECIDE, END].map((m) => JSON.stringify(m) + "\n").join("");
  const done = spawnSync(process.execPath, ["bot.js"], { input, encoding: "utf8" });
  const [ready, answer] = done.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepStrictEqual(ready, { type: "ready" });
  assert.ok(DECIDE.legal.includes(answer.actions[0]));
  assert.strictEqual(done.status, 0);
});
