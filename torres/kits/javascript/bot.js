// A first bot for Torres: it plays any legal action, but never ends a turn early.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: use console.error to log.
// Everything about the messages is in docs/protocol.md.
const { createInterface } = require("node:readline");

// Return a function that returns random whole numbers from 0 to bound - 1.
// All randomness comes from the seed in "hello", so that a game can be repeated.
function randomSource(seed) {
  let state = 1;
  for (const letter of seed) state = (Math.imul(state, 31) + letter.charCodeAt(0)) >>> 0;
  return (bound) => {
    // A linear congruential generator. Its higher bits are the better ones.
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % bound;
  };
}

// Return your actions, in order. This is the place for your ideas.
//
// message.state shows the board: for example message.state.heights[0][2] is the number
// of blocks on c1. You may answer with a whole turn, as in
// ["move b3 b4", "block c4", "end"], or with one action: then you are asked again.
function choose(message, below) {
  const goingOn = message.legal.filter((action) => !action.startsWith("end"));
  const actions = goingOn.length ? goingOn : message.legal;
  return [actions[below(actions.length)]];
}

// Speak the protocol: hello, decide, decide, ..., end.
function main() {
  let below = randomSource("");
  createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line);
    if (message.type === "hello") {
      below = randomSource(message.seed);
      console.log(JSON.stringify({ type: "ready" }));
    } else if (message.type === "decide") {
      console.log(JSON.stringify({ actions: choose(message, below) }));
    }
    // "end" and "forfeit" need no answer, nor do messages of the future. After "end"
    // the referee closes stdin: then nothing is left to wait for, and the bot exits.
  });
}

if (require.main === module) main();
module.exports = { choose, randomSource };
