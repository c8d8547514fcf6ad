"""The door of the sandbox: what this machine can hold, and a sandbox of that level."""

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
