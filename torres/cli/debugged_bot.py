"""Start a bot when a debugger is attached: `debugged_bot.py PORT ENTRY`.

The process that runs this file becomes the bot, so it is the one that the debugger
stops.
"""

import runpy
import sys
from pathlib import Path


def main() -> None:
    """Wait for the debugger, and run the bot as Python runs a script."""
    import debugpy  # noqa: PLC0415 - only those who debug have it

    port, entry = sys.argv[1:]
    sys.argv = [entry]
    sys.path.insert(0, str(Path(entry).resolve().parent))
    debugpy.listen(("127.0.0.1", int(port)))
    print(f"waiting for a debugger on 127.0.0.1:{port}", file=sys.stderr, flush=True)
    debugpy.wait_for_client()
    runpy.run_path(entry, run_name="__main__")


if __name__ == "__main__":
    main()
