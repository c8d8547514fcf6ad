"""What the engine refuses, each refusal with its evidence."""


class EngineError(Exception):
    """The root of everything that the engine raises on purpose."""


class IllegalAction(EngineError):
    """An action that is no action, or that may not be played now.

    `why` names the rule and its number in the rule book (engine/README.md).
    """

    def __init__(self, action: object, why: str) -> None:
        super().__init__(f"{action}: {why}")
        self.action, self.why = action, why


class BadSwitch(EngineError):
    """A ruleset, a number of seats or a switch that does not exist or may not be so."""
