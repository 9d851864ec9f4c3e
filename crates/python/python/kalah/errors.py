"""The exceptions of this package. All of them are a `kalah.errors.Error`."""


class Error(Exception):
    """The base class of all exceptions of this package."""


class ArgumentError(Error, ValueError):
    """An argument that is out of range, or does not fit the others."""


class PositionError(Error, ValueError):
    """A text or array that is not a position or a line of play, or a position that does not fit the board."""


class RulesError(Error, ValueError):
    """A name that is not that of a rule set."""


class IllegalMoveError(Error, ValueError):
    """A move that cannot be played: there is no such pit, the pit is empty, or the game is over."""


class TableError(Error):
    """A table file cannot be read or written."""


class MissingTableError(TableError, LookupError):
    """The tables do not reach a position, or there are none. The message says what to do."""


class DamagedTableError(TableError):
    """A table file is damaged, foreign or unfinished."""


class BuildError(Error):
    """A build cannot begin or go on: disk or memory do not suffice, or another process builds in the directory."""


class SolveError(Error):
    """A position cannot be solved: the board is too large, or what is known of it contradicts itself."""


class TimeUpError(SolveError, TimeoutError):
    """The time was up before the result was proved. What was proved is kept for the next call."""


class InUseError(Error, RuntimeError):
    """Another thread uses the solver or player."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory, or the system has no more threads."""
