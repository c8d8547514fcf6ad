"""Measure the viewer in Chromium: `python -m tests.bench.viewer`.

It plays a game with four seats at the fastest speed, flat and in 3D, and prints frames
a second, the time of a step, layout shift, and the heap after each round. Run it on an
idle machine: the browser draws without a graphics card here.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.browser import ARGUMENTS, CHROMIUM, SHIFTS
from tests.engine.factories import random_replay
from torres.cli.view import page_of

ROUNDS = 2
# Steps through the game by the key of a person, one step after the next picture.
STEPS = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const steps = [];
  document.getElementById("first").click();
  const last = Number(document.getElementById("at").max);
  for (let k = 0; k < last; k += 1) {
    await frame();
    const begun = performance.now();
    const key = new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
    document.getElementById("main").dispatchEvent(key);
    document.body.getBoundingClientRect();  // the layout belongs to the step
    steps.push(performance.now() - begun);
  }
  steps.sort((one, other) => one - other);
  return { median: steps[steps.length >> 1], count: last };
}"""
PLAYED = """async () => {
  document.getElementById("speed").value = "fast";
  document.getElementById("speed").dispatchEvent(new Event("change"));
  document.getElementById("first").click();
  let frames = 0;
  let going = true;
  const count = () => { frames += 1; if (going) requestAnimationFrame(count); };
  document.getElementById("play").click();
  const begun = performance.now();
  count();
  await new Promise((done) => setTimeout(done, 5000));
  going = false;
  document.getElementById("play").click();
  return 1000 * frames / (performance.now() - begun);
}"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "game.html"
        file.write_text(page_of(random_replay("yucata", 4, "viewer"), "game"))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for board in ("flat", "3D"):
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.add_init_script(SHIFTS)
            page.goto(file.as_uri())
            page.wait_for_selector("#viewer.ready")
            if board == "3D":
                page.click("#solid")
                page.wait_for_selector("canvas.solid")
            measure(board, page, page.context.new_cdp_session(page))
            page.close()
        browser.close()


def measure(board: str, page: Page, session: CDPSession) -> None:
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    for number in range(ROUNDS):
        rate = page.evaluate(PLAYED)
        begun = cpu_ms(session)
        steps: dict[str, float] = page.evaluate(STEPS)
        each = (cpu_ms(session) - begun) / steps["count"]
        session.send("HeapProfiler.collectGarbage")
        heap = session.send("Runtime.getHeapUsage")["usedSize"] / 1e6
        print(
            f"{board}, round {number + 1}: {rate:.0f} frames a second; a step takes"
            f" {each:.1f} ms of the processor and {steps['median']:.1f} ms by the clock"
            f" (median); heap {heap:.1f} MB",
            flush=True,
        )
    print(f"{board}: layout shift {page.evaluate('shift'):.4f}", flush=True)


def cpu_ms(session: CDPSession) -> float:
    """Return the processor's time of the page's main thread, drawing included."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")


if __name__ == "__main__":
    main()
