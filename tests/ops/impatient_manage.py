"""manage.py, but its web server has smaller limits, which a test reaches soon."""

import os
import runpy

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
django.setup()

from ladder.web.server import application, connections, server  # noqa: E402 - after the settings

server.MAX_CONNECTIONS = 8
connections.HEAD_TIMEOUT_S = application.BODY_PAUSE_S = 1.0
connections.SWEEP_INTERVAL_S = 0.1
connections.UNTAKEN_MS = 1000
application.MIN_BYTES_PER_S = 100_000
runpy.run_path(str(settings.BASE_DIR / "manage.py"), run_name="__main__")
