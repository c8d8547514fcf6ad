// A game by hand. The server knows the rules: it says what is legal, and shows the board
// after each action of a turn that is not sent yet. Undo is free until the turn is sent.
// In a puzzle nobody else plays, and the page with `data-judge` judges the whole turn.

import { CastleBar } from "../viewer/bar.js";
import { Board, draw } from "../viewer/board.js";
import { Players } from "../viewer/players.js";
import { gettext as _ } from "../viewer/texts.js";
import { asChoice, spaceIndex, spacesOf } from "../viewer/words.js";
import { gainWords, kindsIn, Selection } from "./choices.js";
import { byId, drawHand, drawHints, drawKinds, drawLegal, drawNotes, drawOptions, drawSteps, sayMoment, sayNews, sayTask } from "./panels.js";

const POLL_MS = 700;  // while the bots think
const POLL_TIMEOUT_MS = 10_000;
const IDLE_POLL_MS = 3000;  // on the person's turn, or while the page is in the background
const SENT_POLL_MS = 200;  // shortly after an answer
const SENT_POLLS = 8;
const STEP_MS = 650;  // between two actions of others
const MANY_STEPS = 30;  // more than these are not shown one by one
const HURRY_S = 30;
const KEY = "torres-play";
const CALM = matchMedia("(prefers-reduced-motion: reduce)").matches;
const root = byId("play");
const judge = root.dataset.judge;
const token = root.querySelector("[name=csrfmiddlewaretoken]")?.value;
const board = new Board(byId("board"));
const castles = new CastleBar(byId("castles"), byId("castle"), board);
let rail = null;
const title = document.title;
const settings = { view: innerWidth < 640 ? "top" : "iso", quarters: 0, ...remembered() };

let frames = [];  // by the number of actions; the last one is the present
let shown = -1;  // the frame that is on the board
let players = [];
let own = 0;
let notes = [];
let question = null;
let deadline = 0;
let steps = [];  // of the turn that is not sent: {action, frame, legal, complete}
let selection = new Selection([], "all");
let gains = new Map();  // of each legal action: [now, at the next scoring]; a puzzle shows none
let kind = "all";
let hints = null;  // good turns of a strong bot: {actions, points}; null before it was asked
let busy = false;
let walkingTurn = false;  // the actions of a hint are tried one after the other
let sent = false;  // an answer, of which the game shows nothing yet
let tag = "";
let quickPolls = 0;
let looks = 0;  // requests for the state
let timer = 0;

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};  // storage is off, or another program wrote there
  }
}

const post = (address, body) => answered(address, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-CSRFToken": token },
  body: JSON.stringify(body),
});

const withTurn = (address, actions) => `${address}?${new URLSearchParams(actions.map((action) => ["action", action]))}`;

async function answered(address, options) {
  const response = await fetch(address, options);
  const type = response.headers.get("Content-Type") ?? "";
  if (!type.includes("json")) throw new Error("sign in");  // the session has ended
  return { status: response.status, body: await response.json() };
}

const present = () => frames.at(-1);
const tried = () => steps.at(-1);
const legalNow = () => (question ? (tried() ?? question).legal : []);
// The action that ends the turn, if there is one way to end it now.
const onlyEnd = () => {
  const ends = isComplete() ? [] : legalNow().filter((action) => action.split(" ")[0] === "end");
  return ends.length === 1 ? ends[0] : null;
};
const isComplete = () => Boolean(tried()?.complete);

// The frame on the board. All spaces of a turn that is tried are marked.
function boardFrame() {
  if (!tried()) return frames[Math.max(0, shown)];
  return { ...tried().frame, action: steps.map(({ action }) => action).join(" ") };
}

function drawBoard(before = null) {
  const frame = boardFrame();
  board.show(frame, settings, CALM ? null : before);
  castles.show(frame, players);
  for (const [key, node] of board.picture.figures) {
    node.dataset.space = key === "king" ? frame.king : key.split(" ")[1];
  }
  for (const { action } of steps) drawWay(...spacesOf(action));
  markTargets(frame);
  say(null);
  rail.show(frame);
  sayMoment(frame);
  drawHand(frame);
}

