"""The door of the sandbox: what this machine can hold, and a sandbox of that level."""

from ladder.runner.sandbox.api import (
    LEVELS,
    Box,
    Capabilities,
    Control,
    Exit,
    Level,
    Running,
    Sandbox,
    SandboxUnavailable,
)
from ladder.runner.sandbox.opening import open_sandbox, probe

__all__ = [
    "LEVELS",
    "Box",
    "Capabilities",
    "Control",
    "Exit",
    "Level",
    "Running",
    "Sandbox",
    "SandboxUnavailable",
    "open_sandbox",
    "probe",
]
