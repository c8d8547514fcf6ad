// Finds out what a click on the board may mean. It knows the words of actions and no
// rules: the server lists the legal actions.

import { gettext as _, gettext_noop } from "../viewer/texts.js";
import { spacesOf } from "../viewer/words.js";

export const KINDS = [
  ["all", gettext_noop("Everything")], ["build", gettext_noop("Build")], ["move", gettext_noop("Move")],
  ["add", gettext_noop("Add a knight")],
  ["card", gettext_noop("Play a card")], ["other", gettext_noop("Other")],
];
const KIND_OF = { block: "build", move: "move", add: "add", play: "card" };

export function kindOf(action) {
  return KIND_OF[action.split(" ")[0]] ?? "other";
}

// Return the kinds that occur, each with its number of actions; none if only one occurs.
export function kindsIn(legal) {
  const counts = new Map();
  for (const action of legal) counts.set(kindOf(action), (counts.get(kindOf(action)) ?? 0) + 1);
  if (counts.size < 2) return [];
  counts.set("all", legal.length);
  return KINDS.filter(([kind]) => counts.has(kind)).map(([kind, label]) => ({ kind, label: _(label), count: counts.get(kind) }));
}

// A selection is a list of spaces: the beginning of those that an action names.
export class Selection {
  constructor(legal, kind) {
    this.actions = kind === "all" ? legal : legal.filter((action) => kindOf(action) === kind);
    this.spaces = [];
  }

  starting(spaces) {
    return this.actions.filter((action) => {
      const named = spacesOf(action);
      return named.length >= spaces.length && spaces.every((space, index) => named[index] === space);
    });
  }

  // The spaces that may be clicked next, each with the actions to which it leads.
  targets() {
    const found = new Map();
    for (const action of this.starting(this.spaces)) {
      const next = spacesOf(action)[this.spaces.length];
      if (!next) continue;
      if (!found.has(next)) found.set(next, []);
      found.get(next).push(action);
    }
    return found;
  }

  // The actions that name exactly the selected spaces; without a selection, no space.
  complete() {
    return this.starting(this.spaces).filter((action) => spacesOf(action).length === this.spaces.length);
  }

  // Add a space. Return the only action that this can mean, or null if there is a choice.
  click(space) {
    if (!this.targets().has(space)) this.spaces = [];
    if (!this.targets().has(space)) return null;
    this.spaces.push(space);
    const meant = this.starting(this.spaces);
    return meant.length === 1 && this.spaces.length ? meant[0] : null;
  }
}

const signed = (points) => (points < 0 ? `−${-points}` : `+${points}`);

// The points of an action in words: "+6 now, +18 at the scoring"; "" if it gains none.
export function gainWords([now, later]) {
  const parts = [now && _("%(points)s now", { points: signed(now) }), later && _("%(points)s at the scoring", { points: signed(later) })];
  return parts.filter(Boolean).join(", ");
}
