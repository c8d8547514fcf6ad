"""The job that writes the dataset of today. It goes on where it was."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from ladder.common.commands import be_nice
from ladder.common.jobs import Job
from ladder.extras.datasets import published


def _is_due() -> bool:
    """True if datasets are wanted and the one of today is not complete."""
    if not settings.TORRES_DATASETS:
        return False
    return timezone.now().date().isoformat() not in published.days()


def _write() -> None:
    """Write all that is public. Raises CommandError if that is not possible here."""
    if not settings.TORRES_DATASETS:
        raise CommandError("Set TORRES_DATASETS to the folder of the datasets.")
    try:
        from ladder.extras.datasets.export import write_dataset  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise CommandError(
            f"{error.name} is not installed. Install the extra dataset:"
            " pip install 'torres-ladder[dataset]'"
        ) from error
    be_nice()
    write_dataset(Path(settings.TORRES_DATASETS), timezone.now().date().isoformat())


DATASET = Job("dataset", _is_due, _write, check_interval_s=60.0)
