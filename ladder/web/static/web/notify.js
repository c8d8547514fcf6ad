// Notifications of the browser about bots, ladders and tournaments that its user has
// chosen, without results. The choices stay in this browser. Of its open pages one listens
// to the stream of events, which all visitors share; its service needs no other server.

import { gettext as _ } from "./viewer/texts.js";

const KEY = "torres.notify";  // in localStorage: ["bots ana-bot", "tournament cup"]
const MAX_CHOSEN = 50;
const QUIET_MS = 60_000;  // a ladder may have many games a minute
const RETRY_MS = 60_000;
const GAME = "game.finished";
const ROUNDS = {
  "tournament.started": (data) => _("%(name)s has started.", data),
  "tournament.round-started": (data) => _("%(name)s: round %(rounds)s has started.", data),
  "tournament.round-finished": (data) => _("%(name)s: round %(rounds)s is finished.", data),
  "tournament.finished": (data) => _("%(name)s is over.", data),
};
const told = {};  // when a ladder was last spoken of

function chosen() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "[]").map(String).slice(-MAX_CHOSEN);
  } catch {
    return [];
  }
}

function concerns(choice, data) {
  const [key, slug] = choice.split(" ");
  if (![data[key]].flat().includes(slug)) return false;
  if (key !== "ladder") return true;
  const isLoud = Date.now() - (told[slug] ?? 0) >= QUIET_MS;
  if (isLoud) told[slug] = Date.now();
  return isLoud;
}

// A page of another tab may say the same: a tag is shown once.
function tell(text, data) {
  if (!chosen().some((choice) => concerns(choice, data))) return;
  const address = data.url.replace("/api/v1", "");
  const note = new Notification("Torres ladder", { body: text, tag: address });
  note.onclick = () => open(address);
}

function listen() {
  const kinds = [GAME, ...Object.keys(ROUNDS)];
  // A notification tells no result, so it may come to readers who hide results.
  const source = new EventSource(`/api/v1/events/?type=${kinds}&results=shown`);
  source.addEventListener(GAME, (event) => {
    const { data } = JSON.parse(event.data);
    const players = data.bots.join(` ${_("against")} `);
    tell(_("%(players)s has ended.", { players }), data);
  });
  for (const [kind, words] of Object.entries(ROUNDS)) {
    source.addEventListener(kind, (event) => {
      const { data } = JSON.parse(event.data);
      tell(words({ ...data, rounds: data.rounds?.join(", ") }), data);
    });
  }
  // After a lost connection the browser tries again by itself, but not after an error.
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, RETRY_MS);
  });
  return new Promise(() => {});  // this page listens until it is closed
}

let started = false;
function start() {
  if (started || globalThis.Notification?.permission !== "granted" || !chosen().length) return;
  started = true;
  if (navigator.locks) navigator.locks.request(KEY, listen);
  else listen();
}

// Only after a click, as browsers want it.
async function toggle(choice) {
  if (chosen().includes(choice) && Notification.permission === "granted") {
    localStorage.setItem(KEY, JSON.stringify(chosen().filter((each) => each !== choice)));
    return _("Off.");
  }
  if (await Notification.requestPermission() !== "granted") {
    return _("The browser does not permit notifications of this site. Its settings can change that.");
  }
  const text = _("On, while a page of this site is open.");
  try {
    new Notification("Torres ladder", { body: text, tag: KEY });
  } catch {  // on phones only a service worker may
    return _("This browser has no notifications.");
  }
  localStorage.setItem(KEY, JSON.stringify([...new Set([...chosen(), choice])]));
  start();
  return text;
}

const node = document.querySelector("[data-notify]");
if (node) {
  const button = node.querySelector("button");
  const status = node.querySelector("[role=status]");
  const choice = node.dataset.notify;
  const show = () => {
    const isOn = chosen().includes(choice) && Notification.permission === "granted";
    button.textContent = isOn ? _("Stop notifications") : _("Notify me in this browser");
  };
  button.addEventListener("click", async () => {
    status.textContent = await toggle(choice);
    show();
  });
  button.hidden = !globalThis.Notification;
  if (button.hidden) status.textContent = _("This browser has no notifications.");
  else show();
}
start();
