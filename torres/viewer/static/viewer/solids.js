// The solids of the board in 3D, as lists of corners for webgl.js: the spaces with their
// blocks and doors, and the figures. A corner is its place (x: column, y: up, z: minus
// row), normal, colour and face (two numbers across the face, its kind, its shade).

import { STOREY } from "./webgl.js";

const SIZE = 8;
const MARGIN = 0.75;  // of the table around the board, where the names are
const ROOF = 1, WALL = 2, TOUCHED = 3;
const ROUND = 20;  // sides of a round solid
// The steps to the neighbour behind each wall, and the wall's two ends.
const WALLS = [
  [0, -1, [0, 0], [1, 0]], [1, 0, [1, 0], [1, 1]], [0, 1, [1, 1], [0, 1]], [-1, 0, [0, 1], [0, 0]],
];

// Two triangles between four corners, counter-clockwise from the lower left.
function quad(out, places, normal, colour, kind, shades = [1, 1, 1, 1]) {
  for (const k of [0, 1, 2, 0, 2, 3]) {
    out.push(...places[k], ...normal, ...colour, k === 1 || k === 2 ? 1 : 0, k > 1 ? 1 : 0, kind, shades[k]);
  }
}

// The whole board. `heights(column, row)` and `roof(column, row)`, which returns the colour
// and whether the last action names the space; `paint` has the colours of walls and table.
export function boardCorners(heights, roof, paint) {
  const out = [];
  for (let row = 0; row < SIZE; row += 1) {
    for (let column = 0; column < SIZE; column += 1) {
      const [colour, touched] = roof(column, row);
      addRoof(out, heights, column, row, colour, touched);
      addWalls(out, heights, column, row, paint.wall);
    }
  }
  addTable(out, paint.table);
  return out;
}

function addRoof(out, heights, column, row, colour, touched) {
  const height = heights(column, row);
  const ends = [[0, 0], [1, 0], [1, 1], [0, 1]];
  const places = ends.map(([u, v]) => [column + u, height * STOREY, -row - v]);
  quad(out, places, [0, 1, 0], colour, touched ? TOUCHED : ROOF, ends.map(([u, v]) => shade(heights, column, row, 2 * u - 1, 2 * v - 1)));
}

// A corner between higher neighbours is darker.
function shade(heights, column, row, across, along) {
  const beside = [[across, 0], [0, along], [across, along]];
  const higher = beside.filter(([u, v]) => heights(column + u, row + v) > heights(column, row)).length;
  return 1 - 0.13 * higher;
}

function addWalls(out, heights, column, row, colour) {
  for (const [across, along, [u, v], [s, t]] of WALLS) {
    const below = heights(column + across, row + along);
    for (let level = below; level < heights(column, row); level += 1) {
      const [low, high] = [level * STOREY, (level + 1) * STOREY];
      const places = [[column + u, low, -row - v], [column + s, low, -row - t], [column + s, high, -row - t], [column + u, high, -row - v]];
      const foot = level === below ? 0.78 : 1;
      quad(out, places, [across, 0, -along], colour, WALL, [foot, foot, 1, 1]);
    }
  }
}

// The table under the board, a little lower than the spaces.
function addTable(out, colour) {
  const [low, high, y, floor] = [-MARGIN, SIZE + MARGIN, -0.04, -0.35];
  const ends = [[low, low], [high, low], [high, high], [low, high]];
  quad(out, ends.map(([x, z]) => [x, y, -z]), [0, 1, 0], colour, 0);
  ends.forEach(([x, z], k) => {
    const [s, t] = ends[(k + 1) % 4];
    quad(out, [[x, floor, -z], [s, floor, -t], [s, y, -t], [x, y, -z]], [Math.sign(t - z), 0, Math.sign(s - x)], colour, 0);
  });
}

// A solid that is turned around its axis. `profile` has pairs of radius and height, from
// the bottom to the top. With few sides its faces are flat.
function turned(out, profile, colour, sides = ROUND) {
  const flat = sides < 8;
  const point = ([radius, y], k) => {
    const angle = (2 * Math.PI * (k + 0.5)) / sides;
    return [radius * Math.sin(angle), y, radius * Math.cos(angle)];
  };
  for (let ring = 0; ring + 1 < profile.length; ring += 1) {
    const [one, other] = [profile[ring], profile[ring + 1]];
    const [slope, length] = [one[0] - other[0], Math.hypot(other[1] - one[1], one[0] - other[0])];
    const normal = (k) => {
      const angle = (2 * Math.PI * (k + 0.5)) / sides;
      const flatness = (other[1] - one[1]) / length;
      return [flatness * Math.sin(angle), slope / length, flatness * Math.cos(angle)];
    };
    for (let k = 0; k < sides; k += 1) {
      for (const [end, step] of [[one, 0], [one, 1], [other, 1], [one, 0], [other, 1], [other, 0]]) {
        out.push(...point(end, k + step), ...normal(flat ? k + 0.5 : k + step), ...colour, 0, 0, 0, 1);
      }
    }
  }
}

const arc = (radius, middle) => Array.from({ length: 9 }, (_, k) => {
  const angle = Math.PI * (k / 8 - 0.5);
  return [radius * Math.cos(angle), middle + radius * Math.sin(angle)];
});

const BODY = [[0, 0], [0.3, 0], [0.31, 0.05], [0.27, 0.1], [0.17, 0.25], [0.11, 0.5], [0.15, 0.54], [0, 0.56]];
// The heads tell the seats apart without colours, as on the flat board.
const HEADS = [
  [arc(0.19, 0.7), ROUND],
  [[[0, 0.54], [0.24, 0.54], [0.24, 0.88], [0, 0.88]], 4],
  [[[0, 0.54], [0.25, 0.54], [0, 0.98]], ROUND],
  [[[0, 0.5], [0.24, 0.76], [0, 1.02]], 4],
];

// A knight of a seat, or the king (seat -1), with its foot at the origin.
export function figureCorners(seat, colour) {
  const out = [];
  turned(out, BODY, colour);
  if (seat >= 0) {
    const [profile, sides] = HEADS[seat];
    turned(out, profile, colour, sides);
    return out;
  }
  turned(out, [[0, 0.54], [0.17, 0.54], [0.24, 0.8], [0.2, 0.8], [0.14, 0.62], [0, 0.62]], colour);
  for (let k = 0; k < 6; k += 1) {
    const spike = [];
    turned(spike, [[0.07, 0.78], [0, 1]], colour, 6);
    const angle = (Math.PI * k) / 3;
    for (let at = 0; at < spike.length; at += 13) {
      spike[at] += 0.21 * Math.sin(angle);
      spike[at + 2] += 0.21 * Math.cos(angle);
    }
    out.push(...spike);
  }
  return out;
}
