"""The exceptions of this package. All of them are a `kalah.errors.Error`."""


class Error(Exception):
    """The base class of all exceptions of this package."""


class PositionError(Error, ValueError):
    """A text or array that is not a position or a line of play, or a position that does not fit the tables' board."""


class RulesError(Error, ValueError):
    """A name that is not that of a rule set."""


class IllegalMoveError(Error, ValueError):
    """A move that cannot be played: the pit is empty, or the game is over."""


class TableError(Error):
    """A table file cannot be read or written."""


class MissingTableError(TableError, LookupError):
    """The tables do not reach a position. The message says how to build those that are missing."""


class DamagedTableError(TableError):
    """A table file is damaged, foreign or unfinished."""


class BuildError(Error):
    """A build cannot begin or go on: disk or memory do not suffice, or another process builds in the directory."""


class SolveError(Error):
    """A position cannot be solved: the board is too large, or what is known of it contradicts itself."""


class TimeUpError(SolveError, TimeoutError):
    """The time was up before the result was proved. What was proved is kept for the next call."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory."""
