"""The sandbox: find out which level this machine reaches, and open a sandbox of it.

README.md in this folder describes the levels. Other packages import from here.
"""

from ladder.runner.sandbox.api import (
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
from ladder.runner.sandbox.opening import open_sandbox, probe

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
