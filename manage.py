#!/usr/bin/env python3
"""Run Django's management commands for the ladder."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import Error

from ladder.common.logs import log

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit("Stopped.")
    except ImproperlyConfigured as error:
        if "--traceback" in sys.argv:
            raise
        sys.exit(f"The settings are not valid: {error}")
    except Error as error:
        if "--traceback" in sys.argv:
            raise
        first_line = str(error).strip().partition("\n")[0]
        sys.exit(
            f"The database reports an error: {first_line}\n"
            "Check DATABASE_URL, and that the server runs. After an update, run"
            " 'manage.py prepare' first. --traceback shows all details."
        )
    except Exception:
        if "--traceback" in sys.argv:
            raise
        log.critical("a command failed", command=sys.argv[1:2], exc_info=True)
        sys.exit("The command failed. The line above has the details, for a report.")
