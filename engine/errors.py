"""The errors that the engine raises. Each one says what is wrong."""


class EngineError(Exception):
    """The base class of the engine's errors."""


class IllegalAction(EngineError, ValueError):
    """A string or number that is no action, or an action that is not legal now.

    `why` is a clause with the broken rule and its number in docs/rules.md.
    """

    def __init__(self, action: object, why: str) -> None:
        super().__init__(f"{action}: {why}")
        self.action = action
        self.why = why


class BadSwitch(EngineError):
    """An unknown ruleset or switch, or a number of seats or value not allowed."""


class BadPosition(EngineError):
    """A position that no game can reach. `field` names the wrong part of it."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
