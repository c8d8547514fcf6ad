// Count down to the moments in `data-until`, each second. The server writes the same in
// words, so a page without scripts says when it was loaded.

import { gettext as _, ngettext } from "./viewer/texts.js";

const DAY_S = 86400;

// Return the time until a moment, for example "in 2 days, 03:04:05".
function words(until) {
  const left = Math.ceil((Date.parse(until) - Date.now()) / 1000);
  if (left <= 0) return _("now");
  const days = Math.floor(left / DAY_S);
  const clock = [Math.floor(left / 3600) % 24, Math.floor(left / 60) % 60, left % 60]
    .map((part) => String(part).padStart(2, "0")).join(":");
  return days ? ngettext("in %(count)s day, %(clock)s", "in %(count)s days, %(clock)s", days, { clock }) : _("in %(clock)s", { clock });
}

// The elements are looked for each time, because renew.js may replace them.
function tick() {
  for (const node of document.querySelectorAll("[data-until]")) {
    node.textContent = words(node.dataset.until);
  }
}

tick();
setInterval(tick, 1000);
