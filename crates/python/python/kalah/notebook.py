"""Pictures of positions and probes for notebooks: SVG and HTML without scripts, styles or fonts of their own."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._kalah import Position
    from .results import Probe

_PIT = 48
"""Width and height of a pit with its margin."""

_STORE = 56
"""Width of a store with its margin."""

_NUMBERS = 16
"""Height of the numbers of the mover's pits."""


def board(position: Position) -> str:
    """Returns the board as SVG. The mover is South: the lower row from left to right, and the right store."""
    width, height = position.pits * _PIT + 2 * _STORE, 2 * _PIT + 8

    def hole(x: int, y: int, size: tuple[int, int], seeds: int) -> str:
        text, colour = f'x="{x + size[0] // 2}" y="{y + size[1] // 2 + 6}"', "#000" if seeds else "#b08d5b"
        return (
            f'<rect x="{x}" y="{y}" width="{size[0]}" height="{size[1]}" rx="{size[0] // 2}" fill="#f5e6cc"/>'
            f'<text {text} font-size="18" fill="{colour}">{seeds}</text>'
        )

    def column(index: int) -> int:
        return _STORE + index * _PIT + 4

    store, pit = (_STORE - 16, height - 16), (_PIT - 8, _PIT - 8)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height + _NUMBERS}" '
        f'font-family="sans-serif" text-anchor="middle"><title>{html.escape(str(position))}</title>'
        f'<rect width="{width}" height="{height}" rx="16" fill="#deb887"/>',
        hole(8, 8, store, position.other_store),
        hole(width - _STORE + 8, 8, store, position.mover_store),
        *(hole(column(index), 8, pit, seeds) for index, seeds in enumerate(reversed(position.other))),
        *(hole(column(index), _PIT + 8, pit, seeds) for index, seeds in enumerate(position.mover)),
    ]
    for index in range(position.pits):
        text = f'x="{column(index) + pit[0] // 2}" y="{height + _NUMBERS - 4}" font-size="11" fill="#888"'
        parts.append(f"<text {text}>{index + 1}</text>")
    return "".join([*parts, "</svg>"])


def probe(probe: Probe) -> str:
    """Returns the board, the moves with their scores and values, and a line of best play, as HTML."""
    shown = f"<div>{board(probe.position)}<p>value <b>{probe.value:+}</b></p>"
    if probe.moves:
        shown += "<table><tr><th>move</th><th>score</th><th>value</th></tr>"
        for move, score in probe.moves.items():
            cell = "<td><b>{}</b></td>" if move in probe.best else "<td>{}</td>"
            cells = [move, score, f"{probe.position.value(score):+}"]
            shown += f"<tr>{''.join(map(cell.format, cells))}</tr>"
        shown += f"</table><p>line of best play: <code>{probe.line}</code></p>"
    return shown + "</div>"
