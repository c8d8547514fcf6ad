// The viewer of replays and running games. It knows no rules: it gets the position after
// each action (frames.json, or the element #frames) and shows one position at a time.
// `#ply=57` in the address is the position after 57 actions. A finished game opens at its
// end, or at its beginning if the page hides results: then the viewer has the positions
// that the reader has reached, and asks for the next ones. Without scripts the page shows
// one position. A running game is followed by a stream, or polled if there is none.

import { listen } from "./stream.js";
import { Board } from "./board.js";
import { CastleBar } from "./bar.js";
import { ScoreCurve } from "./curve.js";
import { LegalActions } from "./legal.js";
import { element, Players, resultOf } from "./players.js";
import { TurnList, summary } from "./turns.js";
import { gettext as _, ngettext } from "./texts.js";
import { explained, masterTitle, words } from "./words.js";

const POLL_INTERVAL_MS = 2000;
const LINK_INTERVAL_MS = 100;
const SPEEDS = { slow: 1100, normal: 550, fast: 180 };
const KEY = "torres-viewer";  // of the remembered settings
const byId = (id) => document.getElementById(id);
const viewer = byId("viewer");
const description = byId("description");
const slider = byId("at");
const live = byId("live");
const playButton = byId("play");
const whatIf = byId("what-if");
const marks = read("turning-points", []);
const draws = new Map(read("draws", []).map((draw) => [draw.ply, draw]));
const notes = new Map(read("owner-notes", []).map((note) => [note.move, note.note]));
const settings = { view: "iso", quarters: 0, motion: !matchMedia("(prefers-reduced-motion: reduce)").matches, speed: "normal", legal: false, ...remembered() };

const hides = "hides" in viewer.dataset;
let { players, frames, attempt } = read("frames") ?? (await (await fetch(viewer.dataset.frames)).json());
let at = -1;  // the index of the frame that is shown
let timer = 0;
let linkTimer = 0;
let linked = location.hash;  // the part of the address that names the ply
let linkedAt = -LINK_INTERVAL_MS;  // when the ply was put into the address
let ended = !live && !hides;
let ahead = hides ? frames.splice(1) : [];  // positions that the reader has not reached
let growing = false;
let solid = null;  // the board in 3D, while it is shown
const board = new Board(byId("board"));
const castles = new CastleBar(byId("castles"), byId("castle"), board);
const rail = new Players(byId("players"), players);
const curve = new ScoreCurve(byId("curve"), marks, read("chances", []));
const turns = new TurnList(byId("turns"), marks, (ply) => { stop(); show(ply); });
// A text that needed one line more keeps it, so that the page does not move with each turn.
const heights = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) target.style.minHeight = `${contentRect.height}px`;
});
const texts = ["moment", "description", "so-far", "scored"].map(byId);
texts.forEach((text) => heights.observe(text));
const legalAddress = viewer.dataset.legal;  // only for a finished game of the server
const legal = legalAddress ? new LegalActions(byId("board"), byId("legal-here"), byId("legal-all"), legalAddress) : null;

// Return the JSON in an element of the page; it is data, and never run.
function read(id, missing = null) {
  const node = byId(id);
  return node ? JSON.parse(node.textContent) : missing;
}

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};  // storage is off, or another program wrote there
  }
}

function set(name, value) {
  settings[name] = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch { /* the setting holds until the page is left */ }
  drawSettings();
}

function drawSettings() {
  byId("view").textContent = settings.view === "top" ? _("Isometric") : _("From above");
  byId("motion").setAttribute("aria-pressed", String(settings.motion));
  byId("speed").value = settings.speed;
  byId("legal").hidden = !legal;
  byId("legal").setAttribute("aria-pressed", String(settings.legal));
  byId("legal-part").hidden = !legal || !settings.legal;
}

