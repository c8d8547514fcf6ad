// Follow an upload or a trial: fetch its part of the page again and again, and show it when
// it changes. At the end a part with `data-then` loads the script that it needs.
// Without this script the page loads itself anew.

const container = document.getElementById("progress");
const POLL_INTERVAL_MS = Number(container.dataset.interval ?? 1500);
const MAX_INTERVAL_MS = 15000;  // while the server does not answer
const sentence = document.getElementById("progress-sentence");
let tag = "";
let interval = POLL_INTERVAL_MS;

async function follow() {
  if (document.hidden) return setTimeout(follow, POLL_INTERVAL_MS);
  const headers = tag ? { "If-None-Match": tag } : {};
  // Without "no-store" the browser would turn a 304 into the response it has stored.
  const response = await fetch(container.dataset.source, { headers, cache: "no-store" }).catch(() => null);
  if (response?.status === 200) {
    tag = response.headers.get("ETag") ?? "";
    show(await response.text());
  }
  const isAnswered = response !== null && (response.ok || response.status === 304);
  interval = isAnswered ? POLL_INTERVAL_MS : Math.min(2 * interval, MAX_INTERVAL_MS);
  if (!container.querySelector("[data-over]")) return setTimeout(follow, interval);
  const then = container.querySelector("[data-then]");
  if (then) import(then.dataset.then);
}

// The server has escaped all texts of the fragment. Screen readers hear one sentence.
function show(html) {
  container.innerHTML = html;
  const text = container.querySelector("[data-sentence]").dataset.sentence;
  if (sentence.textContent !== text) sentence.textContent = text;
}

setTimeout(follow, POLL_INTERVAL_MS);
