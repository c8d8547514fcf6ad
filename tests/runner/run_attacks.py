"""Play attack programs at level reduced; print one JSON line for each.

test_reduced.py runs this program as different users. The first argument is the back
end, the others are names of attacks.
"""

import dataclasses
import json
import os
import socket
import sys
import tempfile
from pathlib import Path

from engine.referee import ServiceFault
from tests.runner.factories import HELLO, contest, player
from torres.runner.protocol import Limits
from torres.runner.sandbox.bubblewrap import BubblewrapSandbox
from torres.runner.sandbox.host import Host
from torres.runner.sandbox.landlock import LandlockSandbox

ATTACKS = Path(__file__).parent / "attacks"


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="torres-reduced-"))
    (folder / "secret").write_text("the queue's password")
    os.environ["SECRET_KEY"] = "sesame-whole"
    settings = Host.from_environment()
    backends = {
        "bubblewrap": lambda: BubblewrapSandbox(settings, None),
        "landlock": lambda: LandlockSandbox(settings),
    }
    sandbox = backends[sys.argv[1]]()
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        unix.bind(str(folder / "socket"))
        abstract.bind(f"\0torres-reduced-{os.getpid()}")
        unix.listen()
        abstract.listen()
        host = {
            "HOST_PID": str(os.getpid()),
            "HOST_PORT": str(tcp.getsockname()[1]),
            "HOST_SOCKET": str(folder / "socket"),
            "HOST_ABSTRACT": f"torres-reduced-{os.getpid()}",
            "HOST_SECRET_FILE": str(folder / "secret"),
            "HOST_SECRET_PART": "sesame",
            "HOST_USER_HOME": "/home/somebody",
            "HOST_OTHER_BOT": str(ATTACKS.parent / "programs"),
        }
        opponent = player(ATTACKS.parent / "programs" / "first.py", sandbox)
        opponent.start(dataclasses.replace(HELLO, seat=1))
        for name in sys.argv[2:]:
            bot = player(ATTACKS / f"{name}.py", sandbox, Limits(memory_mb=96), host)
            try:
                game = contest(bot, sandbox, move_ms=2_000, against=opponent)
            except ServiceFault as ours:
                print(json.dumps({"name": name, "ours": str(ours)}), flush=True)
                continue
            report = {
                "name": name,
                "fault": game.fault.reason if game.fault else None,
                "said": game.stderr[-300:],
                "opponent": game.opponent_answers,
            }
            print(json.dumps(report), flush=True)
        opponent.end([0, 1], [2, 1], "completed")
    sandbox.close()


main()