// Say what the turn that is shown has done so far, and who is next.
function describe(frame) {
  const round = frame.phase ? _("Phase %(phase)s, round %(round)s.", frame) : _("Set-up.");
  byId("moment").textContent = frame.over ? resultOf(frame, players) : `${round} ${nextToMove(frame)}`;
  description.textContent = "";
  if (frame.action === null) description.append(_("The game begins."));
  else description.append(element("strong", "", players[frame.by]), ` ${words(frame.action)} `, element("code", "", frame.action));
  for (const { seat, reason } of frame.failed ?? []) {
    description.append(" – ", element("strong", "forfeit", _("%(name)s forfeits: %(reason)s", { name: players[seat], reason })));
  }
  if (frame.over) description.append(_(" – the game is over."));
  const turn = turns.at(at);
  const done = turn && at > turn.first ? summary(turn.actions.slice(0, at - turn.first + 1)) : "";
  byId("so-far").textContent = done ? _("This turn: %(actions)s.", { actions: done }) : "";
}

function nextToMove(frame) {
  if (frame.seat === null) return "";
  const name = players[frame.seat];
  return frame.ap
    ? ngettext("%(name)s is to move with %(count)s action point.", "%(name)s is to move with %(count)s action points.", frame.ap, { name })
    : _("%(name)s is to move.", { name });
}

function drawDetails(frame) {
  const last = frame.scored.at(-1);
  const parts = [];
  if (frame.clock) parts.push(_("This decision took %(ms)s ms; %(bank)s ms are left in the bank.", { ms: frame.clock.ms, bank: Math.round(frame.clock.bank_ms) }));
  if (frame.ends_phase) parts.push(_("Phase %(phase)s is scored: each castle shows its points.", last));
  else if (last) parts.push(_("The score after phase %(phase)s was %(scores)s.", { phase: last.phase, scores: last.scores.join(" : ") }));
  if (frame.master) parts.push(_("Master card: %(card)s.", { card: masterTitle(frame.master) }));
  const draw = draws.get(at);
  if (draw) parts.push(luckOf(draw));
  byId("scored").textContent = parts.join(" ");
  const note = frame.move === null ? undefined : notes.get(frame.move);
  byId("note").hidden = note === undefined;
  byId("note").textContent = note === undefined ? "" : _("Your bot's note: %(note)s", { note });
}

function luckOf({ luck, error }) {
  const values = { points: Math.abs(luck).toFixed(1), error: error.toFixed(1) };
  return luck < 0
    ? _("This draw was worth %(points)s points less than the average one (± %(error)s).", values)
    : _("This draw was worth %(points)s points more than the average one (± %(error)s).", values);
}

// Explain the forfeits of this moment, and how to see one again at home.
function drawForfeits(frame) {
  byId("forfeits").replaceChildren(...(frame.failed ?? []).map(({ seat, reason }) => {
    const part = element("p", "forfeit-why", _("%(name)s forfeits (%(reason)s). %(why)s From here on the referee chooses for seat %(seat)s.", { name: players[seat], reason, why: explained(reason), seat }));
    const game = viewer.dataset.game;
    if (game) part.append(" ", _("To see it again with your bot:"), " ", element("code", "", `torres reproduce ${game} BOT --seat ${seat}`));
    return part;
  }));
}

function show(index, { link = true } = {}) {
  const before = at;
  at = Math.max(0, Math.min(frames.length - 1, index));
  const frame = frames[at];
  const next = at === before + 1 && settings.motion;
  board.show(frame, settings, next ? frames[before] : null);
  solid?.show(frame, settings.quarters, next ? frames[before] : null);
  castles.show(frame, players);
  rail.show(frame, players.map((_name, seat) => frames.slice(0, at + 1).findLast(({ by, thought }) => thought && by === seat)?.thought));
  turns.point(at);
  drawDetails(frame);
  drawForfeits(frame);
  describe(frame);
  curve.point(at);
  slider.value = String(at);
  if (viewer.dataset.whatIf) {
    whatIf.hidden = frame.over;
    whatIf.href = `${viewer.dataset.whatIf}?ply=${at}`;
  }
  slider.setAttribute("aria-valuetext", description.textContent);
  byId("count").value = hides && !ended ? String(at) : _("%(at)s of %(last)s", { at, last: frames.length - 1 });
  showLegal();
  if (link) linkSoon();
}

