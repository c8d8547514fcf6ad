"""The sandbox: find out which level this machine reaches, and open a sandbox of it.

README.md in this folder describes the levels. Other packages import from here.
"""

import sys

from torres.runner.sandbox.api import (
    LEVELS,
    Control,
    Exit,
    Level,
    Program,
    Running,
    Sandbox,
    SandboxReport,
    SandboxUnavailable,
)

if sys.platform == "linux":
    from torres.runner.sandbox.opening import open_sandbox, probe
else:
    from torres.runner.sandbox.portable import open_sandbox, probe

__all__ = [
    "LEVELS",
    "Control",
    "Exit",
    "Level",
    "Program",
    "Running",
    "Sandbox",
    "SandboxReport",
    "SandboxUnavailable",
    "open_sandbox",
    "probe",
]
