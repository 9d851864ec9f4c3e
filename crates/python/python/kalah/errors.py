"""The exceptions of this package. All of them are a `kalah.errors.Error`."""


class Error(Exception):
    """The base class of all exceptions of this package."""


class ArgumentError(Error, ValueError):
    """An argument is out of range, or does not match the others."""


class PositionError(Error, ValueError):
    """A text or array is not a position or a line of play, or a position does not fit the board."""


class RulesError(Error, ValueError):
    """A name is not the name of a rule set."""


class IllegalMoveError(Error, ValueError):
    """A move is illegal: there is no such pit, the pit is empty, or the game is over."""


class TableError(Error):
    """A table file cannot be read or written."""


class MissingTableError(TableError, LookupError):
    """The tables do not reach a position, or do not exist. The message states the remedy."""


class DamagedTableError(TableError):
    """A table file is damaged, foreign or unfinished."""


class BuildError(Error):
    """A build cannot begin or continue: disk or memory do not suffice, or another process builds in the directory."""


class SolveError(Error):
    """A position cannot be solved: the board is too large, or known bounds contradict each other."""


class TimeUpError(SolveError, TimeoutError):
    """The time ran out before the result was proved. Proved bounds are kept for the next call."""


class InUseError(Error, RuntimeError):
    """Another thread is using the solver or player."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory, or the system has no more threads."""


def _shown(value: object) -> str:
    """Returns a value for a message. Python converts no number of thousands of digits."""
    try:
        return f"{value!r:.60}"
    except ValueError:
        return "a number of thousands of digits"
