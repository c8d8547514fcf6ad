// The board of the home page: a running game, move by move. The server has drawn the
// present position; here the viewer's board takes its place and follows the game. After
// its end the page of the server says which game comes next.

import { Board } from "./viewer/board.js";

const POLL_INTERVAL_MS = 2000;
const STEP_MS = 600;
const NEXT_GAME_MS = 10_000;
const MAX_BEHIND = 8;  // actions; a board that is further behind goes on from here
const SVG = "http://www.w3.org/2000/svg";
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

class LiveBoard {
  constructor(figure) {
    this.figure = figure;
    this.button = figure.querySelector("button");
    this.frames = [];
    this.at = -1;
    this.board = null;
    this.paused = false;
    this.button.addEventListener("click", () => this.pause());
    this.stepping = setInterval(() => this.step(), STEP_MS);
    this.follow();
  }

  pause() {
    this.paused = !this.paused;
    this.button.textContent = this.paused ? "Go on" : "Pause";
  }

  async follow() {
    const isIdle = this.paused || document.hidden;
    const response = isIdle ? null : await fetch(this.figure.dataset.frames).catch(() => null);
    if (response?.ok) this.take((await response.json()).frames);
    else if (response) return this.end("The game is no longer shown here.");
    if (!this.frames.at(-1)?.over) setTimeout(() => this.follow(), POLL_INTERVAL_MS);
  }

  take(frames) {
    this.frames = frames;
    this.at = Math.min(this.at, frames.length - 1);  // the game may be played again
    if (!this.board) this.begin();
  }

  // Draw in the place of the picture.
  begin() {
    const picture = this.figure.querySelector("img");
    const svg = document.createElementNS(SVG, "svg");
    svg.id = "board";
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", picture.alt);
    picture.replaceWith(svg);
    this.board = new Board(svg);
    this.button.hidden = false;
    this.at = this.frames.length - 1;
    this.show(null);
  }

  step() {
    if (this.paused || document.hidden || this.at >= this.frames.length - 1) return;
    this.at = Math.max(this.at + 1, this.frames.length - MAX_BEHIND);
    this.show(this.frames[this.at - 1]);
  }

  show(before) {
    const frame = this.frames[this.at];
    this.board.load(this.frames);
    this.board.show(frame, "iso", still ? null : before);
    for (const node of this.figure.querySelectorAll("[data-seat]")) {
      node.textContent = frame.scores[Number(node.dataset.seat)];
    }
    this.say(frame.phase ? `Phase ${frame.phase}, round ${frame.round}.` : "Set-up.");
    if (frame.over) this.end("The game is over.");
  }

  say(text) {
    this.figure.querySelector(".moment").textContent = text;
  }

  end(text) {
    this.say(text);
    this.button.hidden = true;
    clearInterval(this.stepping);
    setTimeout(() => this.next(), NEXT_GAME_MS);
  }

  // Show the next game, unless somebody uses a link of this one.
  async next() {
    const isIdle = document.hidden || this.figure.contains(document.activeElement);
    const response = isIdle ? null : await fetch(location.href).catch(() => null);
    const text = response?.ok ? await response.text() : "";
    const figure = new DOMParser().parseFromString(text, "text/html").querySelector("figure.live");
    if (!figure || figure.dataset.frames === this.figure.dataset.frames) {
      setTimeout(() => this.next(), NEXT_GAME_MS);
      return;
    }
    this.figure.replaceWith(figure);
    if (figure.dataset.frames) new LiveBoard(figure);
  }
}

new LiveBoard(document.getElementById("live-board"));
