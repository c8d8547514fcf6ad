// The README has the command that runs this test.
import assert from "node:assert";
import { test } from "node:test";
import { choose, randomSource, type Decide } from "../strategy";

const STATE = { heights: [], knights: [], ap: 5 };
const DECIDE: Decide = {
  type: "decide",
  decision: "turn",
  state: STATE,
  legal: ["block c4", "buy", "end"],
};

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

test("the same seed gives the same choices", () => {
  const one = randomSource("9f");
  const two = randomSource("9f");
  for (let i = 0; i < 50; i++) assert.strictEqual(one(10), two(10));
});
