// A first bot for Torres: it plays any legal action, all with the same probability.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: use console.error to log.
// Everything about the messages is in docs/protocol.md.
import { createInterface } from "readline";

// Only the parts that this bot reads. The referee sends more.
type Message =
  | { type: "hello"; seed: string }
  | { type: "decide"; legal: string[] }
  | { type: "end" }
  | { type: "forfeit" };

let seed = 1;

// Return a random whole number from 0 to bound - 1 (a linear congruential generator).
function below(bound: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return (seed >>> 8) % bound;
}

createInterface({ input: process.stdin }).on("line", (line: string) => {
  const message = JSON.parse(line) as Message;
  if (message.type === "hello") {
    // All randomness comes from this seed, so that a game can be repeated.
    for (const letter of message.seed) seed = (seed * 31 + letter.charCodeAt(0)) >>> 0;
    console.log(JSON.stringify({ type: "ready" }));
  } else if (message.type === "decide") {
    // Your ideas go here. The message also shows the state of the board. An answer may
    // name its actions, as in {"actions": ["move b3 b4", "end"]}.
    console.log(JSON.stringify({ index: below(message.legal.length) }));
  }
  // "end" and "forfeit" need no answer, and neither do messages of the future.
});
