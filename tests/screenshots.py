"""Take screenshots of the pages: `python -m tests.screenshots FOLDER [ADDRESS ...]`.

Without addresses, take every page of the router, as the superuser olga sees it, and
the pages that only visitors without an account see. The rows are made up and stored in
a temporary database. TESTS_SCREENSHOT_LANGUAGE=de takes them in German.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

LOOKS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
}
LANGUAGE = os.environ.get("TESTS_SCREENSHOT_LANGUAGE", "en")
FOR_VISITORS = ("/", "/sign-in/", "/sign-up/", "/play/", "/password-reset/")


def main(folder: Path, chosen: list[str]) -> None:
    """Take the screenshots and print the name of each file."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "ladder.settings",
            "DJANGO_ALLOW_ASYNC_UNSAFE": "true",  # Playwright runs an event loop
            "DATABASE_URL": f"sqlite:///{data}/ladder.db",
            "TORRES_DATA": data,
            "TORRES_SIGN_UP": "open",
        }
        with _service() as url, sync_playwright() as playwright:
            from tests.browser import ARGUMENTS, CHROMIUM  # noqa: PLC0415

            if CHROMIUM is None:
                sys.exit("Chromium is missing: apt-get install chromium")
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=ARGUMENTS
            )
            for file in _pictures(browser, url, folder, chosen):
                print(file, flush=True)
            browser.close()


@contextmanager
def _service() -> Iterator[str]:
    """Serve the pages of a filled database; yield the address of the service."""
    import django  # noqa: PLC0415
    from django.test.utils import setup_test_environment  # noqa: PLC0415

    django.setup()
    setup_test_environment()
    from django.contrib.staticfiles.handlers import StaticFilesHandler  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415
    from django.test.testcases import LiveServerThread  # noqa: PLC0415

    from tests.web import sitemap  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    sitemap.fill(sitemap.SMALL)
    server = LiveServerThread("127.0.0.1", StaticFilesHandler)
    server.daemon = True
    server.start()
    server.is_ready.wait()
    if server.error:
        raise server.error
    yield f"http://127.0.0.1:{server.port}"
    server.terminate()


def _pictures(
    browser: Browser, url: str, folder: Path, chosen: list[str]
) -> Iterator[Path]:
    from tests.web import sitemap  # noqa: PLC0415

    cookie = sitemap.session_cookie("olga")
    for person, addresses in (
        ("olga", chosen or sitemap.pages("olga")),
        ("visitor", [] if chosen else FOR_VISITORS),
    ):
        for look, options in LOOKS.items():
            context = browser.new_context(base_url=url, locale=LANGUAGE, **options)
            if person == "olga":
                context.add_cookies(
                    [{"name": "sessionid", "value": cookie, "url": url}]
                )
            page = context.new_page()
            for address in addresses:
                page.goto(address, wait_until="networkidle")
                name = re.sub(r"\W+", "-", address).strip("-") or "home"
                file = folder / f"{name}.{person}.{look}.png"
                page.screenshot(path=file, full_page=True)
                yield file
            context.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
