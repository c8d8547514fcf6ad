// Says turns in words. Without scripts the page shows their actions.

import { summary } from "./viewer/turns.js";

for (const node of document.querySelectorAll("[data-turn]")) {
  node.textContent = summary(node.dataset.turn.split(","));
}
