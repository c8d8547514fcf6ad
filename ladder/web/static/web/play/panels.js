// Draws the panels beside the board: seats, cards, the turn, the choices. It only shows
// what it gets. All nodes are made with DOM methods, so no name can be markup.

import { element } from "../viewer/players.js";
import { summary } from "../viewer/turns.js";
import { gettext as _, gettext_noop, ngettext } from "../viewer/texts.js";
import { asChoice, cardText, masterTitle, words } from "../viewer/words.js";
import { gainWords } from "./choices.js";

export const byId = (id) => document.getElementById(id);

function button(text, act, className = "") {
  const node = element("button", className, text);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

export function sayMoment(frame) {
  const parts = [frame.phase ? _("Phase %(phase)s, round %(round)s.", frame) : _("Set-up.")];
  const last = frame.scored.at(-1);
  if (last) parts.push(_("The score after phase %(phase)s was %(scores)s.", { phase: last.phase, scores: last.scores.join(" : ") }));
  if (frame.master) parts.push(_("Master card: %(card)s.", { card: masterTitle(frame.master) }));
  byId("scored").textContent = parts.join(" ");
}

// The cards of the person. Those bought in this turn cannot be played yet.
export function drawHand(frame) {
  const fresh = [...(frame.fresh ?? [])];
  const cards = (frame.drawn ?? []).map((card) => [card, "drawn"]);
  for (const card of frame.hand ?? []) {
    const index = fresh.indexOf(card);
    if (index >= 0) fresh.splice(index, 1);
    cards.push([card, index >= 0 ? "fresh" : ""]);
  }
  byId("hand").replaceChildren(...cards.map(([card, kind]) => {
    const [title, text] = cardText(card);
    const item = element("li", `card ${kind}`);
    item.append(element("strong", "", title), element("span", "", text));
    if (kind === "fresh") item.append(element("span", "tag", _("from the next turn on")));
    if (kind === "drawn") item.append(element("span", "tag", _("drawn: choose one")));
    return item;
  }));
  if (!cards.length) byId("hand").append(element("li", "empty", _("You have no cards.")));
}

export function drawSteps(steps) {
  byId("steps").replaceChildren(...steps.map(({ action, gain }) => {
    const item = element("li");
    item.append(`${asChoice(action)} `, element("code", "", action));
    if (gain) item.append(element("span", "gain", ` ${gain}`));
    return item;
  }));
}

// Good turns, in words; a click tries one. `hints` is null before the person has asked.
export function drawHints(hints, choose) {
  const turns = (hints ?? []).map(({ actions, gain }) => button(`${summary(actions)} (${gainWords(gain) || _("no points yet")})`, () => choose(actions), "option quiet"));
  if (hints && !turns.length) turns.push(element("p", "note", _("No better turn than to end it was found.")));
  byId("hints").replaceChildren(...turns);
}

export function drawKinds(kinds, chosen, choose) {
  byId("kinds").hidden = !kinds.length;
  byId("kinds").replaceChildren(...kinds.map(({ kind, label, count }) => {
    const node = button(`${label} ${count}`, () => choose(kind), "quiet");
    node.setAttribute("aria-pressed", String(kind === chosen));
    return node;
  }));
}

// What can be done with the selected spaces, or without any space.
// `say` names an action with what it gains.
export function drawOptions(selection, say, perform, clear) {
  const actions = selection.complete();
  const more = selection.spaces.length ? [...selection.targets().keys()] : [];
  const box = byId("options");
  box.replaceChildren();
  if (selection.spaces.length) {
    const where = selection.spaces.join(_(", then "));
    const line = element("p", "note", `${_("Selected: %(spaces)s.", { spaces: where })} `);
    if (more.length) line.append(`${_("Choose where to: %(spaces)s.", { spaces: more.join(", ") })} `);
    line.append(button(_("Clear"), clear, "quiet"));
    box.append(line);
  }
  box.append(...actions.map((action) => button(say(action), () => perform(action), "option quiet")));
}

export function drawLegal(legal, say) {
  const groups = new Map();
  for (const action of legal) {
    const word = action.startsWith("play ") ? `play ${action.split(" ")[1]}` : action.split(" ")[0];
    if (!groups.has(word)) groups.set(word, []);
    groups.get(word).push(action);
  }
  byId("total").textContent = String(legal.length);
  byId("legal").replaceChildren(...[...groups].map(([word, actions]) => {
    const group = document.createElement("optgroup");
    group.label = word;
    group.append(...actions.map((action) => new Option(say(action), action)));
    return group;
  }));
}

export function sayNews(frame, players) {
  const news = byId("news");
  if (frame.action === null) news.textContent = frame.phase ? "" : _("The game begins.");
  else news.replaceChildren(element("strong", "", players[frame.by]), ` ${words(frame.action)}`);
  for (const { seat, reason } of frame.failed ?? []) {
    news.append(" ", element("strong", "forfeit", _("%(name)s forfeits: %(reason)s", { name: players[seat], reason })));
  }
}

const DECISION = gettext_noop("Your decision.");
const TASKS = {
  found: gettext_noop("Put a start block on the board."), enter: gettext_noop("Put your first knight on the board."),
  king: gettext_noop("Put the king on the board."), first: gettext_noop("Say who starts the next phase."),
  stock: gettext_noop("Put your kept blocks on the new stacks."), keep: gettext_noop("Keep one of the cards that you drew."),
};

export function sayTask(question, frame, complete) {
  const task = byId("task");
  if (!question) {
    task.textContent = _("The others think…");
    return;
  }
  const ap = question.decision === "turn" ? ngettext("Your turn: %(count)s action point left.", "Your turn: %(count)s action points left.", frame.ap) : "";
  task.textContent = complete ? _("Your answer is complete. Send it, or take something back.") : ap || _(TASKS[question.decision] ?? DECISION);
}

export function drawNotes(notes, players) {
  byId("thoughts").hidden = !notes.length;
  byId("notes").replaceChildren(...notes.slice(-8).reverse().map(({ seat, note }) => {
    const item = element("li");
    item.append(element("strong", "", players[seat]), `: ${note}`);
    return item;
  }));
}
