// Draws one position as SVG: isometric from one of four sides, or from above. It knows
// no rules. All nodes are made with DOM methods, so names in the data cannot be markup.
// `torres/drawing/board_scene.py` draws the same picture; a test compares the two.

import { spaceIndex, spaceName, spacesOf } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const SIZE = 8;
const TILE = { x: 30, y: 15, z: 13 };  // half a tile's width and height; one storey
const ORIGIN = { x: 22, y: 258 };
const CELL = 56;  // a space seen from above
const EDGE = 24;  // the margin for the names of columns and rows
const MOTION_MS = 260;
const WIDTH = 524, BOTTOM = 404;  // of the isometric picture
const FIGURE = 34;  // the height of a figure
const LOOK_AHEAD = 12;  // an action changes fewer spaces and pieces than this
const TOP_EDGE = ORIGIN.y - SIZE * TILE.y - 4 * TILE.z - FIGURE;  // of a picture without high towers

// The outline of a figure's head tells the seats apart without colours.
const HEADS = [
  "M0,-27 a6,6 0 1,0 .01,0 z",
  "M-6,-27 h12 v12 h-12 z",
  "M0,-29 L7,-15 H-7 z",
  "M0,-30 L6.5,-21.5 L0,-13 L-6.5,-21.5 z",
];
const BODY = "M-10,1 C-9,-5 -5,-7 -4,-15 H4 C5,-7 9,-5 10,1 A10,4 0 0,1 -10,1 z";
const CROWN = "M-8,-15 L-9,-28 L-4,-22 L0,-30 L4,-22 L9,-28 L8,-15 z";

export function draw(parent, name, attributes, text = "") {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text) node.textContent = text;
  return parent.appendChild(node);
}

// Turn a place of the board by quarters to the left.
function turnedPlace(column, row, quarters) {
  let place = { column, row };
  for (let k = 0; k < quarters; k += 1) place = { column: place.row, row: SIZE - 1 - place.column };
  return place;
}

// A point of the picture. Columns and rows count as they are seen: without a turn, a1 is
// the left corner, and h8 the right one.
function iso(column, row, level = 0) {
  const x = ORIGIN.x + (column + row) * TILE.x;
  const y = ORIGIN.y + (column - row) * TILE.y - level * TILE.z;
  return [x, y];
}

const path = (...points) => `M${points.map(([x, y]) => `${x},${y}`).join("L")}z`;

function tile(column, row, level = 0) {
  return path(
    iso(column, row, level), iso(column + 1, row, level),
    iso(column + 1, row + 1, level), iso(column, row + 1, level),
  );
}

class Picture {
  // `quarters` is how often the board is turned by 90 degrees.
  constructor(svg, frame, quarters) {
    this.svg = svg;
    this.frame = frame;
    this.quarters = quarters;
    this.figures = new Map();  // by the name of the piece: "king", "0 c4"
    this.touched = new Set(spacesOf(frame.action));
    this.heights = frame.heights.map((_, index) => frame.heights[spaceIndex(this.space(index % SIZE, Math.floor(index / SIZE)))]);
    this.leaders = new Map();  // by space, of each castle that one seat leads
    for (const { spaces, leader } of frame.castles) {
      if (leader !== null) for (const space of spaces) this.leaders.set(space, leader);
    }
  }

  // The space that is seen at a place.
  space(column, row) {
    const place = turnedPlace(column, row, this.quarters);
    return spaceName(place.row * SIZE + place.column);
  }

  // Where a space is seen.
  place(space) {
    const index = spaceIndex(space);
    return turnedPlace(index % SIZE, Math.floor(index / SIZE), (4 - this.quarters) % 4);
  }

  height(column, row) {
    const inside = column >= 0 && column < SIZE && row >= 0 && row < SIZE;
    return inside ? this.heights[row * SIZE + column] : 0;
  }

  // The names beside the board: of its front (`along` is 0) or of its right side (1).
  axis(k, along) {
    return (along ? this.space(SIZE - 1, k) : this.space(k, 0))[(along + this.quarters) % 2];
  }

