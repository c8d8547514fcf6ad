// Reads actions: their spaces, and what they do in words.

// The title of each card, what it does, and for a knight's card the verb of its action.
const CARDS = {
  up2: ["Up two", "A knight climbs to a neighbour exactly two levels higher.", "climbs two levels"],
  ap6: ["6 AP", "Six action points this turn."],
  ap7: ["7 AP", "Seven action points this turn."],
  extra_block: ["Extra block", "Place one more block, from the general supply."],
  under_knight: ["Under a knight", "Put a block from your stacks under one of your knights."],
  move_block: ["Move a block", "Take a block of height 1 to a bare space."],
  diagonal: ["Diagonal", "A knight moves diagonally, up by at most one level.", "steps diagonally"],
  jump: ["Jump", "A knight jumps straight over an adjacent knight.", "jumps"],
  regroup: ["Regroup", "A knight goes beside another one of yours, not higher.", "regroups"],
  door_up: ["Door up", "A knight walks through a castle and leaves one higher.", "climbs through the doors"],
};
const MASTERS = {
  border: "border", diagonals: "diagonals", castles: "castles", adjacent: "adjacent knights",
  all_levels: "all levels", row: "row", square: "square", one_level: "one level",
};

const FAULTS = {
  protocol: "Its answer was not in the form that was asked for.",
  illegal_action: "It chose an action that is not legal here.",
  timeout: "It used up the time for this decision and its whole bank.",
  crash: "Its program ended, or closed its output.",
  memory: "It used more memory than the limit.",
  output: "It wrote a line, or an output in all, that is longer than the limit.",
};

// Say what a forfeit means; "" for a reason that is not known yet.
export function explained(fault) {
  return FAULTS[fault] ?? "";
}

// Return the title of a card and what it does; a hidden card is "?".
export function cardText(card) {
  return CARDS[card] ?? [card === "?" ? "a hidden card" : card, ""];
}

export function masterTitle(card) {
  return MASTERS[card] ?? card;
}

export function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
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
    case "found": return `puts a start block on ${a}`;
    case "enter": return `enters on ${a}`;
    case "king": return a === "stay" ? "leaves the king where it is" : `puts the king on ${a}`;
    case "first": return `lets seat ${a} start the next phase`;
    case "stock": return `puts the kept blocks on its stacks: ${a}`;
    case "stack": return `takes a stack of ${a}`;
    case "add": return `adds a knight on ${a}`;
    case "move": return `moves a knight from ${a} to ${b}`;
    case "block": return `builds on ${a}`;
    case "buy": return "buys a card";
    case "keep": return `keeps “${cardText(a)[0]}” and puts the others ${b === "top" ? "on top of" : "under"} the deck`;
    case "score": return "takes a point";
    case "end": return a ? `ends the turn; its stacks are ${a}` : "ends the turn";
    case "play": return playWords(a, b, c);
    default: return action;
  }
}

function playWords(card, from, to) {
  switch (card) {
    case "ap6": return "plays a card: 6 action points in all";
    case "ap7": return "plays a card: 7 action points in all";
    case "extra_block": return `plays a card: an extra block on ${from}`;
    case "move_block": return `plays a card: moves a block from ${from} to ${to}`;
    case "under_knight": return `plays a card: puts a block under the knight on ${from}`;
    default: return `plays a card: the knight on ${from} ${CARDS[card]?.[2] ?? card} to ${to}`;
  }
}
