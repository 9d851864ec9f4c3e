"""Copies the docstrings of the compiled module into its type stubs, so that editors show them.

python crates/python/stubs.py [--check]

Run it after installing a build whose documentation changed. With --check nothing is written, and the exit code is 1 if
the stubs differ.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

from kalah import _kalah

STUBS = Path(__file__).parent / "python" / "kalah" / "_kalah.pyi"


Definition = ast.ClassDef | ast.FunctionDef


def documented(source: str) -> str:
    """Returns the stubs in `source` with the docstrings of the module."""
    lines = source.splitlines()
    for node, owner in reversed(definitions(ast.parse(source))):
        if isinstance(node, ast.ClassDef):
            in_class(lines, node, text(owner, node))
        else:
            in_function(lines, node, text(owner, node))
    return "\n".join(lines) + "\n"


def definitions(tree: ast.Module) -> list[tuple[Definition, object]]:
    """Returns the classes and functions in the order of their lines, each with the object that it describes."""
    found: list[tuple[Definition, object]] = []
    for node in tree.body:
        if not isinstance(node, Definition):
            continue
        owner = getattr(_kalah, node.name)
        found.append((node, owner))
        if isinstance(node, ast.ClassDef):
            members = [member for member in node.body if isinstance(member, ast.FunctionDef)]
            # Python itself documents special methods.
            found += [(member, getattr(owner, member.name)) for member in members if member.name[0] != "_"]
    return found


def text(owner: object, node: Definition) -> list[str]:
    """Returns the lines of the docstring of a definition."""
    lines = (inspect.getdoc(owner) or "").replace("\\", "\\\\").splitlines()
    if not lines:
        return []
    quotes = 3 * '"'
    quoted = [quotes + lines[0], *lines[1:]]
    quoted = [quoted[0] + quotes] if len(lines) == 1 else [*quoted, quotes]
    return [(" " * (node.col_offset + 4) + line).rstrip() for line in quoted]


def docstring(node: Definition) -> ast.expr | None:
    """Returns the docstring that a definition has."""
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first.value
    return None


def in_class(lines: list[str], node: ast.ClassDef, shown: list[str]) -> None:
    """Puts the lines `shown` below the header of a class, which is one line."""
    old = docstring(node)
    end = node.lineno if old is None else old.end_lineno
    lines[node.lineno : end] = shown


def in_function(lines: list[str], node: ast.FunctionDef, shown: list[str]) -> None:
    """Makes the lines `shown` the body of a function, or `...` without lines."""
    old = docstring(node)
    # Without a docstring, the body is `...` on the last line of the header.
    header, end = (node.end_lineno, node.end_lineno) if old is None else (old.lineno - 1, old.end_lineno)
    assert header is not None
    lines[header:end] = shown
    lines[header - 1] = lines[header - 1].removesuffix(" ...") + ("" if shown else " ...")


def main() -> None:
    source = STUBS.read_text(encoding="utf-8")
    found = documented(source)
    if "--check" in sys.argv:
        sys.exit(found != source)
    STUBS.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
