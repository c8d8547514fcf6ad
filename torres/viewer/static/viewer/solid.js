// The board in 3D, loaded when somebody asks for it. It shows the frames of the flat board
// and lies over it; the flat one stays in the page for screen readers. Drag, pinch, the
// wheel with Ctrl, and the arrow keys move the camera.

import { draw, movedPiece } from "./board.js";
import { gettext as _ } from "./texts.js";
import { boardCorners, figureCorners } from "./solids.js";
import { Renderer, STOREY } from "./webgl.js";
import { spaceIndex, spaceName, spacesOf } from "./words.js";

const SIZE = 8;
const VIEW = Math.tan((17 * Math.PI) / 180);  // of half the field of view
const START = { yaw: Math.PI / 4, pitch: 0.66, distance: 17.5 };
const PITCH = [0.15, 1.55];
const DISTANCE = [5, 26];
const MIDDLE = [SIZE / 2, -1, -SIZE / 2];  // below the board, which so stands in the middle of the picture
const STEP = Math.PI / 24;  // of an arrow key
const MOTION_MS = 260;
const TINT = 0.32;  // as in viewer.css
const LABEL = 10, DISC = 9, POINTS = 14;  // half their size in pixels
const within = (value, [low, high]) => Math.min(high, Math.max(low, value));

export class SolidBoard {
  // Throws an error if the browser has no WebGL. `lost` is called if the board cannot go on.
  constructor(svg, lost) {
    this.svg = svg;
    this.canvas = document.createElement("canvas");
    this.renderer = new Renderer(this.canvas);
    this.camera = { ...START };
    this.figures = new Map();  // the corners of each kind of figure, by seat
    this.pointers = new Map();
    this.canvas.className = "solid";
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", _("The board in 3D. The arrow keys turn it, plus and minus zoom."));
    this.canvas.setAttribute("aria-describedby", "description");
    svg.after(this.canvas);
    svg.classList.add("behind");
    this.listen(lost);
  }

  close() {
    this.closed = true;
    this.resized.disconnect();
    this.scheme.onchange = null;
    this.canvas.remove();
    this.renderer.gl.getExtension("WEBGL_lose_context")?.loseContext();  // frees its memory
    this.svg.classList.remove("behind");
  }

