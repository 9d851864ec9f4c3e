"""Kalah as an environment of PettingZoo. Needs the package `pettingzoo`.

    from kalah.pettingzoo import kalah_v0

    env = kalah_v0.env("6x4", "standard")
"""

from __future__ import annotations

from . import kalah_v0

__all__ = ["kalah_v0"]
