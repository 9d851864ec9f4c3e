"""Names that arguments take, for type checkers and editors. Each is checked when it is used, too."""

from __future__ import annotations

from typing import Literal

from .answers import Rules as RulesName

__all__ = ["Labels", "Part", "PlayerName", "RulesName", "Source"]

PlayerName = Literal["perfect", "heuristic", "greedy", "random"]
"""Names of the players without a number. Others are 'alphabeta:6', 'random:SEED' and so on (docs/players.md)."""

Part = Literal["train", "test"]
"""Parts of the positions of a layer."""

Source = Literal["uniform", "play"]
"""Origins of random positions: all positions of a layer, or random play."""

Labels = Literal["scores", "moves"]
"""Labels of a batch: the scores of the positions, or those of their moves."""
