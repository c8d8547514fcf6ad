"""The files in `.vscode` of a kit: tasks, and what F5 starts.

Uploads leave out folders whose names begin with a dot. The files are JSON without
comments, so editors other than VS Code and programs can read them, too.
"""

import json
from pathlib import Path

from torres.common.json_object import JsonObject

FOLDER = ".vscode"
RECORDED = f"{FOLDER}/game.json"
"""The game that the tasks record and ask from."""
_PORT = 5678
_DEBUGGED = "torres: ask with a debugger"
_INPUTS = [
    {
        "id": "replay",
        "type": "promptString",
        "description": "The replay of a game",
        "default": RECORDED,
    },
    {
        "id": "ply",
        "type": "promptString",
        "description": "The number of the action to ask for",
        "default": "40",
    },
]
_ASK = ("ask", ".", "${input:replay}", "--ply", "${input:ply}")


def write_editor_files(folder: Path, *, python: bool) -> None:
    """Write the tasks and launch configurations of a kit into its folder `.vscode`."""
    target = folder / FOLDER
    target.mkdir()
    for name, document in (
        ("tasks.json", _tasks(python=python)),
        ("launch.json", _launches(python=python)),
    ):
        (target / name).write_text(json.dumps(document, indent=2) + "\n", "utf-8")


def _tasks(*, python: bool) -> JsonObject:
    play = ("play", ".", "house:greedy")
    record = ("play", "house:random", "house:greedy", "--seed", "1")
    tasks = [
        _task("torres: check", "check", ".") | {"group": "test"},
        _task("torres: play against house:greedy", *play)
        | {"group": {"kind": "build", "isDefault": True}},
        _task("torres: record a game", *record, "--replay", RECORDED),
        _task("torres: ask", *_ASK),
    ]
    if python:
        tasks.append(_debugged_task())
    return {"version": "2.0.0", "tasks": tasks, "inputs": _INPUTS}


def _task(label: str, *words: str) -> JsonObject:
    return {
        "label": label,
        "type": "process",
        "command": "torres",
        "args": list(words),
        "problemMatcher": [],
    }


def _debugged_task() -> JsonObject:
    """Return the task that is ready when the bot waits for the debugger."""
    matcher = {
        "pattern": {"regexp": "^(never)(matches)$", "file": 1, "message": 2},
        "background": {
            "activeOnStart": True,
            "beginsPattern": "^torres ask begins$",
            "endsPattern": "waiting for a debugger",
        },
    }
    return _task(_DEBUGGED, *_ASK, "--debug", str(_PORT)) | {
        "isBackground": True,
        "dependsOn": "torres: record a game",
        "problemMatcher": [matcher],
    }


def _launches(*, python: bool) -> JsonObject:
    launches: list[JsonObject] = [
        {
            "name": "Play against house:greedy",
            "type": "node-terminal",
            "request": "launch",
            "command": "torres play . house:greedy",
        }
    ]
    if python:
        debugged = {
            "name": "Debug one decision of the bot",
            "type": "debugpy",
            "request": "attach",
            "connect": {"host": "127.0.0.1", "port": _PORT},
            "justMyCode": True,
            "preLaunchTask": _DEBUGGED,
        }
        launches.insert(0, debugged)
    return {"version": "0.2.0", "configurations": launches}
