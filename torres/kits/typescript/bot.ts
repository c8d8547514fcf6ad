// A first bot for Torres: it plays any legal action, but never ends a turn early.
//
// The referee writes one JSON object on each line of stdin, and the bot answers with one
// on each line of stdout. Only answers may go to stdout: use console.error to log.
// Everything about the messages is in docs/protocol.md.
//
// The server bundles this file with all that it imports. It does not check the types:
// run `tsc --noEmit` for that, if you have it.
import { createInterface } from "node:readline";
import { choose, randomSource, type Message } from "./strategy";

let below = randomSource("");
createInterface({ input: process.stdin }).on("line", (line: string) => {
  const message = JSON.parse(line) as Message;
  if (message.type === "hello") {
    below = randomSource(message.seed);
    console.log(JSON.stringify({ type: "ready" }));
  } else if (message.type === "decide") {
    console.log(JSON.stringify({ actions: choose(message, below) }));
  }
  // "end" and "forfeit" need no answer, nor do messages of the future. After "end" the
  // referee closes stdin: then nothing is left to wait for, and the bot exits.
});
