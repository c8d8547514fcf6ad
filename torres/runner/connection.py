"""The connection to a bot: by the pipes of Linux, or by portable pipes.

Linux can say whether a bot has read a question, and how many bytes wait in a pipe.
Other systems cannot, so a thread reads each pipe there.
"""

import sys

if sys.platform == "linux":
    from torres.runner.pipes import BotPipes
    from torres.runner.sandbox.proc import wait_for_exit
else:
    from torres.runner.portable_pipes import PortablePipes as BotPipes
    from torres.runner.sandbox.portable import wait_for_exit

__all__ = ["BotPipes", "wait_for_exit"]
