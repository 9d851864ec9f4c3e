"""Tables in a file system of fsspec. The compiled module reads files through `Directory`."""

from __future__ import annotations

from typing import Any


class Directory:
    """A directory in a file system."""

    def __init__(self, filesystem: Any, directory: str) -> None:
        for method in ("cat_file", "info", "ls", "unstrip_protocol"):
            if not hasattr(filesystem, method):
                raise TypeError(f"filesystem must be one of fsspec, not {type(filesystem)}")
        self.filesystem = filesystem
        # Lone surrogates cannot be part of an address.
        self.directory = directory.encode(errors="replace").decode().rstrip("/")
        self.address = str(filesystem.unstrip_protocol(self.directory))
        """The address of the directory."""
        self.identity = f"{self.address} {_options(filesystem)}"
        """Address and options. Two archives, or two servers, can have the same paths."""
        self._sizes: dict[str, int] = {}

    def names(self) -> list[str]:
        """Returns the names of the files."""
        try:
            entries = self.filesystem.ls(self.directory, detail=True)
        except FileNotFoundError:
            return []
        names = []
        for entry in entries:
            names.append(entry["name"].rsplit("/", 1)[-1])
            # The list may lack sizes, as that of a web server does.
            if isinstance(entry.get("size"), int):
                self._sizes[names[-1]] = entry["size"]
        return names

    def read(self, name: str, start: int, end: int, fresh: bool) -> tuple[bytes, int]:
        """Returns some bytes of a file, and the size of the file, which is asked for again if it must be `fresh`."""
        path = f"{self.directory}/{name}"
        if fresh or name not in self._sizes:
            self._sizes[name] = self.filesystem.info(path)["size"]
        size = self._sizes[name]
        return bytes(self.filesystem.cat_file(path, start=min(start, size), end=min(end, size))), size


def _options(filesystem: Any) -> str:
    """Returns the options of a file system; nothing if they are no JSON."""
    try:
        return str(filesystem.to_json())
    except Exception:
        return ""