// Draw from where to where a knight or a block has gone in this turn.
function drawWay(from, to) {
  if (!to) return;
  const [[x1, y1], [x2, y2]] = [from, to].map((space) => board.picture.foot(board.picture.place(space)));
  draw(board.svg, "line", { class: "way", x1, y1, x2, y2 });
  draw(board.svg, "circle", { class: "way", cx: x1, cy: y1, r: 4 });
}

// An action in words, with the points that it gains.
function named(action) {
  const gain = gainWords(gains.get(action) ?? [0, 0]);
  return asChoice(action) + (gain && ` (${gain})`);
}

// What can be done on a space, the action first that gains most.
function choicesOn(space, actions) {
  const total = (action) => (gains.get(action) ?? [0, 0]).reduce((sum, points) => sum + points);
  const best = actions.toSorted((one, other) => total(other) - total(one));
  const more = best.length > 3 ? _("; and %(count)s more", { count: best.length - 3 }) : "";
  return `${best.slice(0, 3).map(named).join("; ")}${more}`;
}

// Say below the board what a marked space offers: the one that the pointer is on, or the
// focused one if the pointer is on none.
function say(target) {
  const advice = question && gains.size ? _("Point at a marked space to see what it gains.") : "";
  byId("gain").textContent = offerOf(target) || offerOf(document.activeElement) || advice;
}

function offerOf(node) {
  const space = node?.closest?.("[data-space]")?.dataset.space;
  const actions = question && !busy && !isComplete() && selection.targets().get(space);
  return actions ? `${space}: ${choicesOn(space, actions)}.` : "";
}

function markTargets(frame) {
  if (!question || busy || isComplete()) return;
  for (const space of selection.spaces) spaceNode(space)?.classList.add("selected");
  for (const [space, actions] of selection.targets()) {
    const node = spaceNode(space);
    if (!node) continue;
    node.classList.add("target");
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "button");
    const height = frame.heights[spaceIndex(space)];
    node.setAttribute("aria-label", `${space}, height ${height}: ${choicesOn(space, actions)}`);
    const cells = node.querySelectorAll(".cell");
    const { x, y, width, height: tall } = cells[cells.length - 1].getBBox();
    // Beside the number of the height.
    const [cx, cy] = settings.view === "top" ? [x + 10, y + tall - 10] : [x + width / 5, y + tall / 2];
    draw(node, "circle", { class: "dot", cx, cy, r: 4 });
  }
}

function spaceNode(space) {
  return board.svg.querySelector(`g.space[data-space=${space}]`);
}

// Draw everything that depends on the turn. `before` is the frame that was shown last.
function drawTurn(before = null) {
  drawBoard(before);
  const asked = Boolean(question) && shown === frames.length - 1;
  byId("turn").hidden = !asked;
  sayTask(asked ? question : null, boardFrame(), isComplete());
  if (!judge) sayWhoseTurn(asked);
  if (!asked) return;
  drawSteps(steps);
  byId("send").disabled = !isComplete() || busy || walkingTurn;
  byId("finish").disabled = busy || walkingTurn;
  byId("send").hidden = Boolean(onlyEnd());
  byId("finish").hidden = !onlyEnd();
  byId("ask").hidden = Boolean(judge) || isComplete() || !["turn", "keep", "king"].includes(question.decision) || !boardFrame().phase;
  byId("ask").disabled = busy || walkingTurn;
  drawHints(isComplete() ? null : hints, performAll);
  byId("undo").disabled = byId("restart").disabled = !steps.length || busy || walkingTurn;
  const kinds = isComplete() ? [] : kindsIn(legalNow());
  drawKinds(kinds, kind, (chosen) => { kind = chosen; select(); drawTurn(); });
  drawOptions(selection, named, perform, clear);
  drawLegal(legalNow(), named);
  byId("everything").hidden = isComplete();
}

function sayWhoseTurn(asked) {
  byId("status").textContent = asked ? _("your turn") : _("the others think");
  byId("status").classList.toggle("now", asked);
  document.title = asked ? `● ${_("Your turn")} – ${title}` : title;
}

function select() {
  const { gains: known = [], legal = [] } = tried() ?? question ?? {};
  gains = new Map(known.map((gain, index) => [legal[index], gain]));
  selection = new Selection(legalNow(), kind);
}

