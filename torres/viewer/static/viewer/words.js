// Reads actions: their spaces, and what they do in words.

import { gettext as _, gettext_noop } from "./texts.js";

// The title of each card, and what it does.
const CARDS = {
  up2: [gettext_noop("Up two"), gettext_noop("A knight climbs to a neighbour exactly two levels higher.")],
  ap6: [gettext_noop("6 AP"), gettext_noop("Six action points this turn.")],
  ap7: [gettext_noop("7 AP"), gettext_noop("Seven action points this turn.")],
  extra_block: [gettext_noop("Extra block"), gettext_noop("Place one more block, from the general supply.")],
  under_knight: [gettext_noop("Under a knight"), gettext_noop("Put a block from your stacks under one of your knights.")],
  move_block: [gettext_noop("Move a block"), gettext_noop("Take a block of height 1 to a bare space.")],
  diagonal: [gettext_noop("Diagonal"), gettext_noop("A knight moves diagonally, up by at most one level.")],
  jump: [gettext_noop("Jump"), gettext_noop("A knight jumps straight over an adjacent knight.")],
  regroup: [gettext_noop("Regroup"), gettext_noop("A knight goes beside another one of yours, not higher.")],
  door_up: [gettext_noop("Door up"), gettext_noop("A knight walks through a castle and leaves one higher.")],
};
// What a knight does by a card.
const KNIGHT_CARDS = {
  up2: gettext_noop("plays a card: the knight on %(from)s climbs two levels to %(to)s"),
  diagonal: gettext_noop("plays a card: the knight on %(from)s steps diagonally to %(to)s"),
  jump: gettext_noop("plays a card: the knight on %(from)s jumps to %(to)s"),
  regroup: gettext_noop("plays a card: the knight on %(from)s regroups to %(to)s"),
  door_up: gettext_noop("plays a card: the knight on %(from)s climbs through the doors to %(to)s"),
};
const MASTERS = {
  border: gettext_noop("border"), diagonals: gettext_noop("diagonals"), castles: gettext_noop("castles"),
  adjacent: gettext_noop("adjacent knights"), all_levels: gettext_noop("all levels"), row: gettext_noop("row"),
  square: gettext_noop("square"), one_level: gettext_noop("one level"),
};

const FAULTS = {
  protocol: gettext_noop("Its answer was not in the form that was asked for."),
  illegal_action: gettext_noop("It chose an action that is not legal here."),
  timeout: gettext_noop("It used up the time for this decision and its whole bank."),
  crash: gettext_noop("Its program ended, or closed its output."),
  memory: gettext_noop("It used more memory than the limit."),
  output: gettext_noop("It wrote a line, or an output in all, that is longer than the limit."),
};

// Say what a forfeit means; "" for a reason that is not known yet.
export function explained(fault) {
  return fault in FAULTS ? _(FAULTS[fault]) : "";
}

// Return the title of a card and what it does; a hidden card is "?".
export function cardText(card) {
  return CARDS[card]?.map((text) => _(text)) ?? [card === "?" ? _("a hidden card") : card, ""];
}

export function masterTitle(card) {
  return card in MASTERS ? _(MASTERS[card]) : card;
}

// The name of a space, from its place in the heights of a frame, and the other way.
export function spaceName(index) {
  return String.fromCharCode(97 + (index % 8)) + (Math.floor(index / 8) + 1);
}

export function spaceIndex(space) {
  return (Number(space[1]) - 1) * 8 + space.charCodeAt(0) - 97;
}

export function spacesOf(action) {
  return action ? action.match(/\b[a-h][1-8]\b/g) ?? [] : [];
}

export function words(action) {
  const [kind, a, b, c] = action.split(" ");
  switch (kind) {
    case "found": return _("puts a start block on %(space)s", { space: a });
    case "enter": return _("enters on %(space)s", { space: a });
    case "king": return a === "stay" ? _("leaves the king where it is") : _("puts the king on %(space)s", { space: a });
    case "first": return _("lets seat %(seat)s start the next phase", { seat: a });
    case "stock": return _("puts the kept blocks on its stacks: %(stacks)s", { stacks: a });
    case "stack": return _("takes a stack of %(size)s", { size: a });
    case "add": return _("adds a knight on %(space)s", { space: a });
    case "move": return _("moves a knight from %(from)s to %(to)s", { from: a, to: b });
    case "block": return _("builds on %(space)s", { space: a });
    case "buy": return _("buys a card");
    case "keep": return keepWords(cardText(a)[0], b);
    case "score": return _("takes a point");
    case "end": return a ? _("ends the turn; its stacks are %(stacks)s", { stacks: a }) : _("ends the turn");
    case "play": return playWords(a, b, c);
    default: return action;
  }
}

function keepWords(card, where) {
  if (where === "top") return _("keeps “%(card)s” and puts the others on top of the deck", { card });
  return _("keeps “%(card)s” and puts the others under the deck", { card });
}

function playWords(card, from, to) {
  switch (card) {
    case "ap6": return _("plays a card: 6 action points in all");
    case "ap7": return _("plays a card: 7 action points in all");
    case "extra_block": return _("plays a card: an extra block on %(space)s", { space: from });
    case "move_block": return _("plays a card: moves a block from %(from)s to %(to)s", { from, to });
    case "under_knight": return _("plays a card: puts a block under the knight on %(space)s", { space: from });
    default: return card in KNIGHT_CARDS ? _(KNIGHT_CARDS[card], { from, to }) : card;
  }
}
