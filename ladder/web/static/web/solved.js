// Remember in this browser which puzzles were solved, and mark them in the list.

import { gettext as _ } from "./viewer/texts.js";

const KEY = "solved-puzzles";
let solved = new Set();
try {
  solved = new Set(JSON.parse(localStorage.getItem(KEY) ?? "[]"));
} catch { /* storage is off, or holds something else */ }

const judged = document.querySelector("[data-solved]");
if (judged) {
  solved.add(Number(judged.dataset.solved));
  try {
    localStorage.setItem(KEY, JSON.stringify([...solved]));
  } catch { /* storage is off or full */ }
}
const links = [...document.querySelectorAll("[data-puzzle]")];
for (const link of links) {
  if (!solved.has(Number(link.dataset.puzzle))) continue;
  link.classList.add("done");
  link.append(" ✓");
}
const line = document.getElementById("solved");
const count = document.querySelectorAll("[data-puzzle].done").length;
if (line && count) line.textContent = _("You have solved %(count)s of %(all)s in this browser.", { count, all: links.length });
