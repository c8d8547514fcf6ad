"""The web application for WSGI servers. `manage.py serve` is the one to use."""

import os

from django.core.wsgi import get_wsgi_application

from ladder.celery import app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")

application = get_wsgi_application()
app.set_default()  # hints for uploads go to the broker of the service
