#!/usr/bin/env python3
"""Draws the pictures of docs/tables.md: layer.svg and frames.svg, beside this file.

    python3 docs/pictures/draw.py           writes them
    python3 docs/pictures/draw.py --check   fails if they are not what it would write

The pictures are computed from the definitions in docs/indexing.md.
"""

import itertools
import pathlib
import sys

PITS, SEEDS = 3, 6
LEVEL_COLOURS = ["#eff3ff", "#bdd7e7"]
PAIR_COLOURS = ["#c7e9c0", "#fdd0a2", "#dadaeb"]
INK, MARK, ARROW = "#222222", "#d94801", "#a63603"
GREY = "#666666"
FONT = 'font-family="sans-serif"'


def potential(row):
    return sum(seeds * (len(row) - 1 - pit) for pit, seeds in enumerate(row))


def rows(seeds):
    """All rows with this number of seeds, by rank."""
    every = (row for row in itertools.product(range(seeds + 1), repeat=PITS) if sum(row) == seeds)
    return sorted(every, key=lambda row: (potential(row), row))


def text(x, y, what, size=13, anchor="middle", colour=INK):
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" {FONT}>{what}</text>'


def rectangle(x, y, width, height, fill, stroke=INK, line=1):
    return (f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}" stroke="{stroke}" '
            f'stroke-width="{line}"/>')


def document(width, height, title, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img">\n<title>{title}</title>\n'
            f'<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0 0 10 5 0 10z" fill="{ARROW}"/></marker></defs>')
    return "\n".join([head, rectangle(0, 0, width, height, "#ffffff", "none"), *parts, "</svg>\n"])


def layer():
    """The frames of a layer, each as wide as the mover has rows and as high as the other player has."""
    unit, gap, left, top = 6, 40, 30, 62
    height = top + unit * len(rows(SEEDS - 1)) + 66
    parts, x, total = [], left, 0
    for mover in range(1, SEEDS):
        other = SEEDS - mover
        width, depth = len(rows(mover)), len(rows(other))
        shown = max(unit * width, 44)
        centre = x + shown / 2
        y = height - 58 - unit * depth
        colour = PAIR_COLOURS[min(mover, other) - 1]
        parts.append(rectangle(centre - unit * width / 2, y, unit * width, unit * depth, colour))
        parts.append(text(centre, y - 8, f"{width} x {depth}", 12))
        parts.append(text(centre, height - 38, f"{mover} | {other}", 14))
        parts.append(text(centre, height - 20, f"from {total}", 11, colour=GREY))
        x += shown + gap
        total += width * depth
    width = x - gap + left
    parts.insert(0, text(width / 2, 24, f"The layer of {SEEDS} seeds with {PITS} pits a side: {total} positions in "
                                       f"{SEEDS - 1} frames", 15))
    parts.insert(1, text(width / 2, 42, "frames of one colour are mirror images, computed together", 12, colour=GREY))
    return document(width, height, "The frames of a layer", parts)


class Matrix:
    """A frame as a matrix: a column for each row of the mover, a line for each of the other player's."""

    def __init__(self, x, y, cell, mover, other, by_mover):
        self.x, self.y, self.cell = x, y, cell
        self.movers, self.others = rows(mover), rows(other)
        # Levels of this side's row are marked.
        self.levels = [potential(row) for row in (self.movers if by_mover else self.others)]
        self.by_mover = by_mover

    def corner(self, mover, other):
        return self.x + self.cell * self.movers.index(mover), self.y + self.cell * self.others.index(other)

    def parts(self):
        width, depth = self.cell * len(self.movers), self.cell * len(self.others)
        parts = []
        for level in sorted(set(self.levels)):
            first, count = self.levels.index(level), self.levels.count(level)
            at, size = self.cell * first, self.cell * count
            colour = LEVEL_COLOURS[level % 2]
            if self.by_mover:
                parts.append(rectangle(self.x + at, self.y, size, depth, colour, "none"))
                parts.append(text(self.x + at + size / 2, self.y - 6, level, 11))
            else:
                parts.append(rectangle(self.x, self.y + at, width, size, colour, "none"))
                parts.append(text(self.x - 6, self.y + at + size / 2 + 4, level, 11, "end"))
        for line in range(len(self.movers) + 1):
            parts.append(f'<path d="M{self.x + self.cell * line} {self.y}v{depth}" stroke="#9ecae1"/>')
        for line in range(len(self.others) + 1):
            parts.append(f'<path d="M{self.x} {self.y + self.cell * line}h{width}" stroke="#9ecae1"/>')
        return [*parts, rectangle(self.x, self.y, width, depth, "none")]


