// A first bot: it plays any legal action, each as likely as the others.
import { createInterface } from "readline";

type Message =
  | { type: "hello"; seed: string }
  | { type: "decide"; legal: string[] }
  | { type: "end" }
  | { type: "forfeit" };

let seed = 1;

function below(bound: number): number {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return (seed >>> 8) % bound;
}

createInterface({ input: process.stdin }).on("line", (line: string) => {
  const message = JSON.parse(line) as Message;
  if (message.type === "hello") {
    for (const letter of message.seed) seed = (seed * 31 + letter.charCodeAt(0)) >>> 0;
    console.log(JSON.stringify({ type: "ready" }));
  } else if (message.type === "decide") {
    console.log(JSON.stringify({ index: below(message.legal.length) }));
  }
});