function clear() {
  select();
  drawTurn();
}

// Try an action: the server shows what follows.
async function perform(action) {
  if (busy || !question || isComplete()) return;
  busy = true;
  byId("refusal").textContent = "";
  const before = boardFrame();
  const actions = [...steps.map((step) => step.action), action];
  const { preview } = root.dataset;
  const asking = judge ? answered(withTurn(preview, actions)) : post(preview, { ply: question.ply, actions });
  const answer = await asking.catch(failure);
  busy = false;
  if (answer?.status === 200) {
    hints = null;
    steps.push({ action, gain: gainWords(gains.get(action) ?? [0, 0]), ...answer.body });
    if (!kindsIn(legalNow()).some((each) => each.kind === kind)) kind = "all";
  } else if (answer) refused(answer);
  select();
  drawTurn(before);
  focusSend();
}

function focusSend() {
  if (isComplete()) byId("send").focus({ preventScroll: true });
}

// Ask what a strong bot would do here.
async function ask() {
  if (busy || byId("ask").hidden || byId("turn").hidden) return;
  busy = true;
  byId("ask").disabled = true;
  byId("refusal").textContent = "";
  const actions = steps.map((step) => step.action);
  const answer = await post(root.dataset.hints, { ply: question.ply, actions }).catch(failure);
  busy = false;
  if (answer?.status === 200) hints = answer.body.turns;
  else if (answer) refused(answer);
  drawTurn();
}

// Try all actions of a turn; they can be taken back one by one.
async function performAll(actions) {
  walkingTurn = true;
  drawTurn();
  for (const action of actions) {
    const before = steps.length;
    await perform(action);
    if (steps.length === before) break;  // it was refused
  }
  walkingTurn = false;
  drawTurn();
  focusSend();
}

function failure(error) {
  if (error.message === "sign in") location.reload();
  byId("refusal").textContent = _("The service cannot be reached. Try again in a moment.");
  return null;
}

function refused({ status, body }) {
  byId("refusal").textContent = body.detail;
  if (status !== 409) return;
  steps = [];  // the question is old
  question = null;
  tag = "";
  pollIn(0);
}

async function send() {
  if (busy || !isComplete()) return;
  const actions = steps.map((step) => step.action);
  if (judge) return location.assign(withTurn(judge, actions));
  busy = true;
  byId("send").disabled = true;
  const answer = await post(root.dataset.answers, { ply: question.ply, actions }).catch(failure);
  busy = false;
  if (answer?.status === 202) {
    question = null;
    sent = true;
    quickPolls = SENT_POLLS;
    byId("turn").hidden = true;
    sayTask(null);
    document.title = title;
    pollIn(0);
  } else if (answer) {
    refused(answer);
    drawTurn();
  }
}

async function finish() {
  const end = onlyEnd();
  if (!end) return;
  await perform(end);
  await send();
}

function undo() {
  if (busy || walkingTurn || !steps.length) return;
  steps.pop();
  hints = null;
  byId("refusal").textContent = "";
  clear();
}

function restart() {
  if (busy || walkingTurn) return;
  steps = [];
  hints = null;
  clear();
}

function pollIn(ms) {
  clearTimeout(timer);
  timer = setTimeout(poll, ms);
}

async function poll() {
  try {
    await look();
  } finally {  // whatever happened, the game goes on
    if (quickPolls) quickPolls -= 1;
    if (document.hidden || question) pollIn(IDLE_POLL_MS);
    else pollIn(quickPolls ? SENT_POLL_MS : POLL_MS);
  }
}

async function look() {
  looks += 1;
  const number = looks;
  const since = Math.max(0, frames.length - 1);
  const options = { headers: tag ? { "If-None-Match": tag } : {}, signal: AbortSignal.timeout(POLL_TIMEOUT_MS) };
  const response = await fetch(`${root.dataset.state}?since=${since}`, options).catch(() => null);
  if (number !== looks) return;  // a later look knows more
  if (response?.status === 200) {
    if (!response.headers.get("Content-Type").includes("json")) return location.reload();
    const state = await response.json().catch(() => null);  // the answer was cut off
    if (!state || number !== looks) return;
    tag = response.headers.get("ETag");
    take(state);
  } else if (response && response.status !== 304 && response.status !== 429) {
    return location.reload();  // signed out, or the game is gone
  }
}

