// Check a game against its receipt from the public log, as torres/auditing/receipt_check
// does. The server sends documents; what they prove is computed here.

const LEAF = Uint8Array.of(0), NODE = Uint8Array.of(1);  // the prefixes of RFC 6962
const ED25519 = 1;
const ID_BYTES = 4, SEED_BYTES = 16;
const FIRST_LINE = "c2sp.org/tlog-proof@v1";
const LABELS = ["torres-decks/1\n", "torres-decks/2\n"];  // without and with witnesses
const RESULT = ["scores", "ranks", "reason"];

// A document does not fit; the text says which one, for people.
export class Mismatch extends Error {}

// A number of a document as it was written: JavaScript would write 1.0 as 1.
class Written {
  constructor(source) { this.source = source; }
}

// True if this browser has all that a check needs. WebCrypto needs HTTPS or this machine.
export function supported() {
  const source = JSON.parse("1.0", (_key, _value, context) => context?.source);
  return source === "1.0" && "subtle" in crypto && "DecompressionStream" in window;
}

const encoder = new TextEncoder();
const utf8 = (text) => encoder.encode(text);
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const base64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function unhex(text) {
  if (!/^([0-9a-f]{2})*$/.test(text)) throw new Mismatch("A document has a malformed number.");
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const sha256 = async (...parts) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));

const leafHash = (text) => sha256(LEAF, utf8(text));

// Return the texts of a receipt, and its path to the root (C2SP tlog-proof).
export async function readReceipt(text) {
  const end = text.indexOf("\n\n");
  const [first, extra, index, ...path] = text.slice(0, end).split("\n");
  if (first !== FIRST_LINE || !extra.startsWith("extra ") || !/^index \d{1,15}$/.test(index)) {
    throw new Mismatch("The receipt cannot be read.");
  }
  const packed = new Blob([base64(extra.slice("extra ".length))]).stream();
  const unpacked = packed.pipeThrough(new DecompressionStream("deflate"));
  return {
    index: Number(index.slice("index ".length)),
    path: path.map(base64),
    checkpoint: text.slice(end + 2),
    texts: JSON.parse(await new Response(unpacked).text()),
  };
}

// Return the name and the size of the tree that the key has signed in a checkpoint.
export async function openCheckpoint(checkpoint, key) {
  const [name, , encoded] = key.trim().split("+");
  const public_ = base64(key.trim().split("+").slice(2).join("+"));
  if (!encoded || public_[0] !== ED25519) throw new Mismatch("The key of the log cannot be read.");
  const end = checkpoint.indexOf("\n\n") + 1;
  const body = checkpoint.slice(0, end);
  const id = hex((await sha256(utf8(`${name}\n`), public_)).slice(0, ID_BYTES));
  const verifier = await crypto.subtle.importKey(
    "raw", public_.slice(1), { name: "Ed25519" }, false, ["verify"]);
  const lines = checkpoint.slice(end + 1).split("\n").filter((line) => line.startsWith(`— ${name} `));
  for (const line of lines) {
    const signed = base64(line.slice(`— ${name} `.length));
    const signature = signed.slice(ID_BYTES);
    if (hex(signed.slice(0, ID_BYTES)) !== id) continue;
    if (!await crypto.subtle.verify("Ed25519", verifier, signature, utf8(body))) continue;
    const [origin, size, root] = body.split("\n");
    if (origin === name) return { name, size: Number(size), root: hex(base64(root)) };
  }
  throw new Mismatch("The key of the log has not signed the receipt.");
}