// Show a position, also one that this page does not have yet.
function go(index) {
  if (index < frames.length || !hides) show(index);
  else grow(() => frames.length > index);
}

// Show the next positions of a game whose results are hidden, until `done`.
async function grow(done) {
  if (growing) return;
  growing = true;
  let isNew = true;
  while (isNew && !ended && !done()) isNew = await takeNext();
  growing = false;
  load();
  show(frames.length - 1);
  if (isNew) return;
  stop();
  byId("so-far").textContent = _("The next position is not there yet. Try again in a moment.");
}

// Take one more position. Return false if there is none yet.
async function takeNext() {
  if (!ahead.length) {
    const response = await fetch(`${viewer.dataset.frames}&after=${frames.length}`).catch(() => null);
    const more = response?.ok ? await response.json() : { attempt, frames: [] };
    if (more.attempt !== attempt) location.reload();  // the game began anew
    ahead = more.frames;
    ended = Boolean(more.over);
  }
  const next = ahead.shift();
  if (next) frames.push(next);
  return Boolean(next);
}

// Put the ply into the address. A browser ignores many changes within a few seconds. An
// address that somebody has asked for meanwhile stays: `hashchange` shows its ply.
function linkSoon() {
  clearTimeout(linkTimer);
  if (location.hash !== linked) return;
  const wait = linkedAt + LINK_INTERVAL_MS - performance.now();
  if (wait > 0) {
    linkTimer = setTimeout(linkSoon, wait);
    return;
  }
  linkedAt = performance.now();
  linked = `#ply=${at}`;
  history.replaceState(null, "", linked);
}

function showLegal() {
  if (!legal) return;
  if (settings.legal && !frames[at].over) legal.show(at);
  else legal.clear();
}

function stop() {
  clearInterval(timer);
  timer = 0;
  playButton.textContent = _("▶ Play");
}

function play() {
  if (timer) return stop();
  const isAtEnd = () => at === frames.length - 1 && (ended || !hides);
  if (isAtEnd()) show(0);
  playButton.textContent = _("❚❚ Pause");
  timer = setInterval(() => (isAtEnd() ? stop() : go(at + 1)), SPEEDS[settings.speed] ?? SPEEDS.normal);
}

// Go to the end of the turn before or after the position that is shown.
function jump(step) {
  const count = frames.length;
  if (step < 0 || !hides || at < count - 1) show(turns.beside(at, step));
  else grow(() => frames.length > count && frames.at(-1).ends_turn);
}

function changeView() {
  if (solid) changeSolid();
  set("view", settings.view === "top" ? "iso" : "top");
  show(at, { link: false });
}

function turnBoard() {
  set("quarters", (settings.quarters + 1) % 4);
  show(at, { link: false });
}

// Show the board in 3D, or the flat one again. Its scripts are loaded when they are needed.
async function changeSolid() {
  const button = byId("solid");
  button.disabled = true;  // while it is loaded
  try {
    if (solid) hideSolid();
    else {
      const { SolidBoard } = await import("./solid.js");
      solid = new SolidBoard(board.svg, noSolid);
      solid.show(frames[at], settings.quarters);
    }
  } catch {
    noSolid();
  }
  button.disabled = false;
  button.setAttribute("aria-pressed", String(Boolean(solid)));
}

function hideSolid() {
  solid?.close();
  solid = null;
}

function noSolid() {
  hideSolid();
  byId("solid").setAttribute("aria-pressed", "false");
  byId("solid").textContent = _("3D needs WebGL, which is off here");
}

