// A first bot: it plays any legal action, each as likely as the others.
const lines = require("readline").createInterface({ input: process.stdin });
let seed = 1;

function below(bound) {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return (seed >>> 8) % bound;
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "hello") {
    for (const letter of message.seed) seed = (seed * 31 + letter.charCodeAt(0)) >>> 0;
    console.log(JSON.stringify({ type: "ready" }));
  } else if (message.type === "decide") {
    console.log(JSON.stringify({ index: below(message.legal.length) }));
  }
});
