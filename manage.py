#!/usr/bin/env python3
"""Run Django's management commands for the ladder."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import Error

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit("Stopped.")
    except Error as error:
        if "--traceback" in sys.argv:
            raise
        said = str(error).strip().partition("\n")[0]
        sys.exit(
            f"The database refuses: {said}\n"
            "Is DATABASE_URL right, and does the server run? After an update say"
            " 'python manage.py prepare' first. --traceback shows all."
        )
