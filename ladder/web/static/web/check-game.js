// "Check this game": compare the replay with the public log, in the browser of a reader.
// The key of the log is remembered at the first check, so that another one is noticed.

import { checkGame, Mismatch, openCheckpoint, readDocument, readReceipt, supported } from "./receipt.js";

const REMEMBERED = "torres-log-key";
const SIGNS = new Map([[true, "✓"], [false, "✗"], [null, "…"]]);
const WORDS = new Map([[true, "It fits: "], [false, "It does not fit: "], [null, ""]]);

for (const section of document.querySelectorAll("[data-check-game]")) {
  section.hidden = false;
  const list = section.querySelector("ol");
  const verdict = section.querySelector("output");
  section.querySelector("button").addEventListener("click", () => run(section, list, verdict));
}

async function run(section, list, verdict) {
  list.replaceChildren();
  verdict.textContent = "Checking …";
  if (!supported()) {
    verdict.textContent = "This browser cannot check it. Use a newer one and HTTPS, or torres verify.";
    return;
  }
  const results = [];
  try {
    for await (const [fits, sentence] of checks(section.dataset)) {
      results.push(fits);
      list.append(row(fits, sentence));
    }
  } catch (error) {
    results.push(false);
    list.append(row(false, error instanceof Mismatch || error instanceof Unanswered
      ? error.message : "A document of the service cannot be read."));
  }
  verdict.textContent = results.includes(false)
    ? "Something does not fit. Keep the replay and the receipt, and ask the operator."
    : "Everything that was checked fits.";
}

class Unanswered extends Error {}

async function* checks({ game, receipt, replay, key }) {
  const [receiptText, replayText, keyText] = await Promise.all([receipt, replay, key].map(load));
  const head = await openCheckpoint((await readReceipt(receiptText)).checkpoint, keyText);
  yield [true, `The key of the log has signed a tree of ${head.size} leaves.`];
  yield keyRow(keyText.trim());
  yield* checkGame(Number(game), await readReceipt(receiptText), head, readDocument(replayText));
}

async function load(address) {
  const response = await fetch(address).catch(() => null);
  if (response?.ok) return response.text();
  const { detail } = await response?.json().catch(() => ({})) ?? {};
  throw new Unanswered(detail ?? "The service did not answer. Try again.");
}

// Compare the key with the first one. A browser that stores nothing sees each for the first time.
function keyRow(key) {
  let known = null;
  try {
    known = localStorage.getItem(REMEMBERED);
    if (known === null) localStorage.setItem(REMEMBERED, key);
  } catch { /* this browser stores nothing */ }
  return known === null
    ? [true, "The key is new to this browser, which compares later keys with it."]
    : [known === key, "The key is the one that this browser saw at its first check."];
}

function row(fits, sentence) {
  const item = document.createElement("li");
  const sign = document.createElement("span");
  sign.textContent = SIGNS.get(fits);
  sign.setAttribute("aria-hidden", "true");
  const words = document.createElement("span");
  words.className = fits === false ? "" : "hidden";
  words.textContent = WORDS.get(fits);
  item.className = fits === false ? "wrong" : "";
  item.append(sign, " ", words, sentence);
  return item;
}
