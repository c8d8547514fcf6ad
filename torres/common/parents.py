"""Children that end with their parent, however it ends."""

import shutil
import sys
from functools import cache


@cache
def end_with_parent(number: str = "KILL") -> tuple[str, ...]:
    """Return the start of a command that ends with its parent; empty if impossible.

    The kernel sends the signal when the thread ends that started the command. This
    needs Linux and `setpriv` (util-linux).
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return (setpriv, "--pdeathsig", number, "--") if setpriv else ()
