// Torres TV: the live board with the players beside it, from game to game. What is next
// comes from the page of the server, which is asked again now and then.

import { LiveBoard } from "./live-board.js";
import { element, Players, resultOf } from "./viewer/players.js";
import { gettext as _ } from "./viewer/texts.js";

const RENEW_MS = 30_000;

class Television extends LiveBoard {
  draw() {
    this.watch(document.getElementById("board"));
  }

  introduce(game, players) {
    super.introduce(game, players);
    this.figure.querySelector(".which").replaceChildren(element("span", "tag running", _("running")));
    document.querySelector(`#next li:has(a[href="/games/${game}/"])`)?.remove();
  }

  // The rows of the next game have other names.
  name() {
    document.getElementById("players").replaceChildren();
    this.rail = null;
  }

  score(frame) {
    this.rail ??= new Players(document.getElementById("players"), this.players);
    this.rail.show(frame);
    if (frame.over) this.figure.querySelector(".which").textContent = _("The next game follows.");
  }

  // As `tv_views.py` says it.
  moment(frame) {
    if (frame.over) return resultOf(frame, this.players);
    const next = frame.seat === null ? "" : ` ${_("%(name)s is to move.", { name: this.players[frame.seat] })}`;
    return super.moment(frame) + next;
  }

  // A server without streams shows the next position when it is asked again.
  refused() {
    setTimeout(() => location.reload(), RENEW_MS);
  }
}

async function renew() {
  const response = document.hidden ? null : await fetch(location.href).catch(() => null);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const here = document.getElementById("next");
  const next = page.getElementById("next");
  if (next && !here.contains(document.activeElement)) here.replaceWith(next);
}

new Television(document.getElementById("tv"));
setInterval(renew, RENEW_MS);
