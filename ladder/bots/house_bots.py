"""The bots of the service itself, which play on every ladder from the first day.

Each folder in `house/` is one bot. A house bot needs no validation: its submission is
ready at once. If a new release changes the files of a house bot, the bot gets a new
submission, like the bot of any other owner.

Bots that use much CPU time join a ladder only with TORRES_COSTLY_HOUSE_BOTS.
"""

from pathlib import Path

from django.conf import settings

import torres
from ladder.bots import submissions
from ladder.bots.models import OPEN, Bot
from ladder.bots.services import HOUSE_PREFIX
from torres.common.names import name_key
from torres.upload import archive

HOUSE_FOLDER = Path(torres.__file__).parent / "house"
COSTLY = frozenset({"planner", "master", "champion"})
"""The house bots of which each uses more CPU time in a game than all cheap ones."""


def ensure_house_bots() -> list[Bot]:
    """Create or update the house bots so that they match this release; idempotent.

    A costly bot that exists already stays as it is while the setting is off.
    """
    folders = [entry.parent for entry in sorted(HOUSE_FOLDER.glob("*/bot.*"))]
    return [
        _ensure(folder)
        for folder in folders
        if settings.TORRES_COSTLY_HOUSE_BOTS or folder.name not in COSTLY
    ]


def _ensure(folder: Path) -> Bot:
    name = f"house:{folder.name}"
    bot, _ = Bot.objects.get_or_create(
        slug=f"{HOUSE_PREFIX}{folder.name}",
        defaults={"name": name, "name_key": name_key(name), "house": True},
    )
    files = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    source = archive.UnpackedUpload(tuple(files), *archive.digest(folder, files))
    submission = submissions.add(bot, folder, source)
    if submission.status in OPEN:
        report = {"summary": "Part of the house.", "steps": []}
        submissions.accept(submission, report, log="")
    return bot
