// Groups the actions of a game to turns, and says each turn in a few words.

import { gettext as _, ngettext } from "./texts.js";
import { cardText } from "./words.js";

// Return the turns: the frames `first` to `last` are the positions after their actions.
// `gain` are the points that the seat took by them, without the scoring of a phase.
export function turnsOf(frames) {
  const turns = [];
  let open = false;
  frames.forEach((frame, index) => {
    if (frame.action === null) return;
    if (!open || turns.at(-1).seat !== frame.by) {
      turns.push({ seat: frame.by, phase: frames[index - 1].phase, round: frames[index - 1].round, first: index, actions: [], gain: 0, scored: null, failed: [], auto: frames[index - 1].forfeited.includes(frame.by) });
    }
    const turn = turns.at(-1);
    turn.last = index;
    turn.actions.push(frame.action);
    turn.failed.push(...frame.failed ?? []);
    const gains = frame.scores.map((score, seat) => score - frames[index - 1].scores[seat]);
    if (frame.scored.length > frames[index - 1].scored.length) turn.scored = { phase: frame.scored.at(-1).phase, gains };
    else turn.gain += gains[frame.by];
    open = !frame.ends_turn;
  });
  return turns;
}

// Say what was done: "2 blocks on a8, knight b3 to b5, buys a card".
export function summary(actions) {
  const parts = [];
  const counted = new Map();  // blocks by space, and steps on the scoring track
  let walk = null;  // the moves of one knight in succession
  for (const action of actions) {
    const [kind, a, b] = action.split(" ");
    if (kind === "move") {
      if (walk?.to === a) walk.to = b;
      else parts.push(walk = { from: a, to: b });
      continue;
    }
    walk = null;
    if (kind !== "block" && kind !== "score") parts.push(said(kind, action.split(" ")));
    else if (counted.has(action)) counted.get(action).count += 1;
    else parts.push(counted.set(action, { space: a, count: 1 }).get(action));
  }
  return parts.filter(Boolean).map(text).join(", ") || _("nothing");
}

function text(part) {
  if (part.count) {
    const { count, space } = part;
    return space
      ? ngettext("a block on %(space)s", "%(count)s blocks on %(space)s", count, { space })
      : ngettext("takes a point", "takes %(count)s points", count);
  }
  return part.from ? _("knight %(from)s to %(to)s", part) : part;
}

function said(kind, [, a, b, c]) {
  switch (kind) {
    case "found": return _("a start block on %(space)s", { space: a });
    case "enter": return _("first knight on %(space)s", { space: a });
    case "king": return a === "stay" ? _("the king stays") : _("the king goes to %(space)s", { space: a });
    case "first": return _("seat %(seat)s starts the next phase", { seat: a });
    case "add": return _("a new knight on %(space)s", { space: a });
    case "buy": return _("buys a card");
    case "keep": return a === "?" ? _("keeps it secret") : _("keeps %(card)s", { card: cardText(a)[0] });
    case "play": return playSaid(cardText(a)[0], b, c);
    default: return "";  // stacks and the end of the turn
  }
}

function playSaid(card, from, to) {
  if (to && from) return _("card %(card)s (%(from)s to %(to)s)", { card, from, to });
  return from ? _("card %(card)s (%(space)s)", { card, space: from }) : _("card %(card)s", { card });
}

// The list of turns. A click leads to the end of a turn; turning points have ! or ?.
export class TurnList {
  // `marks` are turning points: {ply, seat, points} with points of chance, `ply` before the turn.
  constructor(list, marks, show) {
    this.list = list;
    this.marks = new Map(marks.map((mark) => [mark.ply, mark]));
    this.turns = [];
    list.addEventListener("click", (event) => {
      const last = event.target.closest("li")?.dataset.last;
      if (last) show(Number(last));
    });
  }

  load(frames, players) {
    this.turns = turnsOf(frames);
    const fails = ({ seat, reason }) => row("phase bad", _("%(name)s forfeits: %(reason)s", { name: players[seat], reason }));
    let phase = -1;
    this.list.replaceChildren(...(frames[0].failed ?? []).map(fails), ...this.turns.flatMap((turn) => {
      const rows = [];
      if (turn.phase !== phase) rows.push(row("phase", turn.phase ? _("Phase %(phase)s", turn) : _("Set-up")));
      phase = turn.phase;
      rows.push(this.row(turn), ...turn.failed.map(fails));
      if (turn.scored) rows.push(row("phase", _("Phase %(phase)s is scored: %(gains)s", { phase: turn.scored.phase, gains: turn.scored.gains.map((gain) => `+${gain}`).join("  ") })));
      return rows;
    }));
    this.rows = [...this.list.querySelectorAll("[data-last]")];
  }

  row(turn) {
    const item = row("turn", "");
    item.dataset.last = String(turn.last);
    const mark = this.marks.get(turn.first - 1);
    const chip = row(`chip seat${turn.seat}`, String(turn.seat), "span");
    item.append(chip, row("did", summary(turn.actions), "span"));
    if (turn.auto) item.append(row("tag", _("automatic"), "span"));
    if (mark) item.append(row(mark.points < 0 ? "swing bad" : "swing good", `${mark.points < 0 ? "?" : "!"} ${mark.points < 0 ? "−" : "+"}${Math.abs(mark.points)} %`, "span"));
    item.append(row("gain", turn.gain ? `+${turn.gain}` : "", "span"));
    return item;
  }

  // The turn that an action belongs to, by the frame after it.
  at(index) {
    return this.turns.find(({ last }) => last >= index);
  }

  // The frame at the end of the turn before or after a frame.
  beside(index, step) {
    if (step > 0) return (this.turns.find(({ last }) => last > index) ?? this.turns.at(-1))?.last ?? 0;
    return this.turns.findLast(({ last }) => last < index)?.last ?? 0;
  }

  point(index) {
    const current = index ? this.rows[this.turns.findIndex(({ last }) => last >= index)] : undefined;
    const before = this.list.querySelector(".now");
    if (before === current) return;
    before?.classList.remove("now");
    before?.removeAttribute("aria-current");
    if (!current) return;
    current.classList.add("now");
    current.setAttribute("aria-current", "step");
    const isLast = current === this.rows.at(-1);
    this.list.scrollTop = isLast ? this.list.scrollHeight : current.offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
  }
}

function row(className, text, name = "li") {
  const node = document.createElement(name);
  node.className = className;
  node.textContent = text;
  return node;
}
