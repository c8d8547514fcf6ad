"""A real worker answers `celery inspect`, as operators of Celery expect."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from tests.soak.factories import fleet

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_servers")]
WAIT_S = 120
CELERY = Path(sys.executable).with_name("celery")


@pytest.mark.deep
def test_a_worker_answers_and_names_its_queues() -> None:
    def inspect(question: str) -> str:
        words = [CELERY, "-A", "ladder.celery", "inspect", question]
        done = subprocess.run(
            words,
            cwd=settings.BASE_DIR,
            env=service.environ(),
            capture_output=True,
            text=True,
            check=False,  # it fails as long as no worker answers
        )
        return done.stdout

    with fleet(lease_s=30) as service:
        service.open([()])
        service.until(lambda: "pong" in inspect("ping"), WAIT_S)
        names = [f"'{name}'" for name in settings.CELERY_TASK_QUEUES]

        def are_named() -> bool:
            answer = inspect("active_queues")
            return all(name in answer for name in names)

        service.until(are_named, WAIT_S)
