// The viewer of replays and running games. It knows no rules: the server sends the
// position before each action (frames.json), and this script draws one position at a
// time. Without scripts the page still lists the moves. A running game is polled.

const SVG = "http://www.w3.org/2000/svg";
const CELL = 48;  // the width of a space, in units of the SVG
const EDGE = 20;  // the margin for the names of columns and rows
const PLAY_INTERVAL_MS = 550;
const POLL_INTERVAL_MS = 2000;
const viewer = document.getElementById("viewer");
const board = document.getElementById("board");
const description = document.getElementById("description");
const slider = document.getElementById("at");
const count = document.getElementById("count");
const seats = document.querySelector("#seats tbody");
const list = document.getElementById("moves");
const live = document.getElementById("live");
let moves = [...list.children];
const playButton = document.getElementById("play");

let { players, frames } = await (await fetch(viewer.dataset.frames)).json();
let at = 0;  // the index of the frame that is shown
let timer = 0;

function draw(parent, name, attributes, text = "") {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.textContent = text;
  return parent.appendChild(node);
}

function coordinates(space) {
  const column = space.charCodeAt(0) - 97, row = Number(space[1]) - 1;
  return { x: EDGE + column * CELL, y: (7 - row) * CELL + 8, column, row };
}

function nameOf(index) {
  return String.fromCharCode(97 + (index % 8)) + (Math.floor(index / 8) + 1);
}

function spacesOf(action) {
  return action ? action.match(/\b[a-h][1-8]\b/g) ?? [] : [];
}

// Draw a wall between a space with blocks and a space without, to show the castles.
function drawWalls(heights) {
  const built = (column, row) =>
    column >= 0 && column < 8 && row >= 0 && row < 8 && heights[row * 8 + column] > 0;
  heights.forEach((height, index) => {
    if (!height) return;
    const { x, y, column, row } = coordinates(nameOf(index));
    const right = x + CELL, low = y + CELL;
    if (!built(column, row + 1)) draw(board, "line", { class: "wall", x1: x, y1: y, x2: right, y2: y });
    if (!built(column, row - 1)) draw(board, "line", { class: "wall", x1: x, y1: low, x2: right, y2: low });
    if (!built(column - 1, row)) draw(board, "line", { class: "wall", x1: x, y1: y, x2: x, y2: low });
    if (!built(column + 1, row)) draw(board, "line", { class: "wall", x1: right, y1: y, x2: right, y2: low });
  });
}

function drawBoard(frame) {
  board.replaceChildren();
  frame.heights.forEach((height, index) => {
    const { x, y } = coordinates(nameOf(index));
    const cell = draw(board, "g", { class: height > 4 ? "high" : "" });
    draw(cell, "rect", { class: `cell h${Math.min(height, 8)}`, x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2 });
    if (height) draw(cell, "text", { class: "height", x: x + CELL - 5, y: y + 14 }, String(height));
  });
  drawWalls(frame.heights);
  for (let k = 0; k < 8; k += 1) {
    draw(board, "text", { class: "axis", x: EDGE + k * CELL + CELL / 2, y: 8 * CELL + 24 }, String.fromCharCode(97 + k));
    draw(board, "text", { class: "axis", x: 10, y: (7 - k) * CELL + 8 + CELL / 2 + 4 }, String(k + 1));
  }
  for (const space of spacesOf(frame.action)) {
    const { x, y } = coordinates(space);
    draw(board, "rect", { class: "touched", x: x + 2.5, y: y + 2.5, width: CELL - 5, height: CELL - 5 });
  }
  frame.knights.forEach((spaces, seat) => spaces.forEach((space) => {
    const { x, y } = coordinates(space);
    draw(board, "circle", { class: `knight seat${seat}`, cx: x + CELL / 2 - 3, cy: y + CELL / 2 + 4, r: 14 });
    draw(board, "text", { class: "piece", x: x + CELL / 2 - 3, y: y + CELL / 2 + 9 }, String(seat));
  }));
  if (frame.king) {
    const { x, y } = coordinates(frame.king);
    draw(board, "circle", { class: "king", cx: x + CELL / 2 - 3, cy: y + CELL / 2 + 4, r: 14 });
    draw(board, "text", { class: "crown", x: x + CELL / 2 - 3, y: y + CELL / 2 + 10 }, "♚");
  }
}

function cell(row, text, className = "") {
  const td = row.insertCell();
  td.textContent = text;
  td.className = className;
  return td;
}

function drawSeats(frame) {
  seats.replaceChildren();
  players.forEach((player, seat) => {
    const row = seats.insertRow();
    row.className = frame.seat === seat ? "to-act" : "";
    const first = row.insertCell();
    const chip = document.createElement("span");
    chip.className = `chip seat${seat}`;
    chip.textContent = String(seat);
    const label = document.createElement("span");
    label.textContent = ` ${player}`;
    first.append(chip, label);
    if (frame.forfeited.includes(seat)) {
      const tag = document.createElement("span");
      tag.className = "tag warn";
      tag.textContent = "forfeit";
      first.append(" ", tag);
    }
    cell(row, String(frame.scores[seat]), "n strong");
    const current = frame.seat === seat && frame.current !== null ? `, on hand ${frame.current}` : "";
    cell(row, (frame.stacks[seat]?.join(" ") || "–") + current);
    cell(row, String(frame.reserve[seat]));
    cell(row, frame.hands[seat]?.join(" ") || "–");
  });
}

