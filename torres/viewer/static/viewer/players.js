// The players beside the board, in the order of their scores: bars, action points as
// pips, stacks as blocks, and their cards in words. All nodes are made with DOM methods,
// so that no name can be markup.

import { gettext as _, ngettext } from "./texts.js";
import { cardText } from "./words.js";

const POINTS = 5;  // action points of a turn without a card
const LONG_HAND = 4;

export function element(name, className = "", text = "") {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.textContent = text;
  return node;
}

// Return the rank of each seat: forfeited seats are last, the latest forfeit first.
export function ranksOf({ scores, forfeited }) {
  const value = (seat) => (forfeited.includes(seat) ? forfeited.indexOf(seat) - scores.length : scores[seat]);
  return scores.map((_row, seat) => 1 + scores.filter((_, other) => value(other) > value(seat)).length);
}

// Say who has won.
export function resultOf(frame, players) {
  const ranks = ranksOf(frame);
  const winners = players.filter((_name, seat) => ranks[seat] === 1);
  const name = winners.join(` ${_("and")} `);
  return winners.length > 1 ? _("%(name)s share the first rank.", { name }) : _("%(name)s wins.", { name });
}

export class Players {
  // `list` may hold rows with links that the server has written. `own` is the seat of the
  // person who plays, or null.
  constructor(list, names, own = null) {
    this.list = list;
    this.rows = names.map((name, seat) => this.row(name, seat, own));
  }

  row(name, seat, own) {
    let item = this.list.querySelector(`[data-seat="${seat}"]`);
    if (!item) {
      item = element("li");
      item.dataset.seat = String(seat);
      const who = element("p", "who");
      who.append(element("span", `chip seat${seat}`, String(seat)), element("bdi", "name", name));
      if (seat === own) who.append(element("span", "tag", _("you")));
      who.append(element("strong", "score"));
      item.append(who);
    }
    item.querySelector(".who").querySelectorAll(".tag.result, .tag.warn").forEach((tag) => tag.remove());
    const bar = element("div", `bar seat${seat}`);
    const goods = element("div", "goods");
    const cards = element("details", "held");
    cards.append(element("summary"), element("ul"));
    cards.hidden = true;
    const thought = element("p", "thought");
    thought.hidden = true;
    item.querySelectorAll(".bar, .goods, .held, .thought").forEach((node) => node.remove());
    item.append(bar, goods, cards, thought);
    return { item, bar, goods, cards, thought, hand: null };
  }

  // `thoughts` has the last thought of each seat: {say, expect}, or undefined.
  show(frame, thoughts = []) {
    const ranks = ranksOf(frame);
    const best = Math.max(1, ...frame.scores);
    this.rows.forEach((row, seat) => {
      row.item.classList.toggle("to-act", frame.seat === seat);
      row.item.querySelector(".score").textContent = String(frame.scores[seat]);
      row.bar.style.setProperty("--share", frame.scores[seat] / best);
      this.drawTags(row, frame, seat, ranks[seat]);
      this.drawGoods(row.goods, frame, seat);
      this.drawCards(row, frame.hands[seat]);
      drawThought(row.thought, thoughts[seat]);
    });
    this.order(ranks);
  }

  drawTags({ item }, frame, seat, rank) {
    item.querySelectorAll(".tag.state").forEach((tag) => tag.remove());
    const tags = [];
    if (frame.forfeited.includes(seat)) tags.push(element("span", "tag state warn", _("forfeit")));
    if (frame.over) tags.push(element("span", rank === 1 ? "tag state ready" : "tag state", rank === 1 ? _("winner") : _("rank %(rank)s", { rank })));
    item.querySelector(".score").before(...tags);
  }

  // Action points, stacks and knights, as small pictures with a text for screen readers.
  drawGoods(goods, frame, seat) {
    const parts = [];
    const acts = frame.seat === seat && frame.phase && !frame.over;
    if (acts) parts.push(group(ngettext("%(count)s action point", "%(count)s action points", frame.ap), Array.from({ length: Math.max(POINTS, frame.ap) }, (_, k) => element("i", k < frame.ap ? "pip" : "pip spent"))));
    const stacks = frame.stacks[seat] ?? [];
    const current = acts ? frame.current : null;
    if (stacks.length || current !== null) {
      const text = [current === null ? "" : ngettext("%(count)s block left in this turn", "%(count)s blocks left in this turn", current), stacks.length ? _("stacks of %(sizes)s", { sizes: stacks.join(", ") }) : ""];
      const drawn = stacks.map((size) => stack(size, "stack"));
      if (current !== null) drawn.unshift(stack(current, "stack current"));
      parts.push(group(text.filter(Boolean).join("; "), drawn));
    }
    const knights = frame.reserve[seat];
    if (knights) parts.push(group(ngettext("%(count)s knight to add", "%(count)s knights to add", knights), [element("span", `reserve seat${seat}`, "♟".repeat(knights))]));
    goods.replaceChildren(...parts);
  }

  drawCards(row, hand) {
    const cards = Array.isArray(hand) ? hand : Array(hand ?? 0).fill("?");
    const key = cards.join();
    if (row.hand === key) return;
    row.hand = key;
    row.cards.hidden = !cards.length;
    const secret = cards[0] === "?";
    const titles = cards.map((card) => cardText(card)[0]).join(", ");
    row.cards.firstChild.textContent = secret || cards.length > LONG_HAND ? ngettext("%(count)s card", "%(count)s cards", cards.length) : titles;
    row.cards.lastChild.replaceChildren(...(secret ? [] : cards).map((card) => {
      const item = element("li");
      item.append(element("strong", "", cardText(card)[0]), ` ${cardText(card)[1]}`);
      return item;
    }));
  }

  // Put the rows into the order of the ranks; the one that has the focus keeps it.
  order(ranks) {
    const sorted = this.rows.map((_row, seat) => seat).sort((one, other) => ranks[one] - ranks[other] || one - other);
    const key = sorted.join();
    if (this.sorted === key) return;
    this.sorted = key;
    const focused = document.activeElement;
    this.list.append(...sorted.map((seat) => this.rows[seat].item));
    if (this.list.contains(focused)) focused.focus({ preventScroll: true });
  }
}

// A seat that has said something once keeps the line, so that nothing jumps.
function drawThought(line, thought) {
  if (thought) line.hidden = false;
  const parts = [];
  if (thought?.say) parts.push(element("q", "", thought.say));
  if (typeof thought?.expect === "number") parts.push(element("span", "tag", _("expects %(share)s %", { share: Math.round(100 * thought.expect) })));
  line.replaceChildren(...parts);
}

function group(text, nodes) {
  const node = element("span", "good");
  node.title = text;
  node.append(element("span", "hidden", `${text}. `), ...nodes);
  return node;
}

function stack(size, className) {
  const node = element("span", className);
  node.append(...Array.from({ length: size }, () => element("i")), element("b", "", String(size)));
  node.setAttribute("aria-hidden", "true");
  return node;
}