  listen(lost) {
    const on = (name, act) => this.canvas.addEventListener(name, act);
    on("webglcontextlost", () => { if (!this.closed) lost(); });
    on("keydown", (event) => this.key(event));
    on("pointerdown", (event) => this.press(event));
    on("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) on(name, (event) => this.pointers.delete(event.pointerId));
    on("wheel", (event) => {
      if (!event.ctrlKey) return;  // without it the page is scrolled
      event.preventDefault();
      this.turn(0, 0, Math.exp(event.deltaY / 300));
    });
    this.resized = new ResizeObserver(() => this.resize());
    this.resized.observe(this.svg);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.scheme.onchange = () => this.show(this.frame, this.quarters);
  }

  resize() {
    const size = this.svg.getBoundingClientRect();
    for (const side of ["width", "height"]) {
      this.canvas.style[side] = `${size[side]}px`;
      this.canvas[side] = Math.round(size[side] * devicePixelRatio);
    }
    this.render();
  }

  key(event) {
    const act = {
      ArrowLeft: () => this.turn(STEP, 0), ArrowRight: () => this.turn(-STEP, 0),
      ArrowUp: () => this.turn(0, STEP), ArrowDown: () => this.turn(0, -STEP),
      "+": () => this.turn(0, 0, 0.88), "=": () => this.turn(0, 0, 0.88), "-": () => this.turn(0, 0, 1.14),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();  // the arrow keys step through the game elsewhere
    act();
  }

  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  }

  // One pointer turns, and the distance of two zooms.
  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const here = [event.clientX, event.clientY];
    this.pointers.set(event.pointerId, here);
    if (this.pointers.size === 1) return this.turn((before[0] - here[0]) / 150, (here[1] - before[1]) / 150);
    const [, other] = [...this.pointers].find(([id]) => id !== event.pointerId);
    const apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]) || 1;
    this.turn(0, 0, apart(before) / apart(here));
  }

  turn(yaw, pitch, distance = 1) {
    this.camera.yaw += yaw;
    this.camera.pitch = within(this.camera.pitch + pitch, PITCH);
    this.camera.distance = within(this.camera.distance * distance, DISTANCE);
    this.render();
  }

  // Show a frame; with the frame `before`, a figure moves.
  show(frame, quarters, before = null) {
    this.frame = frame;
    this.quarters = quarters;
    const known = new Map();
    this.colours = (className, attribute = "fill") => {
      if (!known.has(className)) known.set(className, colour(this.svg, className, attribute));
      return known.get(className);
    };
    this.load(frame);
    this.moved = before && movedPiece(before, frame);
    this.start = performance.now();
    this.source = this.moved?.from && { frame: before, space: this.moved.from === "king" ? before.king : this.moved.from.split(" ")[1] };
    this.render();
  }

  load(frame) {
    const { renderer } = this;
    const heights = (column, row) => (within(column, [0, 7]) === column && within(row, [0, 7]) === row ? frame.heights[row * SIZE + column] : 0);
    const touched = new Set(spacesOf(frame.action));
    const leaders = new Map(frame.castles.flatMap(({ spaces, leader }) => (leader === null ? [] : spaces.map((space) => [space, leader]))));
    const roof = (column, row) => {
      const space = spaceName(row * SIZE + column);
      const plain = this.colours(`cell h${Math.min(8, heights(column, row))}`);
      const leader = leaders.has(space) ? this.colours(`tint seat${leaders.get(space)}`) : plain;
      return [plain.map((part, k) => part + TINT * (leader[k] - part)), touched.has(space)];
    };
    renderer.board.load(boardCorners(heights, roof, { wall: this.colours("south"), table: this.colours("cell", "stroke") }));
    this.pieces = frame.knights.flatMap((spaces, seat) => spaces.map((space) => ({ seat, space })));
    if (frame.king) this.pieces.push({ seat: -1, space: frame.king });
    this.loadLabels(frame);
  }

  loadLabels(frame) {
    const { labels, texts, discs } = this.renderer;
    const soft = css(this.colours("axis"));
    const taken = new Set(this.pieces.map(({ space }) => space));
    const names = Array.from({ length: SIZE }, (_, k) => k).flatMap((k) => [
      ["abcdefgh"[k], k + 0.5, 0.4], ["abcdefgh"[k], k + 0.5, -SIZE - 0.4],
      [String(k + 1), -0.4, -k - 0.5], [String(k + 1), SIZE + 0.4, -k - 0.5],
    ]);
    const levels = frame.heights.flatMap((height, index) => (height && !taken.has(spaceName(index)) ? [[height, spaceName(index)]] : []));
    texts.load([
      ...names.flatMap(([text, x, z]) => labels.corners([x, 0, z], text, soft, "", LABEL)),
      ...levels.flatMap(([height, space]) => labels.corners(top(frame, space), String(height), height > 4 ? "#fff4e2" : "#140b02", "", LABEL)),
    ]);
    const seatColour = (seat) => css(this.colours(`seat${seat}`));
    const points = (frame.ends_phase ? frame.castles : []).flatMap(({ spaces, seats }) => seats.map(([seat, , gained], k) => ({ seat, gained, space: spaces[0], k })));
    discs.load([
      ...this.pieces.filter(({ seat }) => seat >= 0).flatMap(({ seat, space }) => labels.corners(top(frame, space, 1.35), String(seat), "#fff", seatColour(seat), DISC)),
      ...points.flatMap(({ seat, gained, space, k }) => labels.corners(top(frame, space, (taken.has(space) ? 1.8 : 0.6) + 0.6 * k), `+${gained}`, "#fff", seatColour(seat), POINTS)),
    ]);
  }

  // Draw at the next opportunity, and go on while a figure moves.
  render() {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      if (this.closed || !this.frame || !this.canvas.width) return;
      const share = this.moved ? within((performance.now() - this.start) / MOTION_MS, [0, 1]) : 1;
      const eye = this.eye();
      this.renderer.draw(cameraMatrix(eye, this.canvas.width / this.canvas.height), eye, this.placed(share));
      if (share < 1) this.render();
    });
  }

  eye() {
    const { pitch, distance } = this.camera;
    const yaw = this.camera.yaw - (this.quarters * Math.PI) / 2;
    const flat = distance * Math.cos(pitch);
    return [MIDDLE[0] + flat * Math.sin(yaw), MIDDLE[1] + distance * Math.sin(pitch), MIDDLE[2] + flat * Math.cos(yaw)];
  }

  // The figures with their places; one that moves has gone a share of its way, in an arc.
  placed(share) {
    const target = this.moved && (this.moved.to === "king" ? this.frame.king : this.moved.to.split(" ")[1]);
    return this.pieces.map(({ seat, space }) => {
      const end = top(this.frame, space);
      if (share === 1 || space !== target) return [this.figure(seat), end];
      const start = this.source ? top(this.source.frame, this.source.space) : [end[0], end[1] + 1.5, end[2]];
      const eased = share * share * (3 - 2 * share);
      const place = end.map((part, k) => start[k] + eased * (part - start[k]));
      if (this.source) place[1] += Math.sin(Math.PI * eased) * 0.4;
      return [this.figure(seat), place];
    });
  }

  figure(seat) {
    if (!this.figures.has(seat)) {
      const own = this.colours(seat < 0 ? "king" : `seat${seat}`);
      this.figures.set(seat, this.renderer.solids().load(figureCorners(seat, own)));
    }
    return this.figures.get(seat);
  }
}

// The middle of a roof, or a point above it.
function top(frame, space, above = 0) {
  const index = spaceIndex(space);
  return [(index % SIZE) + 0.5, frame.heights[index] * STOREY + above, -Math.floor(index / SIZE) - 0.5];
}

// The colours are those of the flat board, in light and in dark.
function colour(svg, className, attribute) {
  const node = draw(svg, "g", { class: className });
  const parts = getComputedStyle(draw(node, "path", {}))[attribute].match(/[\d.]+/g).slice(0, 3).map((part) => part / 255);
  node.remove();
  return parts;
}

const css = (parts) => `rgb(${parts.map((part) => Math.round(part * 255)).join(" ")})`;

const minus = (a, b) => a.map((part, k) => part - b[k]);
const dot = (a, b) => a.reduce((sum, part, k) => sum + part * b[k], 0);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((part) => part / Math.hypot(...a));

// What a camera at `eye` sees that looks at the middle of the board.
function cameraMatrix(eye, aspect) {
  const back = unit(minus(eye, MIDDLE));
  const right = unit(cross([0, 1, 0], back));
  const up = cross(back, right);
  const wide = Math.max(1, 1.45 / aspect) * VIEW;  // a narrow picture still holds the board
  const [near, far] = [1, 60];
  const rows = [
    [...right.map((part) => part / wide / aspect), -dot(right, eye) / wide / aspect],
    [...up.map((part) => part / wide), -dot(up, eye) / wide],
    [...back.map((part) => (part * (near + far)) / (near - far)), (-dot(back, eye) * (near + far) + 2 * near * far) / (near - far)],
    [...back.map((part) => -part), dot(back, eye)],
  ];
  return rows[0].flatMap((_, k) => rows.map((row) => row[k]));
}