function describe(frame) {
  const phase = frame.phase ? `Phase ${frame.phase}, round ${frame.round}. ` : "Set-up. ";
  description.textContent = phase;
  if (frame.action === null) {
    description.append("The game begins.");
  } else {
    const action = document.createElement("code");
    action.textContent = frame.action;
    description.append(`${players[frame.by]}: `, action);
  }
  const before = frames[at - 1]?.forfeited ?? [];
  for (const seat of frame.forfeited) {
    if (!before.includes(seat)) description.append(` – ${players[seat]} forfeits`);
  }
  if (frame.over) description.append(" – the game is over.");
  else description.append(` – the turn of ${players[frame.seat]}${frame.ap ? `, ${frame.ap} AP` : ""}.`);
}

function drawScored(frame) {
  const last = frame.scored.at(-1);
  const master = frame.master ? `Master card: ${frame.master}. ` : "";
  const king = frame.king ? `The king stands on ${frame.king}. ` : "";
  const phase = last ? `The score after phase ${last.phase} was ${last.scores.join(" : ")}.` : "No phase has been scored yet.";
  document.getElementById("scored").textContent = king + master + phase;
}

function show(index) {
  at = Math.max(0, Math.min(frames.length - 1, index));
  const frame = frames[at];
  drawBoard(frame);
  drawSeats(frame);
  drawScored(frame);
  describe(frame);
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", description.textContent);
  count.value = `${at} of ${frames.length - 1}`;
  const current = frame.move === null ? undefined : moves[frame.move];
  for (const item of moves) item.classList.toggle("now", item === current);
  if (current) current.parentElement.scrollTop = current.offsetTop - current.parentElement.offsetTop - 80;
}

function stop() {
  clearInterval(timer);
  timer = 0;
  playButton.textContent = "▶ Play";
}

function play() {
  if (timer) return stop();
  if (at === frames.length - 1) show(0);
  playButton.textContent = "❚❚ Pause";
  timer = setInterval(() => (at === frames.length - 1 ? stop() : show(at + 1)), PLAY_INTERVAL_MS);
}

// Go to the end of the previous or next move; a move can have several actions.
function jump(step) {
  let index = at + step;
  while (index > 0 && index < frames.length - 1 && frames[index + 1].move === frames[index].move) index += step;
  show(index);
}

const KEYS = {
  ArrowLeft: () => show(at - 1), ArrowRight: () => show(at + 1),
  ArrowUp: () => jump(-1), ArrowDown: () => jump(1),
  Home: () => show(0), End: () => show(frames.length - 1), " ": play,
};

document.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  const typing = event.target.closest("button, input, textarea, a, summary");
  if (!act || event.ctrlKey || event.metaKey || event.altKey || typing) return;
  event.preventDefault();
  if (event.key !== " ") stop();
  act();
});
const BUTTONS = {
  first: () => show(0), back: () => show(at - 1),
  on: () => show(at + 1), last: () => show(frames.length - 1),
};
for (const [id, act] of Object.entries(BUTTONS)) {
  document.getElementById(id).addEventListener("click", () => { stop(); act(); });
}
playButton.addEventListener("click", play);
slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
list.addEventListener("click", (event) => {
  const item = event.target.closest("li");
  if (!item) return;
  stop();
  const move = Number(item.dataset.move);
  show(frames.findLastIndex((frame) => frame.move === move));
});

// List the moves of a running game in the same way as the server lists those of a replay.
function listMoves() {
  const played = [];
  for (const { move, by, action } of frames) {
    if (move === null) continue;
    if (played[move]) played[move].actions.push(action);
    else played[move] = { by, actions: [action] };
  }
  list.replaceChildren(...played.map(({ by, actions }, index) => {
    const item = document.createElement("li"), chip = document.createElement("span"), code = document.createElement("code");
    item.dataset.move = String(index);
    chip.className = `chip seat${by}`;
    chip.textContent = String(by);
    code.textContent = actions.join("  ·  ");
    item.append(chip, " ", code);
    return item;
  }));
  moves = [...list.children];
}

async function follow() {
  const response = document.hidden ? null : await fetch(viewer.dataset.frames).catch(() => null);
  if (response?.ok) {
    const game = await response.json();
    if (game.over) return location.reload();
    const atEnd = at === frames.length - 1;
    ({ players, frames } = game);
    listMoves();
    slider.max = String(frames.length - 1);
    show(atEnd ? frames.length - 1 : at);
  } else if (response) {
    return location.reload();
  }
  setTimeout(follow, POLL_INTERVAL_MS);
}

slider.max = String(frames.length - 1);
viewer.hidden = false;
if (live) listMoves();
show(live ? frames.length - 1 : 0);
if (live) setTimeout(follow, POLL_INTERVAL_MS);
