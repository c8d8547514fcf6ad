// The board of the home page and of Torres TV: the featured game, move by move. The server has drawn the
// present position; here the viewer's board takes its place. The stream goes on with the
// next game by itself.

import { listen } from "./viewer/stream.js";
import { Board } from "./viewer/board.js";
import { gettext as _ } from "./viewer/texts.js";

const STEP_MS = 600;
// Actions. A board that is further behind continues here. The server sends one more
// frame, from which the first action begins.
const MAX_BEHIND = 8;
const SVG = "http://www.w3.org/2000/svg";
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

export class LiveBoard {
  constructor(figure) {
    this.figure = figure;
    this.button = figure.querySelector("button");
    this.game = Number(figure.dataset.game);
    this.base = 0;  // the place of the first frame that is known here
    this.frames = [];
    this.at = -1;
    this.board = null;
    this.paused = false;
    this.button.addEventListener("click", () => this.pause());
    setInterval(() => this.step(), STEP_MS);
    listen(() => figure.dataset.stream, { frames: (data) => this.take(data) }, () => this.refused());
  }

  // Without streams the picture of the server stays.
  refused() {}

  pause() {
    this.paused = !this.paused;
    this.button.textContent = this.paused ? _("Go on") : _("Pause");
  }

  take({ game, players, first, frames }) {
    if (game !== this.game) {
      // Somebody uses a link of the present game.
      if (this.paused || this.figure.querySelector("a:focus")) return;
      this.introduce(game, players);
    }
    this.players = players;
    if (!this.frames.length || first < this.base || first > this.base + this.frames.length) {
      this.base = first;
      this.frames = [];
      this.at = -1;
    }
    this.frames = [...this.frames.slice(0, first - this.base), ...frames];
    this.at = Math.min(this.at, this.frames.length - 1);
    if (!this.board) this.draw();
    if (this.at < 0 && this.frames.length) {
      this.at = 0;
      this.show(null);
    }
  }

  // Name the next game as the server names the first one.
  introduce(game, players) {
    this.game = game;
    this.frames = [];
    this.name(players);
    for (const link of this.figure.querySelectorAll("a:not(#next a)")) link.href = `/games/${game}/`;
    this.figure.querySelector("a.watch").textContent = _("Watch game %(game)s", { game });
    this.board?.svg.setAttribute("aria-label", _("The present position of game %(game)s", { game }));
  }

  name(players) {
    const names = this.figure.querySelector(".players");
    names.replaceChildren(...players.flatMap((player, seat) => {
      const name = document.createElement("bdi");
      name.textContent = player;
      const score = document.createElement("span");
      score.className = "strong";
      score.dataset.seat = String(seat);
      return seat ? [" – ", name, " ", score] : [name, " ", score];
    }));
  }

  // Draw in the place of the picture.
  draw() {
    const picture = this.figure.querySelector("picture");
    const svg = document.createElementNS(SVG, "svg");
    svg.id = "board";
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", picture.querySelector("img").alt);
    picture.replaceWith(svg);
    this.watch(svg);
  }

  watch(svg) {
    this.board = new Board(svg);
    this.button.hidden = false;
  }

  step() {
    if (this.paused || document.hidden || this.at < 0 || this.at >= this.frames.length - 1) return;
    this.at = Math.max(this.at + 1, this.frames.length - MAX_BEHIND);
    this.show(this.frames[this.at - 1]);
  }

  show(before) {
    const frame = this.frames[this.at];
    this.board.show(frame, {}, still ? null : before);
    this.score(frame);
    this.figure.querySelector(".moment").textContent = this.moment(frame);
  }

  score(frame) {
    for (const node of this.figure.querySelectorAll("[data-seat]")) {
      node.textContent = frame.scores[Number(node.dataset.seat)];
    }
  }

  moment(frame) {
    if (frame.over) return _("The game is over.");
    return frame.phase ? _("Phase %(phase)s, round %(round)s.", frame) : _("Set-up.");
  }
}

const figure = document.getElementById("live-board");
if (figure) new LiveBoard(figure);
