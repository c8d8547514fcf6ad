"""The viewer in headless Chromium: steps and animation of a game with four seats.

The page is the file of `torres view`, which has the same scripts as the web pages. The
floor of the animation is a page that does nothing, in the same browser.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.bench.sizes import size
from tests.browser import ARGUMENTS, CHROMIUM
from tests.engine.factories import random_replay
from torres.cli.view import page_of

MIN_FRAMES_PER_S = 50
MAX_STEP_MS = 16
SAMPLE_S = size(5.0, short=0.2)
COUNT_FRAMES = """(seconds) => new Promise((done) => {
  let frames = 0;
  const start = performance.now();
  function count(now) {
    frames += 1;
    if (now - start < 1000 * seconds) requestAnimationFrame(count);
    else done(1000 * frames / (now - start));
  }
  requestAnimationFrame(count);
})"""
# Layout is forced, because a browser would do it later.
TIME_STEPS = """() => {
  const times = [];
  const on = document.getElementById("on");
  const last = Number(document.getElementById("at").max);
  document.getElementById("first").click();
  for (let ply = 0; ply < last; ply += 1) {
    const start = performance.now();
    on.click();
    document.getElementById("board").getBoundingClientRect();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}"""
Row = tuple[str, float | None, str, bool]


def measure() -> list[Row]:
    """Measure the viewer; return rows for the table of all benchmarks."""
    if CHROMIUM is None:
        raise RuntimeError("Chromium is missing: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "game.html"
        file.write_text(page_of(random_replay("yucata", 4, "bench"), "game"))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            page = browser.new_page()
            floor = float(page.evaluate(COUNT_FRAMES, SAMPLE_S))
            page.goto(file.as_uri())
            return [_animation(page, floor), *_steps(page)]
        finally:
            browser.close()


def _animation(page: Page, floor: float) -> Row:
    page.locator("#speed").select_option("normal")
    page.click("#play")
    frames = float(page.evaluate(COUNT_FRAMES, SAMPLE_S))
    page.click("#play")
    what = f"frames a second while a game of four seats plays (empty page {floor:.0f})"
    return what, frames, f">= {MIN_FRAMES_PER_S}", frames >= MIN_FRAMES_PER_S


def _steps(page: Page) -> list[Row]:
    times: list[float] = page.evaluate(TIME_STEPS)
    median = times[len(times) // 2]
    late = times[int(0.99 * len(times))]
    target = f"<= {MAX_STEP_MS}"
    return [
        (
            "ms to step to the next position, median",
            median,
            target,
            median <= MAX_STEP_MS,
        ),
        ("ms to step, 99 of 100 steps", late, target, late <= MAX_STEP_MS),
    ]
