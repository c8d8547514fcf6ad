"""manage.py, but the web server creates some bots slowly, until it is killed.

A bot whose name begins with "before" is not created, and one whose name begins with
"after" is; then the request stops. A file HELD/NAME tells the test that it has stopped.
"""

import os
import runpy
import threading
from pathlib import Path

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402 - it needs the settings

from ladder.bots import services  # noqa: E402
from ladder.bots.models import Bot  # noqa: E402

create_bot = services.create_bot


def create_slowly(owner: User, name: str) -> Bot:
    if name.startswith("after"):
        create_bot(owner, name)
    (Path(os.environ["HELD"]) / name).touch()
    threading.Event().wait()
    raise AssertionError


services.create_bot = create_slowly
runpy.run_path(str(settings.BASE_DIR / "manage.py"), run_name="__main__")
