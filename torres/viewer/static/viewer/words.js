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
// Each action as a report about a player, and as a choice of the reader.
const ACTIONS = {
  found: [gettext_noop("puts a start block on %(space)s"), gettext_noop("Put a start block on %(space)s")],
  enter: [gettext_noop("enters on %(space)s"), gettext_noop("Enter on %(space)s")],
  stay: [gettext_noop("leaves the king where it is"), gettext_noop("Leave the king where it is")],
  king: [gettext_noop("puts the king on %(space)s"), gettext_noop("Put the king on %(space)s")],
  first: [gettext_noop("lets seat %(seat)s start the next phase"), gettext_noop("Let seat %(seat)s start the next phase")],
  stock: [gettext_noop("puts the kept blocks on its stacks: %(stacks)s"), gettext_noop("Put the kept blocks on your stacks: %(stacks)s")],
  stack: [gettext_noop("takes a stack of %(size)s"), gettext_noop("Take a stack of %(size)s")],
  add: [gettext_noop("adds a knight on %(space)s"), gettext_noop("Add a knight on %(space)s")],
  move: [gettext_noop("moves a knight from %(from)s to %(to)s"), gettext_noop("Move a knight from %(from)s to %(to)s")],
  block: [gettext_noop("builds on %(space)s"), gettext_noop("Build on %(space)s")],
  buy: [gettext_noop("buys a card"), gettext_noop("Buy a card")],
  score: [gettext_noop("takes a point"), gettext_noop("Take a point")],
  end: [gettext_noop("ends the turn"), gettext_noop("End the turn")],
  distribute: [gettext_noop("ends the turn; its stacks are %(stacks)s"), gettext_noop("End the turn; your stacks are %(stacks)s")],
  top: [
    gettext_noop("keeps “%(card)s” and puts the others on top of the deck"),
    gettext_noop("Keep “%(card)s”, put the others on top of the deck"),
  ],
  keep: [
    gettext_noop("keeps “%(card)s” and puts the others under the deck"),
    gettext_noop("Keep “%(card)s”, put the others under the deck"),
  ],
};
// Each card that is played, in the same two forms.
const PLAYS = {
  ap6: [gettext_noop("plays a card: 6 action points in all"), gettext_noop("Card: 6 action points in all")],
  ap7: [gettext_noop("plays a card: 7 action points in all"), gettext_noop("Card: 7 action points in all")],
  extra_block: [
    gettext_noop("plays a card: an extra block on %(space)s"),
    gettext_noop("Card: an extra block on %(space)s"),
  ],
  move_block: [
    gettext_noop("plays a card: moves a block from %(from)s to %(to)s"),
    gettext_noop("Card: move a block from %(from)s to %(to)s"),
  ],
  under_knight: [
    gettext_noop("plays a card: puts a block under the knight on %(space)s"),
    gettext_noop("Card: put a block under the knight on %(space)s"),
  ],
  up2: [
    gettext_noop("plays a card: the knight on %(from)s climbs two levels to %(to)s"),
    gettext_noop("Card: the knight on %(from)s climbs two levels to %(to)s"),
  ],
  diagonal: [
    gettext_noop("plays a card: the knight on %(from)s steps diagonally to %(to)s"),
    gettext_noop("Card: the knight on %(from)s steps diagonally to %(to)s"),
  ],
  jump: [
    gettext_noop("plays a card: the knight on %(from)s jumps to %(to)s"),
    gettext_noop("Card: the knight on %(from)s jumps to %(to)s"),
  ],
  regroup: [
    gettext_noop("plays a card: the knight on %(from)s regroups to %(to)s"),
    gettext_noop("Card: the knight on %(from)s regroups to %(to)s"),
  ],
  door_up: [
    gettext_noop("plays a card: the knight on %(from)s climbs through the doors to %(to)s"),
    gettext_noop("Card: the knight on %(from)s climbs through the doors to %(to)s"),
  ],
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

// Say what a player does: "builds on c4".
export function words(action) {
  return said(action, 0);
}

// Say an action as a choice of the reader: "Build on c4".
export function asChoice(action) {
  return said(action, 1);
}

function said(action, form) {
  const [kind, a, b, c] = action.split(" ");
  const isCard = kind === "play";
  const [rows, key, from, to] = isCard ? [PLAYS, a, b, c] : [ACTIONS, variant(kind, a, b), a, b];
  if (!Object.hasOwn(rows, key)) return isCard ? a : action;
  const card = kind === "keep" ? cardText(a)[0] : "";
  return _(rows[key][form], { space: from, from, to, seat: a, size: a, stacks: a, card });
}

// Return the key of an action in ACTIONS.
function variant(kind, a, b) {
  if (kind === "king" && a === "stay") return "stay";
  if (kind === "end" && a) return "distribute";
  return kind === "keep" && b === "top" ? "top" : kind;
}
