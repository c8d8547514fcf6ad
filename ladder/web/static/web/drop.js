// A file that is dropped on the page goes into the form with `data-drop`, which is sent.

const form = document.querySelector("form[data-drop]");
const input = form?.querySelector("input[type=file]");

function hasFile(event) {
  return [...(event.dataTransfer?.types ?? [])].includes("Files");
}

function mark(on) {
  form.classList.toggle("dropping", on);
}

if (input) {
  document.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) mark(false);  // it has left the window
  });
  document.addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(false);
    input.files = event.dataTransfer.files;
    form.requestSubmit();
  });
}
