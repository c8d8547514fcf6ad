// Suggest bots while somebody types into a field with data-search. The browser shows
// the suggestions of the datalist; without this script the field takes a name or slug.

const PAUSE_MS = 180;  // after the last key
const known = new Map();

for (const field of document.querySelectorAll("input[data-search]")) {
  const list = document.createElement("datalist");
  list.id = `${field.id}-found`;
  const given = field.list;
  if (given) list.append(...[...given.options].map((option) => option.cloneNode(true)));
  field.after(list);
  field.setAttribute("list", list.id);
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => suggest(field, list), PAUSE_MS);
  });
}

async function suggest(field, list) {
  const text = field.value.trim();
  if (!text) return;
  const found = await search(field.dataset.search, text);
  if (found === null || text !== field.value.trim()) return;  // somebody typed on
  list.replaceChildren(...found.map(option));
}

// Return the bots that match; null if the server did not answer.
async function search(source, text) {
  const address = new URL(source, location.href);
  address.searchParams.set("q", text);
  if (known.has(address.href)) return known.get(address.href);
  const response = await fetch(address).catch(() => null);
  if (!response?.ok) return null;
  const { results } = await response.json();
  known.set(address.href, results);
  return results;
}

function option(bot) {
  const node = document.createElement("option");
  node.value = bot.name;
  node.label = bot.owner ? `${bot.name}, by ${bot.owner}` : bot.name;
  return node;
}
