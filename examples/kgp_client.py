#!/usr/bin/env python3
"""A client of the Kalah Game Protocol, version 1 (docs/engine.md), on the package `kalah`.

    examples/kgp_client.py --host localhost --tables tables --name Ayo"""

import argparse
import contextlib
import json
import os
import re
import socket
import sys
import threading
import time

import kalah
from kalah.errors import ArgumentError, Error, MissingTableError, PositionError

RULES, MAX_LINE, MAX_WAITING = "standard", 16384, 256
TEXT = r'"((?:[^"\\]|\\.)*)"'
quoted = json.JSONEncoder(ensure_ascii=False).encode
COMMAND = re.compile(r"(?:(?=[\d@])(\d{0,18})(?:@(\d{0,18}))?\s+)?([A-Za-z0-9]+)(?:\s+(.*))?")


def shown(text):
    """A text of the server without signs that control a terminal."""
    return "".join(sign if sign.isprintable() else f"\\u{{{ord(sign):x}}}" for sign in text[:200])


class Session:
    def __init__(self, options):
        self.options, self.greeted, self.failure, self.clock, self.absolute = options, False, None, None, False
        self.requests, self.news, self.id = {}, threading.Condition(threading.RLock()), 1
        self.socket = socket.create_connection((options.host, options.port))
        for _ in range(options.searches):
            threading.Thread(target=self.search, daemon=True).start()

    def say(self, to, *words):
        with self.news:
            self.socket.sendall(f"{self.id}{'' if to is None else f'@{to}'} {' '.join(words)}\r\n".encode())
            self.id += 2

    def lines(self):
        """Lines of the server. Those that are too long are skipped."""
        stream, skipping = self.socket.makefile("rb"), False
        while line := stream.readline(MAX_LINE):
            if not skipping and line.endswith(b"\n"):
                yield line.decode(errors="replace").strip()
            skipping = not line.endswith(b"\n")

    def listen(self):
        """Executes commands to the end of the session. Returns the reason if that was no goodbye."""
        for line in filter(None, self.lines()):
            own, to, name, rest = (COMMAND.fullmatch(line) or COMMAND.fullmatch("nonsense")).groups(default="")
            own, to = (int(number) if number else None for number in (own, to))
            words = [word or re.sub(r"\\(.)", r"\1", text) for text, word in re.findall(TEXT + r"|(\S+)", rest)]
            first, second = [*words, "", ""][:2]
            if name == "kgp":
                self.greet(own, words)
            elif name == "ping":
                self.say(own, "pong", *([rest] if re.fullmatch(TEXT, rest) and len(rest) < MAX_LINE - 50 else []))
            elif name == "state" and own is not None:
                self.state(own, first)
            elif name == "stop":
                self.requests.pop(to, None)
            elif (name, first) == ("set", "time:mode"):
                self.clock, self.absolute = None if second == "none" else self.clock, second == "absolute"
            elif (name, first) == ("set", "time:clock"):
                self.clock = float(second) if re.fullmatch(r"\d{1,9}(\.\d*)?", second) else None
            elif name == "goodbye":
                return
            elif name not in ("ok", "pong", "set"):
                print(f"{name} from the server: {shown(line)}", file=sys.stderr)
        return str(self.failure or "the connection was lost")

    def greet(self, own, words):
        if self.greeted:
            return self.say(own, "error", quoted("already greeted"))
        if words[:1] != ["1"]:
            self.say(own, "error", quoted("protocol not supported"))
            self.say(None, "goodbye")
            sys.exit(f"the server speaks version {shown('.'.join(words))}; this client speaks version 1")
        self.greeted = True
        self.say(None, "set", "info:name", quoted(self.options.name))
        if self.options.token:
            self.say(None, "set", "auth:token", quoted(self.options.token))
        self.say(None, "mode", "freeplay")

    def state(self, own, text):
        """Accepts a position. A legal move is sent at once. Half a second of the server's clock is left unused."""
        try:
            position = kalah.Position(text if text.startswith("<") else "")
            first = str(position.moves()[-1])
        except (PositionError, IndexError):
            return self.say(own, "error", quoted(f"'{shown(text)}' is not a position with a move"))
        with self.news:
            if own in self.requests:
                return self.say(own, "error", quoted(f"id {own} is in use by a position that is not answered yet"))
            self.say(own, "move", first)
            if sum(not request.taken for request in self.requests.values()) >= MAX_WAITING:
                self.say(own, "error", quoted(f"{MAX_WAITING} positions are waiting; this one is not searched"))
                return self.say(own, "yield")
            clock = self.options.time if self.clock is None else self.clock / (20 if self.absolute else 1) - 0.5
            end = time.monotonic() + max(0.05, min(clock, self.options.time))
            self.requests[own] = argparse.Namespace(id=own, position=position, end=end, taken=False)
            self.news.notify()

    def search(self):
        """Answers requests, in a thread of its own. A failure ends the session."""
        pits, waiting = None, lambda: next((one for one in self.requests.values() if not one.taken), None)
        try:
            while self.failure is None:
                with self.news:
                    request = self.news.wait_for(waiting)
                    request.taken = True
                if pits != request.position.pits:
                    pits, player, tables = request.position.pits, None, None
                    with contextlib.suppress(ArgumentError, MissingTableError):
                        tables = kalah.Tables.open(self.options.tables, RULES, pits)
                    player = kalah.Player("perfect", RULES, tables=tables)
                self.answer(request, player)
        except (Error, OSError) as error:
            self.failure = error
            self.socket.shutdown(socket.SHUT_RDWR)

    def answer(self, request, player):
        """Sends moves, each after up to twice the time of the last one, until one is final or the time is up."""
        part = 0.1
        while self.requests.get(request.id) is request:
            begin = time.monotonic()
            choice = player.choose(request.position, max(0.01, min(part, request.end - begin)))
            now, part = time.monotonic(), min(2, 2 * part)
            with self.news:
                if self.requests.get(request.id) is request:
                    self.say(request.id, "move", str(choice.move))
                    if choice.value is not None or now >= request.end or now - begin < part / 4:
                        self.say(request.id, "yield")
                        del self.requests[request.id]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default=os.environ.get("KGP_HOST", "localhost"))
    parser.add_argument("--port", type=int, default=os.environ.get("KGP_PORT", "2671"))
    parser.add_argument("--tables", default=os.environ.get("KALAH_TABLES") or "tables", help="directory of the tables")
    parser.add_argument("--name", default="kalah", help="name on the server")
    parser.add_argument("--token", default=os.environ.get("KGP_TOKEN"), help="sign of the same player as last time")
    parser.add_argument("--time", type=float, default=4, help="most seconds for a move [4]")
    parser.add_argument("--searches", type=int, default=os.cpu_count(), help="positions at a time [one per core]")
    sys.exit(Session(parser.parse_args()).listen())
