// The editor is a text field. This script adds numbers of lines, keeps the indentation, and
// remembers changes that were not run, as long as the tab of the browser is open.

const area = document.getElementById("id_source");
const form = document.getElementById("code");
const discard = document.getElementById("discard");
const gutter = document.createElement("pre");
const key = `torres-code ${location.pathname} ${form.elements.language.value}`;

gutter.className = "gutter";
gutter.ariaHidden = "true";
area.before(gutter);
area.value = sessionStorage.getItem(key) ?? area.value;

function show() {
  const count = area.value.split("\n").length;
  gutter.textContent = Array.from({ length: count }, (_, at) => at + 1).join("\n") + "\n\n";
  if (discard) discard.hidden = area.value === area.defaultValue;
  follow();
}

function follow() {
  gutter.style.height = `${area.offsetHeight}px`;
  gutter.scrollTop = area.scrollTop;
}

function change() {
  if (area.value === area.defaultValue) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, area.value);
  show();
}

// A new line begins where the last one does, and further right after ":" and "{".
function newLine() {
  const line = area.value.slice(0, area.selectionStart).split("\n").pop();
  const deeper = { ":": "    ", "{": "  " }[line.trimEnd().slice(-1)] ?? "";
  // The only way to change a field that "Undo" can take back.
  document.execCommand("insertText", false, `\n${line.match(/^\s*/)[0]}${deeper}`);
}

function select(number) {
  const lines = area.value.split("\n");
  const start = lines.slice(0, number - 1).join("\n").length + (number > 1 ? 1 : 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[number - 1] ?? "").length);
  area.scrollTop = (number - 4) * (area.scrollHeight / lines.length);
}

area.addEventListener("input", change);
area.addEventListener("scroll", follow);
new ResizeObserver(follow).observe(area);
area.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (event.ctrlKey || event.metaKey) form.requestSubmit();
  else newLine();
});
discard?.addEventListener("click", () => { area.value = area.defaultValue; change(); area.focus(); });
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-line]");
  if (!link) return;
  event.preventDefault();
  select(Number(link.dataset.line));
});
show();