  pieces() {
    const found = this.frame.knights.flatMap((spaces, seat) =>
      spaces.map((space) => ({ key: `${seat} ${space}`, seat, space, ...this.place(space) })));
    const king = this.frame.king;
    if (king) found.push({ key: "king", seat: -1, space: king, ...this.place(king) });
    return found;
  }

  drawPiece(piece, className = "") {
    const [x, y] = this.foot(piece);
    const kind = piece.seat < 0 ? "king" : `knight seat${piece.seat}`;
    const figure = draw(this.svg, "g", { class: `${kind}${className}`, transform: `translate(${x},${y})` });
    draw(figure, "path", { d: BODY });
    draw(figure, "path", { d: piece.seat < 0 ? CROWN : HEADS[piece.seat] });
    if (!className) this.figures.set(piece.key, figure);
  }

  // The points that a castle gives are written on it in the frame of its scoring.
  lights() {
    return this.frame.ends_phase ? this.frame.castles : [];
  }

  // The points of each seat in its colour, above a castle.
  drawLabel(x, y, seats) {
    const label = draw(draw(this.svg, "g", { class: "points", transform: `translate(${x},${y})` }), "g", {});
    seats.forEach(([seat, , points], k) => {
      const left = (k - seats.length / 2) * 30;
      draw(label, "rect", { class: `seat${seat}`, x: left, y: -13, width: 29, height: 18, rx: 4 });
      draw(label, "text", { x: left + 14.5, y: 1 }, String(points));
    });
  }
}

class IsometricPicture extends Picture {
  draw() {
    const pieces = new Map(this.pieces().map((piece) => [piece.space, piece]));
    for (let k = 0; k < SIZE; k += 1) {
      const [x, y] = iso(k + 0.5, -0.45);
      draw(this.svg, "text", { class: "axis", x, y: y + 4 }, this.axis(k, 0));
      const [u, v] = iso(SIZE + 0.45, k + 0.5);
      draw(this.svg, "text", { class: "axis", x: u, y: v + 4 }, this.axis(k, 1));
    }
    for (let depth = 1 - SIZE; depth < SIZE; depth += 1) {  // from the back to the front
      for (let column = Math.max(0, depth); column < Math.min(SIZE, SIZE + depth); column += 1) {
        const row = column - depth;
        this.drawTower(column, row);
        const piece = pieces.get(this.space(column, row));
        if (piece) this.drawPiece(piece);
      }
    }
    for (const piece of pieces.values()) if (this.isHidden(piece)) this.drawPiece(piece, " ghost");
    for (const castle of this.lights()) this.drawPoints(castle);
  }

  drawTower(column, row) {
    const height = this.height(column, row);
    const space = this.space(column, row);
    const marks = this.touched.has(space) ? " touched" : "";
    const tower = draw(this.svg, "g", { class: "space", "data-space": space });
    if (!height) {
      draw(tower, "path", { class: `cell h0${marks}`, d: tile(column, row) });
      return;
    }
    const south = [], east = [], doors = [];
    for (let level = this.height(column, row - 1); level < height; level += 1) {
      south.push(path(iso(column, row, level), iso(column + 1, row, level), iso(column + 1, row, level + 1), iso(column, row, level + 1)));
      doors.push(this.door(column + 0.5, row, level, 0.16, 0));
    }
    for (let level = this.height(column + 1, row); level < height; level += 1) {
      east.push(path(iso(column + 1, row, level), iso(column + 1, row + 1, level), iso(column + 1, row + 1, level + 1), iso(column + 1, row, level + 1)));
      doors.push(this.door(column + 1, row + 0.5, level, 0, 0.16));
    }
    if (south.length) draw(tower, "path", { class: "south", d: south.join("") });
    if (east.length) draw(tower, "path", { class: "east", d: east.join("") });
    if (doors.length) draw(tower, "path", { class: "door", d: doors.join("") });
    draw(tower, "path", { class: `cell h${Math.min(height, 8)}${marks}`, d: tile(column, row, height) });
    if (this.leaders.has(space)) draw(tower, "path", { class: `tint seat${this.leaders.get(space)}`, d: tile(column, row, height) });
    const [x, y] = iso(column + 0.5, row + 0.5, height);
    draw(tower, "text", { class: height > 4 ? "level high" : "level", x, y: y + 4 }, String(height));
  }

