// Search the static documentation: passages that contain all words, the best first. The
// index is a script, because pages from a disk may not fetch files.
"use strict";

const base = document.currentScript.dataset.top;
const MAX_RESULTS = 20;
const TITLE_SCORE = 20, HEADING_SCORE = 10, DECISION_SCORE = -30;

function score([title, heading, address, text], words) {
  const [page, head, body] = [title, heading, text].map((part) => part.toLowerCase());
  let sum = address.startsWith("decisions/") ? DECISION_SCORE : 0;
  for (const word of words) {
    const value = Math.min(body.split(word).length - 1, 5)
      + TITLE_SCORE * page.includes(word) + HEADING_SCORE * head.includes(word);
    if (!value) return -Infinity;
    sum += value;
  }
  return sum;
}

function show(query) {
  const words = [...new Set(query.toLowerCase().split(/\s+/).filter(Boolean))];
  const rows = (words.length ? PASSAGES : [])
    .map((passage) => [score(passage, words), passage])
    .filter(([value]) => value > -Infinity)
    .sort(([one], [other]) => other - one)
    .slice(0, MAX_RESULTS);
  const list = document.createElement("ol");
  for (const [, [title, heading, address]] of rows) {
    const link = document.createElement("a");
    link.href = base + address;
    link.textContent = heading === title ? title : `${title}: ${heading}`;
    list.append(document.createElement("li"));
    list.lastChild.append(link);
  }
  const line = document.createElement("p");
  line.textContent = rows.length ? "Best passages" : "Nothing contains all these words.";
  document.getElementById("found").replaceChildren(...(words.length ? [line, list] : []));
}

addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form.search");
  const field = document.getElementById("q");
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("focus", () => {
    const index = document.createElement("script");
    index.src = `${base}search-index.js`;
    index.onload = () => show(field.value);
    document.head.append(index);
  }, { once: true });
  field.addEventListener("input", () => {
    if (typeof PASSAGES !== "undefined") show(field.value);
  });
});
