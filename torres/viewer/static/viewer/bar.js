// The castles of the position that is shown, as one row of buttons with the points of the
// seats. A castle that is pointed at, on the board or in the row, is explained in words.

import { element } from "./players.js";
import { gettext as _, gettext_noop, ngettext } from "./texts.js";

const HINT = gettext_noop("Castle points now. Point at one to see why.");

export class CastleBar {
  // The row is one stop of the Tab key; the arrow keys lead from castle to castle.
  constructor(row, text, board) {
    this.row = row;
    this.text = text;
    this.board = board;
    this.castles = [];
    board.svg.addEventListener("pointerover", (event) => this.point(this.of(event.target)));
    board.svg.addEventListener("pointerleave", () => this.point(-1));
    row.addEventListener("pointerover", (event) => this.point(this.index(event.target)));
    row.addEventListener("pointerleave", () => this.point(-1));
    row.addEventListener("focusin", (event) => this.point(this.index(event.target)));
    row.addEventListener("focusout", () => this.point(-1));
    row.addEventListener("keydown", (event) => this.key(event));
  }

  show(frame, players) {
    const focused = this.index(document.activeElement);
    this.players = players;
    this.castles = frame.castles;
    this.row.replaceChildren(...this.castles.map((castle, index) => {
      const button = element("button", "castle");
      button.type = "button";
      button.tabIndex = index ? -1 : 0;
      button.setAttribute("aria-label", inWords(castle, players));
      const seats = castle.seats.map(([seat, , points]) => element("b", `seat${seat}`, String(points)));
      button.append(...(seats.length ? seats : [element("span", "soft", `${castle.spaces.length}`)]));
      return button;
    }));
    this.point(-1);
    if (focused >= 0) this.row.children[Math.min(focused, this.castles.length - 1)]?.focus();
  }

  of(target) {
    const space = target.closest("[data-space]")?.dataset.space;
    return space ? this.castles.findIndex(({ spaces }) => spaces.includes(space)) : -1;
  }

  index(target) {
    return [...this.row.children].indexOf(target?.closest("button"));
  }

  point(index) {
    const castle = this.castles[index];
    this.board.choose(castle?.spaces ?? []);
    this.text.textContent = castle ? inWords(castle, this.players) : _(HINT);
    [...this.row.children].forEach((button, k) => button.classList.toggle("chosen", k === index));
  }

  key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const count = this.castles.length;
    const next = this.row.children[(this.index(event.target) + step + count) % count];
    for (const button of this.row.children) button.tabIndex = button === next ? 0 : -1;
    next.focus();
  }
}

// "6 spaces × level 3 = 18 for mason, × level 2 = 12 for grendel"
function inWords({ spaces, seats }, players) {
  const [space] = spaces;
  const area = ngettext("%(count)s space", "%(count)s spaces", spaces.length);
  if (!seats.length) return _("The castle at %(space)s: %(area)s, no knight.", { space, area });
  const parts = seats.map(([seat, level, points]) => _("× level %(level)s = %(points)s for %(name)s", { level, points, name: players[seat] }));
  return _("The castle at %(space)s: %(area)s %(parts)s.", { space, area, parts: parts.join(", ") });
}
