"""Positions and probes in notebooks."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

import kalah
from kalah import Position, Tables

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("text", ["6x4", "<6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>", "1x1", "16x9", "0,0/1,2"])
def test_a_board_shows_all_seeds_from_the_movers_side(text: str) -> None:
    position = Position(text)
    svg = ElementTree.fromstring(position._repr_svg_())
    shown = [element.text for element in svg.iter(f"{SVG}text")]
    stores, pits = [position.other_store, position.mover_store], range(1, position.pits + 1)
    assert shown == list(map(str, [*stores, *position.other[::-1], *position.mover, *pits]))
    width, height = float(svg.attrib["width"]), float(svg.attrib["height"])
    for rect in svg.iter(f"{SVG}rect"):
        x, y = float(rect.get("x", 0)), float(rect.get("y", 0))
        assert x + float(rect.attrib["width"]) <= width and y + float(rect.attrib["height"]) <= height


def test_a_probe_shows_the_moves_and_the_line(tables: Tables) -> None:
    probe = tables.probe("<6,7,21,0,2,3,1,0,1,1,1,0,1,1,0>")
    html = ElementTree.fromstring(probe._repr_html_())
    rows = [["".join(cell.itertext()) for cell in row] for row in html.iter("tr")]
    expected = [[str(move), str(score), f"{probe.position.value(score):+}"] for move, score in probe.moves.items()]
    assert rows == [["move", "score", "value"], *expected]
    bold = [int("".join(row[0].itertext())) for row in html.iter("tr") if row[0].find("b") is not None]
    assert bold == probe.best
    assert str(probe.line) in "".join(html.itertext()) and html.find(f"{SVG}svg") is not None
    assert "<table>" not in tables.probe("0,0,0,0,0,0/1,1,1,1,1,1")._repr_html_()
