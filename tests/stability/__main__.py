"""`python -m tests.stability`: record what the surfaces have now, in addition.

It refuses what breaks a promise. To break one all the same, change the line in its file
by hand, in a commit that says why and that has an entry in CHANGELOG.md.
"""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
django.setup()

from tests.stability.surfaces import (  # noqa: E402 - it needs the settings
    RECORDED,
    SURFACES,
    broken,
    present,
    recorded,
)


def main() -> int:
    """Record all surfaces; return 1 if one of them breaks a promise."""
    code = 0
    for name in SURFACES:
        now = present(name)
        breaks = broken(recorded(name), now)
        if breaks:
            print(f"{name}: nothing was recorded, because of these lines:")
            print("\n".join(breaks))
            code = 1
            continue
        (RECORDED / f"{name}.txt").write_text("\n".join(now) + "\n")
        print(f"{name}: {len(now)} lines")
    return code


if __name__ == "__main__":
    sys.exit(main())
