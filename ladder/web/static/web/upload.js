// A file that is dropped on the upload form is uploaded at once. Without this script
// the form has a file field and a button.

const form = document.querySelector("form.upload");
const field = form.querySelector("input[type=file]");
const hint = form.querySelector(".drophint");
const notice = form.querySelector(".dropnotice");
const button = form.querySelector("button");
const maxBytes = Number(form.dataset.maxBytes);
let depth = 0;  // dragging over a child fires "leave" for its parent

function say(text, isError = false) {
  notice.textContent = text;
  notice.classList.toggle("error", isError);
}

// Return why these files cannot be uploaded; empty if they can.
function problem(items, files) {
  const entries = [...items].map((item) => item.webkitGetAsEntry?.());
  if (entries.some((entry) => entry?.isDirectory)) return "That is a folder. Pack it into a zip, then drop the zip.";
  if (files.length === 0) return "That is no file. Drop a zip, a tar.gz, or one source file.";
  if (files.length > 1) return `These are ${files.length} files. Pack them into one zip, then drop the zip.`;
  return tooLarge(files[0]);
}

function tooLarge(file) {
  if (file.size <= maxBytes) return "";
  return `${file.name} has ${file.size} bytes; the limit is ${maxBytes}. Leave out what the bot does not need.`;
}

function drag(change) {
  depth = Math.max(0, depth + change);
  form.classList.toggle("over", depth > 0);
}

form.addEventListener("dragenter", (event) => { event.preventDefault(); drag(1); });
form.addEventListener("dragleave", () => drag(-1));
form.addEventListener("dragover", (event) => event.preventDefault());
form.addEventListener("drop", (event) => {
  event.preventDefault();
  depth = 0;
  drag(0);
  const { items, files } = event.dataTransfer;
  const why = problem(items, files);
  if (why) return say(why, true);
  field.files = files;
  form.requestSubmit();
});
field.addEventListener("change", () => {
  const why = field.files[0] ? tooLarge(field.files[0]) : "";
  say(why, Boolean(why));
});
form.addEventListener("submit", (event) => {
  const why = field.files[0] ? tooLarge(field.files[0]) : "";
  if (why) {
    event.preventDefault();
    return say(why, true);
  }
  button.disabled = true;
  say(`Uploading ${field.files[0]?.name ?? ""} …`);
});
// The browser restores the page as it was left, for example after "Back".
addEventListener("pageshow", () => { button.disabled = false; say(""); });
hint.hidden = false;