  // A door: half a storey high, in the middle of the wall of one block.
  door(column, row, level, across, along) {
    return path(
      iso(column - across, row - along, level), iso(column + across, row + along, level),
      iso(column + across, row + along, level + 0.5), iso(column, row, level + 0.68),
      iso(column - across, row - along, level + 0.5),
    );
  }

  foot({ column, row }) {
    return iso(column + 0.5, row + 0.5, this.height(column, row));
  }

  // A picture with high towers is smaller, so that it does not cover what is above it.
  viewBox() {
    const edges = this.heights.map((height, index) =>
      iso(index % SIZE, Math.floor(index / SIZE) + 1, height)[1] - FIGURE);
    const top = Math.min(TOP_EDGE, ...edges);
    return `0 ${top} ${WIDTH} ${BOTTOM - top}`;
  }

  // A higher tower in front hides a piece: its outline is drawn on top of everything.
  isHidden({ column, row }) {
    const own = this.height(column, row);
    const hides = (step, side, drop) =>
      (this.height(column + step, row - step + side) - own) * TILE.z > drop - 18;
    for (let step = 1; step < 4; step += 1) {
      if (hides(step, 0, step * 2 * TILE.y)) return true;
      if (hides(step, 1, step * 2 * TILE.y - TILE.y)) return true;
      if (hides(step - 1, -1, (step - 1) * 2 * TILE.y + TILE.y)) return true;
    }
    return false;
  }

  drawPoints({ spaces, seats }) {
    const [x, y] = this.foot(this.place(spaces[0]));
    this.drawLabel(x, y - 38, seats);
  }
}

class TopPicture extends Picture {
  viewBox() {
    return "0 0 496 484";
  }

  corner(column, row) {
    return { x: EDGE + column * CELL, y: (SIZE - 1 - row) * CELL + 8 };
  }

  foot({ column, row }) {
    const { x, y } = this.corner(column, row);
    return [x + CELL / 2 - 3, y + CELL / 2 + 17];
  }

  draw() {
    for (let row = 0; row < SIZE; row += 1) {
      for (let column = 0; column < SIZE; column += 1) this.drawSpace(column, row);
    }
    for (let k = 0; k < SIZE; k += 1) {
      draw(this.svg, "text", { class: "axis", x: EDGE + (k + 0.5) * CELL, y: SIZE * CELL + 26 }, this.axis(k, 0));
      draw(this.svg, "text", { class: "axis", x: 12, y: this.corner(0, k).y + CELL / 2 + 4 }, this.axis(k, 1));
    }
    for (const piece of this.pieces()) this.drawPiece(piece);
    for (const castle of this.lights()) {
      const { column, row } = this.place(castle.spaces[0]);
      const { x, y } = this.corner(column, row);
      this.drawLabel(x + CELL / 2, y + 6, castle.seats);
    }
  }

  drawSpace(column, row) {
    const height = this.height(column, row);
    const { x, y } = this.corner(column, row);
    const space = this.space(column, row);
    const group = draw(this.svg, "g", { class: "space", "data-space": space });
    const marks = this.touched.has(space) ? " touched" : "";
    draw(group, "rect", { class: `cell h${Math.min(height, 8)}${marks}`, x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2 });
    if (this.leaders.has(space)) draw(group, "rect", { class: `tint seat${this.leaders.get(space)}`, x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2 });
    const step = Math.min(2.6, (CELL / 2 - 4) / height);  // the rings of a high tower are nearer
    for (let level = 1; level < height; level += 1) {  // one ring for each further storey
      const inset = 2 + level * step;
      draw(group, "rect", { class: "ring", x: x + inset, y: y + inset, width: CELL - 2 * inset, height: CELL - 2 * inset });
    }
    if (height) {
      draw(group, "text", { class: height > 4 ? "level high" : "level", x: x + CELL - 9, y: y + 15 }, String(height));
      this.drawWalls(group, column, row, x, y);
    }
  }

  // A wall stands between a space with blocks and a space without: it shows the castles.
  drawWalls(group, column, row, x, y) {
    const sides = [
      [0, 1, x, y, x + CELL, y], [0, -1, x, y + CELL, x + CELL, y + CELL],
      [-1, 0, x, y, x, y + CELL], [1, 0, x + CELL, y, x + CELL, y + CELL],
    ];
    for (const [across, along, x1, y1, x2, y2] of sides) {
      if (!this.height(column + across, row + along)) draw(group, "line", { class: "wall", x1, y1, x2, y2 });
    }
  }
}

