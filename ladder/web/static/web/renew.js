// Renews a page with an element `data-renew="SECONDS"` until the element is gone from it.
// Then the page is loaded anew, because it may need other scripts by then.

const mark = () => document.querySelector("[data-renew]");

async function renew() {
  const response = document.hidden ? null : await fetch(location.href).catch(() => null);
  if (response?.ok) {
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    if (!next.querySelector("[data-renew]")) return location.reload();
    const main = document.querySelector("main");
    // A link or a button that somebody uses right now stays.
    if (!main.contains(document.activeElement) || main === document.activeElement) {
      main.replaceChildren(...next.querySelector("main").childNodes);
    }
  }
  wait();
}

function wait() {
  setTimeout(renew, 1000 * Number(mark().dataset.renew));
}

if (mark()) wait();
