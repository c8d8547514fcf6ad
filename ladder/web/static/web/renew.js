// Renews a page with an element `data-renew="SECONDS"` until the element is gone from it.
// Then the page is loaded anew, because it may need other scripts by then.

const mark = () => document.querySelector("[data-renew]");
const main = document.querySelector("main");
let shown = main.innerHTML;  // as the server wrote it, before other scripts change it

async function renew() {
  const response = document.hidden ? null : await fetch(location.href).catch(() => null);
  if (response?.ok) {
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    if (!next.querySelector("[data-renew]")) return location.reload();
    const content = next.querySelector("main");
    if (content.innerHTML !== shown && !isUsed()) {
      shown = content.innerHTML;
      keepPlaces(() => main.replaceChildren(...content.childNodes));
    }
  }
  wait();
}

// True if somebody uses a link or a button right now, or has selected text.
function isUsed() {
  const active = document.activeElement;
  const focused = main.contains(active) && main !== active && !active.matches(".wide");
  return focused || !getSelection().isCollapsed;
}

// Regions that somebody has scrolled, focused or opened stay so.
function keepPlaces(replace) {
  const places = new Map(regions().map((node) => [nameOf(node), { left: node.scrollLeft, open: node.open }]));
  const focused = document.activeElement.matches("main .wide") ? nameOf(document.activeElement) : null;
  replace();
  for (const node of regions()) {
    const place = places.get(nameOf(node));
    if (!place) continue;
    node.scrollLeft = place.left;
    if (place.open) node.open = true;
    if (nameOf(node) === focused) node.focus({ preventScroll: true });
  }
}

function regions() {
  return [...main.querySelectorAll(".wide, details")];
}

function nameOf(node) {
  return node.ariaLabel ?? node.querySelector("summary")?.textContent;
}

function wait() {
  setTimeout(renew, 1000 * Number(mark().dataset.renew));
}

if (mark()) wait();
