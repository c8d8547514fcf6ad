// Times are written in UTC. Show them in the reader's time zone; the tooltip keeps UTC.

const day = { month: "short", day: "numeric" };
const clock = { hour: "2-digit", minute: "2-digit" };
// Take the reader's variant of the page's language, for example British English.
const { lang } = document.documentElement;
const locale = navigator.languages.find((each) => each.split("-")[0] === lang) ?? lang;
const formats = (parts) => [parts, { year: "numeric", ...parts }].map(
  (each) => new Intl.DateTimeFormat(locale, each),
);
const moments = formats({ ...day, ...clock });
const days = formats(day);

function localise() {
  for (const node of document.querySelectorAll("time[datetime]:not([title])")) {
    const at = new Date(node.dateTime);
    const [thisYear, otherYears] = "day" in node.dataset ? days : moments;
    const isNow = at.getFullYear() === new Date().getFullYear();
    node.title = node.textContent;
    node.textContent = (isNow ? thisYear : otherYears).format(at);
  }
}

localise();
// Other scripts replace parts of a page.
new MutationObserver(localise).observe(document.body, { childList: true, subtree: true });
