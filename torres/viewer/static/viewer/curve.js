// The score of each seat over the game, drawn in pixels behind the slider. With an
// analysis, a strip below it has the chances to win, and marks show the turning points.
// A thin curve is the chance to win that a bot itself expects.

import { draw } from "./board.js";
import { gettext as _ } from "./texts.js";

const LEFT = 30, RIGHT = 8, TOP = 12, BOTTOM = 20;  // the slider leaves the same margins
const STRIP = 8;
const STEPS = [5, 10, 20, 25, 50, 100, 200];

export class ScoreCurve {
  // `marks` are turning points {ply, seat}; `chances` has {ply, chances} before each turn.
  constructor(svg, marks, chances) {
    this.svg = svg;
    this.marks = marks;
    this.chances = chances;
    this.frames = [];
    this.index = 0;
    new ResizeObserver(() => { this.draw(); this.point(this.index); }).observe(svg);
  }

  x(index) {
    return LEFT + (index / Math.max(1, this.last)) * (this.width - LEFT - RIGHT);
  }

  load(frames) {
    this.frames = frames;
    this.draw();
  }

  // Draw the curves of all frames anew.
  draw() {
    const { frames } = this;
    if (!frames.length) return;
    this.last = frames.length - 1;
    this.width = Math.max(200, this.svg.clientWidth);
    const height = this.svg.clientHeight;
    this.bottom = height - BOTTOM - (this.chances.length ? STRIP + 3 : 0);
    const top = Math.max(10, ...frames.at(-1).scores);
    const y = (score) => this.bottom - (score / top) * (this.bottom - TOP);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.svg.replaceChildren();
    this.drawPhases(height);
    const step = STEPS.find((size) => top / size <= 3) ?? 500;
    for (let score = 0; score <= top; score += step) {
      draw(this.svg, "line", { class: "grid", x1: LEFT, x2: this.width - RIGHT, y1: y(score), y2: y(score) });
      draw(this.svg, "text", { class: "tick", x: LEFT - 5, y: y(score) + 4 }, String(score));
    }
    frames[0].scores.forEach((_score, seat) => draw(this.svg, "polyline", { class: `curve line${seat}`, points: this.points(seat, y) }));
    frames[0].scores.forEach((_score, seat) => this.drawExpected(seat));
    this.drawChances();
    for (const { ply, seat } of this.marks) draw(this.svg, "text", { class: `mark line${seat}`, x: this.x(ply), y: TOP - 2 }, "▾");
    this.cursor = draw(this.svg, "line", { class: "cursor", y1: 2, y2: height - BOTTOM });
  }

  points(seat, y) {
    const points = [];
    let before = null;
    this.frames.forEach(({ scores }, index) => {
      const score = scores[seat];
      if (before !== null && score !== before) points.push(`${this.x(index)},${y(before)}`);
      if (score !== before || index === this.last) points.push(`${this.x(index)},${y(score)}`);
      before = score;
    });
    return points.join(" ");
  }

  drawPhases(height) {
    let start = 0;
    this.frames.forEach(({ phase }, index) => {
      if (index < this.last && this.frames[index + 1].phase === phase) return;
      const x = this.x(start), width = this.x(Math.min(index + 1, this.last)) - x;
      draw(this.svg, "rect", { class: `phase phase${phase % 2}`, x, width: Math.max(0, width), y: 2, height: height - BOTTOM - 2 });
      if (width > 60) draw(this.svg, "text", { class: "label", x: x + width / 2, y: height - 5 }, phase ? _("phase %(phase)s", { phase }) : _("set-up"));
      start = index + 1;
    });
  }

  drawExpected(seat) {
    const points = [];
    this.frames.forEach(({ by, thought }, index) => {
      if (by === seat && typeof thought?.expect === "number") points.push(`${this.x(index)},${this.bottom - thought.expect * (this.bottom - TOP)}`);
    });
    if (points.length) draw(this.svg, "polyline", { class: `curve expected line${seat}`, points: points.join(" ") });
  }

  drawChances() {
    this.chances.forEach(({ ply, chances }, k) => {
      const x = this.x(ply), width = this.x(this.chances[k + 1]?.ply ?? this.last) - x;
      let low = 0;
      chances.forEach((chance, seat) => {
        draw(this.svg, "rect", { class: `seat${seat}`, x, width, y: this.bottom + 3 + low * STRIP, height: chance * STRIP });
        low += chance;
      });
    });
  }

  point(index) {
    this.index = index;
    this.cursor?.setAttribute("x1", this.x(index));
    this.cursor?.setAttribute("x2", this.x(index));
  }
}