def frames():
    """A pair of frames with their levels, and a quiet move from one to the other."""
    mover, other = (1, 1, 2), (1, 1, 0)
    # The seed of the first pit goes to the second, which has one: nothing is stored or captured.
    after = (0, 2, 2)
    cell, top = 26, 96
    first = Matrix(130, top, cell, 4, 2, by_mover=True)
    second = Matrix(first.x + cell * len(first.movers) + 170, top, cell, 2, 4, by_mover=False)
    height = top + cell * len(second.others) + 30
    width = second.x + cell * len(second.movers) + 110
    parts = [text(width / 2, 24, "A pair of frames, its levels, and a quiet move", 15),
             text(first.x + cell * 7.5, 52, "frame 4 | 2", 14),
             text(first.x + cell * 7.5, 70, "mover's rows by rank, with the potential of their level", 12, colour=GREY),
             text(second.x + cell * 3, 52, "frame 2 | 4", 14),
             text(second.x + cell * 3, 70, "the other side to move", 12, colour=GREY),
             *first.parts(), *second.parts()]
    for rank, row in enumerate(first.others):
        parts.append(text(first.x - 8, first.y + cell * rank + 17, " ".join(map(str, row)), 12, "end"))
    for rank, row in enumerate(second.others):
        parts.append(text(second.x + cell * 6 + 8, second.y + cell * rank + 17, " ".join(map(str, row)), 12, "start"))
    index = first.others.index(other) * len(first.movers) + first.movers.index(mover)
    (x, y), (to_x, to_y) = first.corner(mover, other), second.corner(other, after)
    for corner in ((x, y), (to_x, to_y)):
        parts.append(rectangle(*corner, cell, cell, MARK))
    below = first.y + cell * len(first.others)
    parts += [
        f'<path d="M{x + cell} {y + cell / 2}C{x + 260} {y + 60} {to_x - 200} {to_y} {to_x} {to_y + cell / 2}" '
        f'fill="none" stroke="{ARROW}" stroke-width="2" marker-end="url(#head)"/>',
        text(first.x, below + 28, "mover 1 1 2, other 1 1 0: level 3, index "
             f"{first.others.index(other)} x {len(first.movers)} + {first.movers.index(mover)} = {index}",
             13, "start", ARROW),
        text(first.x, below + 48, "a move of the first pit: the mover's row becomes 0 2 2, of level 2,",
             13, "start", ARROW),
        text(first.x, below + 66, "and the other side is to move in the mirrored frame", 13, "start", ARROW),
        text(first.x, below + 104, "A step computes one level of one side's row against all rows of the other:",
             13, "start"),
        text(first.x, below + 122, "a band of columns of 4 | 2, then the same band of lines of 2 | 4.", 13, "start"),
    ]
    return document(width, height, "A pair of frames with their levels", parts)


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    for name, picture in (("layer.svg", layer()), ("frames.svg", frames())):
        path = pathlib.Path(__file__).parent / name
        if not check:
            path.write_text(picture, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != picture:
            sys.exit(f"{path} is not what {sys.argv[0]} draws: run it without --check")


if __name__ == "__main__":
    main()
