// Says turns and cards in words. Without scripts the page shows their identifiers.

import { summary } from "./viewer/turns.js";
import { cardText } from "./viewer/words.js";

for (const node of document.querySelectorAll("[data-turn]")) {
  node.textContent = summary(node.dataset.turn.split(","));
}
for (const node of document.querySelectorAll("[data-cards]")) {
  node.removeAttribute("translate");
  node.textContent = node.dataset.cards.split(" ").map((card) => cardText(card)[0]).join(", ");
}
