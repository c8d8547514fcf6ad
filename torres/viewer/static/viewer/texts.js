// Texts in the reader's language. A page of a ladder may load a catalogue, which Django made
// (/language/de.js). Without one, as in `torres view`, texts stay as they are.

const { django } = globalThis;

// Mark a text that is translated where it is shown.
export const gettext_noop = (text) => text;

export function gettext(text, values = {}) {
  return filled(django?.gettext(text) ?? text, values);
}

export function ngettext(one, many, count, values = {}) {
  const text = django?.ngettext(one, many, count) ?? (count === 1 ? one : many);
  return filled(text, { count, ...values });
}

function filled(text, values) {
  return text.replace(/%\((\w+)\)s/g, (place, name) => String(values[name] ?? place));
}
