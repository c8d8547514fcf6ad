// Reads actions: their spaces, and what they do in words.

const CARDS = {
  up2: "climbs two levels", diagonal: "steps diagonally", jump: "jumps",
  regroup: "regroups", door_up: "climbs through the doors",
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
    case "keep": return `keeps ${a}, the others go to the ${b} of the deck`;
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
    default: return `plays a card: the knight on ${from} ${CARDS[card] ?? card} to ${to}`;
  }
}
