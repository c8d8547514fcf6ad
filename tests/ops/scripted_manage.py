"""manage.py, but the worker that `up` starts plays with scripted players."""

import runpy

from django.conf import settings

from ladder.ops.chaos import celery  # noqa: F401 -- replaces a step of the worker

runpy.run_path(str(settings.BASE_DIR / "manage.py"), run_name="__main__")
