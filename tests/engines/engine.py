"""A tiny engine that speaks the protocol of docs/engine.md, with Python's standard library alone.

    python3 engine.py [random|greedy|FAULT]
    python3 engine.py pid KIND FILE

`random` plays any move. `greedy` plays a move that ends in the store, or else the pit with the most seeds. Each FAULT
misbehaves in one way: tests check that this loses the game and leaves no process.
"""

import os
import random
import subprocess
import sys
import time


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def note_pid(pid):
    if len(sys.argv) > 3:
        with open(sys.argv[3], "a") as file:
            file.write("%d\n" % pid)


def read_position(text):
    """Returns the mover's row and the other row of `<m,S,N,s1,..,sm,n1,..,nm>`."""
    numbers = [int(number) for number in text.strip("<>").split(",")]
    pits = numbers[0]
    return numbers[3 : 3 + pits], numbers[3 + pits : 3 + 2 * pits]


def choose(kind, mover):
    moves = [pit for pit, seeds in enumerate(mover, 1) if seeds > 0]
    if kind != "greedy":
        return random.choice(moves)
    stored = [pit for pit in moves if mover[pit - 1] == len(mover) + 1 - pit]
    return stored[-1] if stored else max(moves, key=lambda pit: (mover[pit - 1], pit))


def misbehave(kind, mover):
    """Misbehaves as `kind` in place of an answer. Returns true if `kind` is such a fault."""
    empty = [pit for pit, seeds in enumerate(mover, 1) if seeds == 0]
    if kind == "silent":
        pass
    elif kind == "exit":
        sys.exit(7)
    elif kind == "crash":
        os.abort()
    elif kind == "traceback":
        1 / 0
    elif kind == "garbage":
        while True:
            say("".join(chr(random.randrange(32, 300)) for _ in range(200)))
    elif kind == "long-line":
        while True:
            sys.stdout.write("x" * 65536)
    elif kind == "no-pit":
        say("bestmove \x1b[2Jten")
    elif kind == "illegal":
        say("bestmove %d" % (empty[0] if empty else len(mover) + 1))
    elif kind == "error":
        say("error I do not feel well")
    elif kind == "children":
        # A child process that keeps the pipes open.
        note_pid(subprocess.Popen(["sleep", "1000"]).pid)
    elif kind == "deaf-to-quit":
        import signal
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(1)
    else:
        return False
    return True


def main():
    kind = sys.argv[1] if len(sys.argv) > 1 else "random"
    if kind == "pid":
        # Behaves as KIND, and lists its processes in FILE.
        note_pid(os.getpid())
        kind = sys.argv[2]
    random.seed(1)
    if kind == "mute":
        time.sleep(1000)
    if kind == "exit-at-once":
        sys.exit(3)
    mover = []
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "kalah":
            say("id name tiny " + kind)
            say("rules s-kalaha" if kind == "other-rules" else "rules standard empty-capture chess")
            say("kalahok 2" if kind == "newer" else "kalahok 1")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "position":
            mover, _ = read_position(words[1])
        elif words[0] == "go":
            if misbehave(kind, mover):
                continue
            if kind == "slow":
                # Answers only after `stop`.
                continue
            pit = choose(kind, mover)
            say("this line means nothing")
            say("info depth 1 nodes 1 move %d evaluation %d" % (pit, mover[pit - 1]))
            say("bestmove %d" % pit)
        elif words[0] == "stop" and kind == "slow":
            say("bestmove %d" % choose(kind, mover))
        elif words[0] == "quit":
            break


main()