// Return the root of a tree with this leaf, by RFC 9162, section 2.1.3.2.
export async function rootOf(leaf, index, size, path) {
  let hash = leaf, node = index, last = size - 1;
  if (index >= size) throw new Mismatch("The tree of the receipt is too small for its leaf.");
  for (const sibling of path) {
    if (last === 0) throw new Mismatch("The receipt has more hashes than its tree can need.");
    if (node % 2 || node === last) {
      hash = await sha256(NODE, sibling, hash);
      while (node && node % 2 === 0) [node, last] = [node / 2, Math.floor(last / 2)];
    } else {
      hash = await sha256(NODE, hash, sibling);
    }
    [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  }
  if (last) throw new Mismatch("The receipt has fewer hashes than its tree needs.");
  return hex(hash);
}

// Return a leaf of a receipt; what was sealed in it has to fit its seal.
async function opened(receipt, name) {
  const leaf = JSON.parse(receipt.texts[name] ?? "null");
  if (leaf?.type !== "sealed") return leaf;
  const { salt, text } = JSON.parse(receipt.texts[`${name}_opening`] ?? "{}").data ?? {};
  const seal = text === undefined ? "" : hex(await sha256(unhex(salt), utf8(text)));
  if (seal !== leaf.data.hash) throw new Mismatch("A leaf does not contain what it has sealed.");
  return JSON.parse(text);
}

// Write a document as Python's json.dumps does, with sorted keys and without spaces.
function canonical(value) {
  if (value instanceof Written) return value.source;
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value && typeof value === "object") {
    const pairs = Object.keys(value).sort().map((key) => `${ascii(key)}:${canonical(value[key])}`);
    return `{${pairs.join(",")}}`;
  }
  return typeof value === "string" ? ascii(value) : JSON.stringify(value);
}

const ascii = (text) => JSON.stringify(text).replace(/[^ -~]/g,
  (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

export function readDocument(text) {
  return JSON.parse(text, (_key, value, context) =>
    typeof value === "number" ? new Written(context.source) : value);
}

// Return the SHA-256 of a replay without its players, as the leaf of a game has it.
export async function replayDigest(replay) {
  const { players: _, ...rest } = replay;
  return hex(await sha256(utf8(canonical(rest))));
}

// Yield what was checked: [true, false or null (it cannot be told yet), a sentence].
export async function* checkGame(game, receipt, head, replay) {
  const root = await rootOf(
    await leafHash(receipt.texts.leaf), receipt.index, head.size, receipt.path);
  const end = await opened(receipt, "leaf");
  const isGame = end.type === "game-finished" && end.data.game === game;
  yield [root === head.root && isGame,
    `Leaf ${receipt.index} of the log ${head.name} is the end of this game.`];
  const data = readDocument(JSON.stringify(end.data));
  yield [await replayDigest(replay) === data.replay, "The replay is the one that the log has."];
  yield [RESULT.every((name) => canonical(data[name]) === canonical(replay.result[name])),
    "The log has the scores and ranks of the replay."];
  const plan = (await opened(receipt, "plan")).data;
  const seats = plan.games[end.data.index] ?? [];
  yield [plan.match === end.data.match && seats.length === replay.players.length
    && seats.every((seat, k) => plan.submissions[seat] === replay.players[k].digest),
    "The uploads played that the match was planned with."];
  const deal = end.data.deal;
  if (deal) yield* checkDecks(receipt, plan, deal, replay.seed);
}

async function* checkDecks(receipt, plan, deal, seed) {
  yield [await followsFromPlan(receipt, plan, deal), "The decks were dealt for this match."];
  if (!receipt.texts.secret) {
    yield [null, "The secret of the decks is not public yet, because other games use it. Check again later."];
    return;
  }
  const secret = unhex(receipt.texts.secret);
  yield [hex(await sha256(secret)) === deal.commitment,
    "The secret of the decks is the one that the service committed to."];
  const size = new DataView(new ArrayBuffer(8));
  size.setBigUint64(0, BigInt(deal.size));
  const message = joined(utf8(LABELS[deal.entropy ? 1 : 0]), unhex(deal.plan),
    new Uint8Array(size.buffer), unhex(deal.root), unhex(deal.entropy ?? ""));
  const key = await crypto.subtle.importKey(
    "raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, message));
  yield [hex(mac.slice(0, SEED_BYTES)) === seed,
    "The seed of the decks follows from the secret and the log."];
}

// True if the receipt has the plan of the match, and what its decks follow from: the plan
// of the deal that it names, or the leaf that asked for other decks.
async function followsFromPlan(receipt, plan, deal) {
  const hashOf = async (name) => hex(await leafHash(receipt.texts[name] ?? ""));
  if (await hashOf("plan") !== (deal.match_plan ?? deal.plan)) return false;
  let source = "plan";
  if (receipt.texts.renewal) source = "renewal";
  else if ((plan.deal_of ?? plan.match) !== plan.match) source = "deal_plan";
  if (await hashOf(source) !== deal.plan) return false;
  const match = source === "deal_plan" ? plan.deal_of : plan.match;
  return (await opened(receipt, source))?.data.match === match;
}