// Return the piece that an action moved or set: its key before ("" if new) and after.
export function movedPiece(before, after) {
  if (before.king !== after.king && after.king) return { from: before.king ? "king" : "", to: "king" };
  for (let seat = 0; seat < after.knights.length; seat += 1) {
    const gone = before.knights[seat].filter((space) => !after.knights[seat].includes(space));
    const come = after.knights[seat].filter((space) => !before.knights[seat].includes(space));
    if (come.length) return { from: gone.length ? `${seat} ${gone[0]}` : "", to: `${seat} ${come[0]}` };
  }
  return null;
}

export class Board {
  constructor(svg) {
    this.svg = svg;
    this.picture = null;
    new ResizeObserver(() => this.resize()).observe(svg);
  }

  // Numbers keep their size in pixels on a small screen.
  resize() {
    const scale = this.svg.getScreenCTM()?.a;
    if (scale) this.svg.style.setProperty("--unit", 1 / scale);
  }

  // Draw a frame. `view` is "iso" or "top", `quarters` turns the board. `before` is the
  // frame that was shown last; with it the change moves.
  show(frame, { view = "iso", quarters = 0 }, before = null) {
    const start = before && this.picture ? this.positions() : new Map();
    const drawn = document.createElementNS(SVG, "g");
    this.picture = view === "top" ? new TopPicture(drawn, frame, quarters) : new IsometricPicture(drawn, frame, quarters);
    this.picture.draw();
    const shown = this.picture.viewBox();
    if (this.svg.getAttribute("viewBox") !== shown) {
      this.svg.setAttribute("viewBox", shown);
      this.resize();
    }
    const kept = adopt(this.svg, drawn);
    for (const [key, node] of this.picture.figures) this.picture.figures.set(key, kept.get(node) ?? node);
    if (before) this.move(before, frame, start);
  }

  // Mark these spaces, and no others.
  choose(spaces) {
    for (const node of this.svg.querySelectorAll("g.space")) {
      node.classList.toggle("chosen", spaces.includes(node.dataset.space));
    }
  }

  positions() {
    return new Map([...this.picture.figures].map(([key, node]) => {
      const { e, f } = node.transform.baseVal[0].matrix;
      return [key, [e, f]];
    }));
  }

  move(before, frame, start) {
    const moved = movedPiece(before, frame);
    const node = moved && this.picture.figures.get(moved.to);
    if (node) {
      const { e: x, f: y } = node.transform.baseVal[0].matrix;
      const [u, v] = start.get(moved.from) ?? [x, y - 40];
      slide(node, [u, v], [x, y]);
      return;
    }
    frame.heights.forEach((height, index) => {
      if (height <= before.heights[index]) return;
      const tower = this.svg.querySelector(`[data-space=${spaceName(index)}]`);
      if (tower) slide(tower, [0, -16], [0, 0], 0.3);
    });
  }
}

// Give `parent` the children of `drawn`, but keep those of its own that are equal: then
// the browser lays out only what is new. Return the kept node for each drawn one.
function adopt(parent, drawn) {
  const kept = new Map();
  let old = parent.firstChild;
  for (const node of [...drawn.childNodes]) {
    let same = old;
    for (let ahead = 0; same && !same.isEqualNode(node); ahead += 1) {
      same = ahead < LOOK_AHEAD ? same.nextSibling : null;
    }
    if (!same) {
      parent.insertBefore(node, old);
      continue;
    }
    while (old !== same) old = removed(old);
    kept.set(node, old);
    old = old.nextSibling;
  }
  while (old) old = removed(old);
  return kept;
}

// Remove a node; return the one after it.
function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function slide(node, [x, y], [u, v], opacity = 1) {
  node.animate(
    [
      { transform: `translate(${x}px,${y}px)`, opacity },
      { transform: `translate(${u}px,${v}px)`, opacity: 1 },
    ],
    { duration: MOTION_MS, easing: "ease-in-out" },
  );
}
