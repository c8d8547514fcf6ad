"""Run with `python -m tests.fill --bots 200 --games 1000`."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
django.setup()

from tests.fill.command import Command  # noqa: E402 - it needs Django's set-up

Command().run_from_argv(["python -m", "tests.fill", *sys.argv[1:]])