function changeLegal() {
  if (!legal) return;
  set("legal", !settings.legal);
  show(at, { link: false });  // draws the marks, or removes them
}

const KEYS = {
  ArrowLeft: () => show(at - 1), ArrowRight: () => go(at + 1),
  ArrowUp: () => jump(-1), ArrowDown: () => jump(1),
  Home: () => show(0), End: () => show(frames.length - 1), " ": play, v: changeView, r: turnBoard, l: changeLegal,
};

document.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  const typing = event.target.closest("button, input, textarea, select, a, summary");
  if (!act || event.ctrlKey || event.metaKey || event.altKey || typing) return;
  event.preventDefault();
  if (event.key !== " ") stop();
  act();
});

const BUTTONS = {
  first: () => show(0), back: () => show(at - 1),
  on: () => go(at + 1), last: () => show(frames.length - 1),
  "turn-back": () => jump(-1), "turn-on": () => jump(1),
};
for (const [id, act] of Object.entries(BUTTONS)) {
  byId(id).addEventListener("click", () => { stop(); act(); });
}
playButton.addEventListener("click", play);
byId("view").addEventListener("click", changeView);
byId("turn-board").addEventListener("click", turnBoard);
byId("solid").addEventListener("click", changeSolid);
byId("legal").addEventListener("click", changeLegal);
byId("motion").addEventListener("click", () => set("motion", !settings.motion));
byId("speed").addEventListener("change", (event) => {
  set("speed", event.target.value);
  if (timer) { stop(); play(); }
});
slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
addEventListener("resize", () => texts.forEach((text) => { text.style.minHeight = ""; }));
function linkedPly(address) {
  const found = /#ply=(\d{1,6})$/.exec(address);
  return found ? Number(found[1]) : null;
}

// The event names the address that was asked for, whatever has replaced it since.
window.addEventListener("hashchange", (event) => {
  clearTimeout(linkTimer);
  linked = location.hash;
  const ply = linkedPly(event.newURL);
  if (ply !== null && ply !== at) { stop(); go(ply); }
});

function load() {
  slider.max = String(frames.length - 1);
  curve.load(frames);
  turns.load(frames, players);
}

function follow() {
  const end = listen(
    () => `${viewer.dataset.stream}?attempt=${attempt}&after=${frames.length}`,
    { frames: (game) => { take(game); if (ended) end(); }, gone: () => location.reload() },
    poll,
  );
}

async function poll() {
  const response = document.hidden ? null : await fetch(viewer.dataset.frames).catch(() => null);
  if (response?.ok) take({ first: 0, ...await response.json() });
  else if (response) return location.reload();  // the game may no longer be watched
  if (!ended) setTimeout(poll, POLL_INTERVAL_MS);
}

// Show what is new: the frames from the place `first` on. The position that is shown stays,
// unless it was the last one.
function take(game) {
  const atEnd = at === frames.length - 1;
  frames = [...frames.slice(0, game.first), ...game.frames];
  ({ players, attempt, over: ended } = game);
  load();
  if (atEnd && !timer) show(frames.length - 1, { link: false });
  else show(at, { link: false });
  if (ended) finish();
}

// Say that the game is over. The position that is shown stays.
function finish() {
  const tag = document.querySelector("h1 .tag");
  if (tag) {
    tag.textContent = _("finished");
    tag.className = "tag finished";
  }
  const link = element("a", "", _("Show the scoring and the replay"));
  link.href = location.pathname;
  live.replaceChildren(_("The game is over."), ` ${resultOf(frames.at(-1), players)} `, link);
}

drawSettings();
load();
viewer.classList.add("ready");
const opened = linkedPly(location.href) ?? Number(viewer.dataset.ply ?? (hides ? 0 : frames.length - 1));
show(hides ? 0 : opened, { link: false });
if (hides && opened) go(opened);
if (live) follow();
