// The legal actions of the seat to move at the position that is shown. The server is
// asked for each position once, because the viewer does not know the rules.

import { gettext as _, ngettext } from "./texts.js";
import { spacesOf, words } from "./words.js";

const MAX_SHOWN = 12;  // actions of one space
const WAIT_MS = 120;  // a position that is shown for less time causes no request

export class LegalActions {
  // `svg` is the board, `summary` and `list` show the actions, `address` is the server's.
  constructor(svg, summary, list, address) {
    this.svg = svg;
    this.summary = summary;
    this.list = list;
    this.address = address;
    this.known = new Map();  // actions by ply
    this.actions = [];
    this.ply = -1;
    svg.addEventListener("pointerover", (event) => this.point(event.target.closest("[data-space]")?.dataset.space));
    svg.addEventListener("pointerleave", () => this.point());
  }

  clear() {
    this.ply = -1;
    this.actions = [];
    this.summary.textContent = "";
    this.list.replaceChildren();
  }

  // Show the actions of a position, as soon as they are known.
  async show(ply) {
    this.clear();
    this.ply = ply;
    const actions = this.known.get(ply) ?? await this.ask(ply);
    if (this.ply !== ply) return;  // another position is shown by now
    this.actions = actions;
    this.mark();
    this.point();
    this.list.replaceChildren(...actions.map((action) => {
      const item = document.createElement("li");
      item.textContent = `${words(action)} (${action})`;
      return item;
    }));
  }

  async ask(ply) {
    await new Promise((done) => setTimeout(done, WAIT_MS));
    if (this.ply !== ply) return [];
    const response = await fetch(`${this.address}?ply=${ply}`).catch(() => null);
    const actions = response?.ok ? (await response.json()).legal : [];
    if (response?.ok) this.known.set(ply, actions);
    return actions;
  }

  mark() {
    const targets = new Set(this.actions.map((action) => spacesOf(action).at(-1)));
    for (const space of this.svg.querySelectorAll("[data-space]")) {
      if (targets.has(space.dataset.space)) space.querySelector(".cell").classList.add("target");
    }
  }

  // Say what is legal on a space, or how much in all.
  point(space = "") {
    if (this.ply < 0) return;
    const here = this.actions.filter((action) => spacesOf(action).includes(space));
    if (!here.length) {
      const count = this.actions.length;
      this.summary.textContent = count ? ngettext("%(count)s legal action. Point at a marked space to see its own.", "%(count)s legal actions. Point at a marked space to see its own.", count) : _("No action is legal here.");
      return;
    }
    const more = here.length > MAX_SHOWN ? _("; and %(count)s more", { count: here.length - MAX_SHOWN }) : "";
    this.summary.textContent = `${space}: ${here.slice(0, MAX_SHOWN).map(words).join("; ")}${more}.`;
  }
}
