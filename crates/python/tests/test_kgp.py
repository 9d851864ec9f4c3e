"""The client of the Kalah Game Protocol in `examples`, against servers written from the protocol alone."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import kalah
from kalah import Position, Tables

CLIENT = Path(__file__).parents[3] / "examples" / "kgp_client.py"
MAX_LINE = 16384

SHORT = "<3,0,0,1,0,3,3,3,3>"
LONG = "<6,0,0,6,6,6,6,6,6,6,6,6,6,6,7>"
"""A position that is not in the book and takes longer than minutes to search."""

NASTY = "\x1b[2J\x1b]0;title\x07\x9b31m\u202etxet\u2066\u2028\x85\x08\x7f"
"""Text that controls a terminal or is invisible."""


class Said(NamedTuple):
    """A line of the client."""

    to: int | None
    name: str
    rest: str


class Server:
    """The server's end of a connection, and the client process behind it."""

    def __init__(self, tables: Path, *flags: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(60)
            # The environment variables of tournaments hold the server's address.
            address = {"KGP_HOST": "127.0.0.1", "KGP_PORT": str(listener.getsockname()[1])}
            self.client = subprocess.Popen(
                [sys.executable, str(CLIENT), "--tables", str(tables), *flags],
                env={**os.environ, **address},
                stderr=subprocess.PIPE,
                text=True,
            )
            self.socket, _ = listener.accept()
        self.socket.settimeout(60)
        self.lines = self.socket.makefile("rb")
        self.last = -1

    def say(self, *lines: str) -> None:
        self.socket.sendall("".join(f"{line}\r\n" for line in lines).encode())

    def hear(self) -> Said:
        """Reads the next line. It ends as the protocol requires, and has the next odd id."""
        line = self.lines.readline()
        assert line.endswith(b"\r\n") and len(line) <= MAX_LINE, line
        match = re.fullmatch(r"(\d+)(?:@(\d+))? ([a-z]+)(?: (.*))?\r\n", line.decode())
        assert match, line
        assert int(match[1]) == self.last + 2, line
        self.last += 2
        return Said(int(match[2]) if match[2] else None, match[3], match[4] or "")

    def greet(self) -> dict[str, str]:
        """Greets the client, and reads from it until it requests its mode."""
        self.say("2 kgp 1 0 1")
        options = {}
        while (said := self.hear()).name == "set":
            option, text = said.rest.split(" ", 1)
            options[option] = text
        assert said == (None, "mode", "freeplay")
        self.say("@1 ok")
        return options

    def moves(self, state: int) -> list[int]:
        """Reads the moves for a state until the client yields."""
        moves = []
        while (said := self.hear()).name == "move":
            assert said.to == state, said
            moves.append(int(said.rest))
        assert said == (state, "yield", ""), said
        return moves

    def rest(self) -> Iterator[Said]:
        """Reads all further lines of the client."""
        while self.lines.peek(1):
            yield self.hear()

    def end(self) -> tuple[int, str]:
        """Waits for the end of the client. Returns its exit code and its messages."""
        _, messages = self.client.communicate(timeout=60)
        return self.client.returncode, messages


Start = Callable[..., Server]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of 3 pits a side with up to 18 seeds."""
    directory = tmp_path_factory.mktemp("small")
    kalah.build(directory, 18, "standard", 3)
    return directory


@pytest.fixture
def start(small: Path) -> Iterator[Start]:
    """Starts clients, which end with the test."""
    servers = []

    def begin(*flags: str, tables: Path = small) -> Server:
        servers.append(Server(tables, *flags))
        return servers[-1]

    yield begin
    for server in servers:
        server.client.kill()
        server.client.communicate()


def test_the_client_introduces_itself_and_answers_pings(start: Start) -> None:
    server = start("--name", 'a "b" ü', "--token", "secret")
    assert server.greet() == {"info:name": '"a \\"b\\" ü"', "auth:token": '"secret"'}
    server.say('4 ping "still \\"there\\""', "6 ping", '8 kgp 1 0 1"')
    assert server.hear() == (4, "pong", '"still \\"there\\""')
    assert server.hear() == (6, "pong", "")
    assert server.hear() == (8, "error", '"already greeted"')
    server.say("goodbye")
    assert server.end() == (0, "")


def test_a_whole_game_is_played_perfectly(start: Start, small: Path) -> None:
    server, tables, rng, state = start(), Tables.open(small, "standard", 3), random.Random(7), 4
    server.greet()
    for _ in range(20):
        position, client = Position("3x3"), True
        value = tables.value(position)
        while not position.is_over:
            move = rng.choice(position.moves())
            if client:
                server.say(f"{state} state {position}")
                move, state = server.moves(state)[-1], state + 2
            position, again = position.play(move, "standard")
            client = client == again
            now = position.final_value if position.is_over else tables.value(position)
            assert now is not None
            now *= 1 if client else -1
            assert now >= value, "a move lost seeds"
            value = now


def test_a_flipped_bit_in_a_table_ends_the_client(start: Start, small: Path, tmp_path: Path) -> None:
    for seeds in range(2, 7):
        shutil.copy(small / f"standard-3-{seeds:02}.kalah", tmp_path)
    damaged = tmp_path / "standard-3-06.kalah"
    data = bytearray(damaged.read_bytes())
    # The first entry of the directory has the offset of its frame.
    data[int.from_bytes(data[128 + 72 * 2 : 128 + 72 * 2 + 8], "little")] ^= 1
    damaged.write_bytes(data)
    # Positions of the layer itself, and above the tables.
    for board in ["3x1", "3x2"]:
        server = start(tables=tmp_path)
        server.greet()
        server.say(f"4 state {Position(board)}")
        code, messages = server.end()
        assert code == 1 and damaged.name in messages


def test_boards_of_all_sizes_get_legal_moves_in_time(start: Start) -> None:
    server = start("--time", "0.5")
    server.greet()
    for index, board in enumerate(["6x6", "8x8", "10x10", "12x12", "1x3", "16x9"]):
        position, begin = Position(board), time.monotonic()
        server.say(f"{2 * index + 4} state {position}")
        assert set(server.moves(2 * index + 4)) <= set(position.moves())
        # Twenty times the limit. A client without a limit would take hours.
        assert time.monotonic() - begin < 10, board


def test_several_states_are_distinguished_and_a_stop_ends_one(start: Start) -> None:
    server = start("--time", "600", "--searches", "2")
    server.greet()
    # Two searches that take ten minutes, and one that waits for them. Then one of the two is stopped.
    server.say(f"4 state {LONG}", f"6 state {LONG}", "8 state <3,0,0,0,0,1,1,0,1>")
    seen: set[int | None] = set()
    while len(seen) < 3:
        said = server.hear()
        assert said.name == "move"
        seen.add(said.to)
    server.say("10@4 stop")
    while (said := server.hear()).name != "yield":
        pass
    assert said.to == 8, "only the small search finishes"
    # The stopped search writes no more. Stopping it twice, or stopping one that does not exist, does no harm.
    server.say("@4 stop", "@77 stop", "12 ping")
    while (said := server.hear()).name != "pong":
        assert said.to == 6, said


def test_an_id_in_use_is_refused(start: Start) -> None:
    server = start("--time", "600", "--searches", "1")
    server.greet()
    server.say(f"4 state {LONG}", f"4 state {SHORT}")
    while (said := server.hear()).name == "move":
        assert said.to == 4
    assert said.name == "error" and "id 4" in said.rest
    server.say("6@4 stop", f"8 state {SHORT}")
    while (said := server.hear()).name != "yield":
        pass
    assert said.to == 8


def test_what_servers_do_wrong_does_no_harm(start: Start) -> None:
    server = start("--time", "1")
    server.greet()
    nonsense = ["", "   ", "nonsense", "mo-ve 3", "12", "@", "4 unknown 1 2 3", "@1 ok", 'set "open', "set", "6 stop"]
    clocks = ["set time:mode relative", "set time:clock x", "set time:clock 1e999", "set time:clock -1"]
    server.say(*nonsense, *clocks, 'error "No state associated with id"', 'set game:id "7"', "\ufffd\U0001f600")
    # A state without an id is ignored; so are lines that are too long, and ids of more than 18 digits.
    server.say(f"state {SHORT}", "x" * 2 * MAX_LINE, f"99999999999999999999 state {SHORT}")
    for number, board in [(8, "<3,0,0,1>"), (10, "<3,0,0,0,0,0,1,1,1>"), (12, "3x3"), (14, "")]:
        server.say(f"{number} state {board}")
        said = server.hear()
        assert (said.to, said.name) == (number, "error"), said
    # Two lines at once, a line in parts, and a line that ends without a carriage return.
    server.socket.sendall(b"16 ping\r\n18 pi")
    time.sleep(0.3)
    server.socket.sendall(b"ng\n")
    assert [server.hear().to, server.hear().to] == [16, 18]
    server.say(f"20 state {SHORT}")
    assert server.moves(20)


def test_a_clock_of_the_server_limits_the_time(start: Start) -> None:
    server = start("--time", "600", "--searches", "1")
    server.greet()
    for state, options in enumerate(
        [["set time:mode relative", "set time:clock 1"], ["set time:mode absolute", "set time:clock 20"]]
    ):
        server.say(*options, f"{2 * state + 4} state {LONG}")
        begin = time.monotonic()
        server.moves(2 * state + 4)
        assert 0.3 < time.monotonic() - begin < 20


def test_another_version_is_refused(start: Start) -> None:
    server = start()
    server.say("2 kgp 2 0 0")
    assert server.hear() == (2, "error", '"protocol not supported"')
    assert server.hear().name == "goodbye"
    code, messages = server.end()
    assert code == 1 and "this client speaks version 1" in messages


def test_messages_of_the_server_do_nothing_to_the_terminal(start: Start) -> None:
    server = start()
    server.say(f'2 kgp 1 "{NASTY}" 1', f'4 error "{NASTY}"', f'error "{"long " * 3000}"', f"6 {NASTY}")
    server.say(f"8 unknown {NASTY}", f"state <{NASTY}>", "goodbye")
    code, messages = server.end()
    assert code == 0 and "\\u{1b}[2J" in messages and "\\u{202e}" in messages
    lines = messages.splitlines()
    assert all(line.isprintable() and len(line) < 3000 for line in lines) and "\n".join([*lines, ""]) == messages


def test_thousands_of_states_are_answered_and_few_of_them_held(start: Start) -> None:
    count = 2000
    server = start("--time", "600", "--searches", "2")
    server.greet()
    heard: list[Said] = []
    thread = threading.Thread(target=lambda: heard.extend(server.rest()))
    thread.start()
    server.say(*(f"{2 * state + 4} state {LONG}" for state in range(count)))
    server.say(*(f"@{2 * state + 4} stop" for state in range(count)))
    # The client goes on as usual.
    server.say(f"4000000 state {SHORT}", "4000002 ping")
    end = time.monotonic() + 60
    while (4_000_000, "yield", "") not in heard and time.monotonic() < end:
        time.sleep(0.1)
    server.say("goodbye")
    assert server.end()[0] == 0
    thread.join()
    assert {said.to for said in heard if said.name == "move"} == {*range(4, 2 * count + 4, 2), 4_000_000}
    refused = {said.to for said in heard if said.name == "error"}
    assert count - 300 <= len(refused) < count
    # The server does not wait for a refused search.
    assert refused | {4_000_000} <= {said.to for said in heard if said.name == "yield"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupt_ends_a_client_whose_server_does_not_read(start: Start) -> None:
    server = start()
    server.greet()
    line = f'4 ping "{"x" * 16_000}"\r\n'.encode()
    server.socket.settimeout(2)
    # Lines are sent until the client takes no more.
    with pytest.raises(TimeoutError):
        while True:
            server.socket.sendall(line)
    server.client.send_signal(signal.SIGINT)
    code, _ = server.end()
    assert code in (-signal.SIGINT, 130)


def test_a_lost_connection_ends_the_client(start: Start) -> None:
    server = start()
    server.greet()
    server.socket.shutdown(socket.SHUT_RDWR)
    assert server.end() == (1, "the connection was lost\n")