function take(state) {
  if (state.status !== "waiting" && state.status !== "running") return location.reload();
  players = state.players;
  own = state.seat;
  rail ??= new Players(byId("players"), players, own);
  const known = frames.length;
  const last = JSON.stringify(present());
  frames = [...frames.slice(0, state.first), ...state.frames];
  if (sent && frames.length === known && !state.question) return;  // keep the turn that was sent on the board
  sent = false;
  for (const note of state.notes) if (!notes.some(({ move }) => move === note.move)) notes.push(note);
  drawNotes(notes, players);
  const hosted = state.hosted ? "" : ` ${_("No host of games by hand has reported lately, so this may take long.")}`;
  if (!judge) byId("queue").textContent = state.place ? _("You are number %(place)s in the queue. The game begins when a slot is free.", state) + hosted : "";
  const asksAgain = state.question?.ply === question?.ply;
  // Drawing anew would take the focus away.
  if (asksAgain && frames.length === known && last === JSON.stringify(present())) return;
  if (!asksAgain || !state.question) {
    steps = [];
    hints = null;
    kind = "all";
    question = state.question;
    if (question) deadline = Date.now() + question.seconds * 1000;
    select();
  }
  if (shown < 0 || frames.length - 1 - shown > MANY_STEPS) shown = frames.length - 1;
  for (const part of [root, ...root.querySelectorAll(".boardbar, .side, .below")]) part.hidden = false;
  if (shown === frames.length - 1) drawTurn();
  showNext();
}

let walking = false;

// Show the actions of the others one after the other.
function showNext() {
  sayNews(frames[shown], players);
  if (walking || shown >= frames.length - 1) return;
  walking = true;
  const before = frames[shown];
  shown += 1;
  drawTurn(before);
  sayNews(frames[shown], players);
  setTimeout(() => { walking = false; showNext(); }, frames[shown].by === own ? 0 : STEP_MS);
}

function tick() {
  const left = Math.max(0, Math.round((deadline - Date.now()) / 1000));
  const clock = byId("clock");
  clock.textContent = question ? _("%(time)s left", { time: `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` }) : "";
  clock.classList.toggle("hurry", Boolean(question) && left < HURRY_S);
}

function clickSpace(event) {
  const space = event.target.closest("[data-space]")?.dataset.space;
  if (!space || !question || busy || isComplete()) return;
  const action = selection.click(space);
  if (action) perform(action);
  else drawTurn();
}

board.svg.addEventListener("click", clickSpace);
board.svg.addEventListener("pointerover", (event) => say(event.target));
board.svg.addEventListener("pointerleave", () => say(null));
board.svg.addEventListener("focusin", (event) => say(event.target));
board.svg.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  event.stopPropagation();
  clickSpace(event);
});
byId("send").addEventListener("click", send);
byId("finish").addEventListener("click", finish);
byId("undo").addEventListener("click", undo);
byId("restart").addEventListener("click", restart);
byId("ask").addEventListener("click", ask);
byId("choose").addEventListener("click", () => { if (byId("legal").value) perform(byId("legal").value); });
byId("legal").addEventListener("dblclick", () => perform(byId("legal").value));
byId("legal").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && byId("legal").value) perform(byId("legal").value);
});

function change(name, value) {
  settings[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch { /* the setting holds until the page is left */ }
  showView();
}

const changeView = () => change("view", settings.view === "top" ? "iso" : "top");
const turnBoard = () => change("quarters", (settings.quarters + 1) % 4);

function showView() {
  byId("view").textContent = settings.view === "top" ? _("Isometric") : _("From above");
  if (frames.length) drawBoard();
}

const KEYS = { Enter: send, u: undo, h: ask, v: changeView, r: turnBoard, Escape: clear };
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("button, input, textarea, select, a, summary");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
byId("view").addEventListener("click", changeView);
byId("turn-board").addEventListener("click", turnBoard);
showView();
if (judge) {
  take(JSON.parse(byId("start").textContent));
} else {
  setInterval(tick, 250);
  poll();
}
