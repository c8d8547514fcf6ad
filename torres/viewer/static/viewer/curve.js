// The score of each seat over the whole game. A click shows that moment.

import { draw } from "./board.js";

const WIDTH = 640, HEIGHT = 130;
const LEFT = 34, RIGHT = 12, TOP = 10, BOTTOM = 20;
const STEPS = [5, 10, 20, 25, 50, 100, 200];

export class ScoreCurve {
  constructor(svg, show) {
    this.svg = svg;
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    const index = (event) => {
      const point = new DOMPoint(event.clientX, event.clientY);
      const { x } = point.matrixTransform(svg.getScreenCTM().inverse());
      return Math.round(((x - LEFT) / (WIDTH - LEFT - RIGHT)) * this.last);
    };
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      show(index(event));
    });
    svg.addEventListener("pointermove", (event) => {
      if (event.buttons) show(index(event));
    });
  }

  x(index) {
    return LEFT + (index / Math.max(1, this.last)) * (WIDTH - LEFT - RIGHT);
  }

  // Draw the curves of all frames anew.
  load(frames) {
    this.last = frames.length - 1;
    const top = Math.max(10, ...frames.at(-1).scores);
    const y = (score) => HEIGHT - BOTTOM - (score / top) * (HEIGHT - TOP - BOTTOM);
    this.svg.replaceChildren();
    this.drawPhases(frames);
    const step = STEPS.find((size) => top / size <= 4) ?? 500;
    for (let score = 0; score <= top; score += step) {
      draw(this.svg, "line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(score), y2: y(score) });
      draw(this.svg, "text", { class: "tick", x: LEFT - 6, y: y(score) + 4 }, String(score));
    }
    frames[0].scores.forEach((_, seat) => {
      const points = [];
      frames.forEach((frame, index) => {
        const score = frame.scores[seat];
        if (index && score !== frames[index - 1].scores[seat]) points.push(`${this.x(index)},${y(frames[index - 1].scores[seat])}`);
        if (!index || index === this.last || score !== frames[index - 1].scores[seat]) points.push(`${this.x(index)},${y(score)}`);
      });
      draw(this.svg, "polyline", { class: `curve line${seat}`, points: points.join(" ") });
    });
    this.cursor = draw(this.svg, "line", { class: "cursor", y1: TOP - 6, y2: HEIGHT - BOTTOM });
  }

  drawPhases(frames) {
    let start = 0;
    frames.forEach((frame, index) => {
      const ends = index === this.last || frames[index + 1].phase !== frame.phase;
      if (!ends) return;
      const x = this.x(start), width = this.x(Math.min(index + 1, this.last)) - x;
      draw(this.svg, "rect", { class: `phase phase${frame.phase % 2}`, x, width: Math.max(0, width), y: TOP - 6, height: HEIGHT - TOP - BOTTOM + 6 });
      if (width > 50) draw(this.svg, "text", { class: "label", x: x + width / 2, y: HEIGHT - 6 }, frame.phase ? `phase ${frame.phase}` : "set-up");
      start = index + 1;
    });
  }

  point(index) {
    this.cursor.setAttribute("x1", this.x(index));
    this.cursor.setAttribute("x2", this.x(index));
  }
}
