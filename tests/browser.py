"""Pages in a real browser, watched for failing scripts and blocked content."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
TIMEOUT_MS = 60_000  # generous, because the machine may be busy
LOCAL = ("data:", "blob:", "file:", "about:")
# A page of `torres view` is a file that holds its scripts, so only HTTP is checked.
NO_INLINE_SCRIPT = """addEventListener("DOMContentLoaded", () => {
  if (!location.protocol.startsWith("http")) return;
  for (const script of document.scripts)
    if (!script.src && script.type !== "application/json")
      console.error("inline script: " + script.textContent.slice(0, 100));
});"""

# Adds up how far the parts of a page move by themselves, as browsers measure it.
SHIFTS = """globalThis.shift = 0;
new PerformanceObserver((list) => {
  for (const { hadRecentInput, value } of list.getEntries())
    if (!hadRecentInput) shift += value;
}).observe({ type: "layout-shift", buffered: true });"""

# Resolves when a turn is sent, also if the page asks for the next one at once: the part
# of the page is then hidden for an instant, which a look from outside can miss.
SEND = """([button, ms]) => new Promise((done, fail) => {
  const turn = document.getElementById("turn");
  new MutationObserver(() => { if (turn.hidden) done(); })
    .observe(turn, { attributeFilter: ["hidden"] });
  setTimeout(() => fail(new Error("the turn was not sent")), ms);
  document.getElementById(button).click();
})"""


def send_turn(page: Page, button: str = "send") -> None:
    """Press a button that sends a turn of a game by hand, and wait until it is sent."""
    page.evaluate(SEND, [button, TIMEOUT_MS])


@contextmanager
def launched() -> Iterator[Browser]:
    """Start Chromium; skip the test without it, or fail if all parts are required."""
    if CHROMIUM is None:
        why = "Chromium is missing: apt-get install chromium"
        if os.environ.get("TESTS_REQUIRE_ALL") == "1":
            pytest.fail(why)
        pytest.skip(why)
    expect.set_options(timeout=TIMEOUT_MS)
    # Playwright runs an event loop in this thread. Django refuses to use the database
    # in such a thread, unless this variable is set.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, url: str, script: str = "", refused: int = 0, **options: Any
) -> Iterator[Page]:
    """Open a page in a new context with the base address `url`.

    `script` runs first on every page. Responses with the status `refused` are expected.

    Fail at the end if a script failed, the CSP blocked something, a page held an inline
    script, or a page asked another host.
    """
    context = browser.new_context(base_url=url, **options)
    context.set_default_timeout(TIMEOUT_MS)
    guarded = f"if (location.protocol.startsWith('http')) {{ {script} }}"
    context.add_init_script(NO_INLINE_SCRIPT + guarded)
    faults: list[str] = []
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on(
        "console",
        lambda message: (
            faults.append(message.text)
            if message.type == "error" and f"a status of {refused} " not in message.text
            else None
        ),
    )
    context.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((url, *LOCAL))
            else faults.append(f"a request to {request.url}")
        ),
    )
    yield context.new_page()
    context.close()
    assert faults == [], faults
