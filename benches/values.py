#!/usr/bin/env python3
"""Proves the value of every board of docs/values.csv, and checks each certificate.

    benches/values.py --tables DIR [--output docs/values.csv] [--proofs DIR] [--within SECONDS]
                      [--rules R]... [--pits M]...

For each board and rule set: `kalah build` makes the tables for the proof, `kalah prove` proves the
value with one thread, `kalah check` checks every claim of the certificate, and a row is added to the
output. Boards with a row are skipped, so a stopped run can be resumed. A board that takes longer
than --within (3600) gets no row. Such boards are listed at the end, and the exit code is 1. With one
thread, a proof and its digest are the same every time with the same version of the program.

Columns:
- tables: seeds of the largest table that the proof uses
- nodes, seconds: of the search; seconds include extracting claims
- effort, claims, bytes, digest: of the certificate
- check_nodes, check_seconds: of the check, with one thread

If a board has no more seeds than its tables, its value comes from them, and its certificate has no
claims.

--proofs keeps the certificates in a directory. Python 3.9 or later. The program is
target/release/kalah, or $KALAH.
"""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("KALAH") or str(ROOT / "target/release/kalah")
RULES = ["empty-capture", "standard", "s-kalaha"]

# By pits a side: maximum seeds a pit, seeds of the largest table that the proof uses, size of the
# transposition table.
BOARDS = {
    1: [(6, 12, "256MiB")],
    2: [(6, 20, "256MiB")],
    3: [(16, 24, "256MiB")],
    4: [(12, 36, "256MiB")],
    5: [(8, 36, "256MiB")],
    6: [(5, 24, "256MiB"), (6, 30, "1GiB")],
    7: [(3, 16, "256MiB"), (4, 22, "1GiB")],
    8: [(2, 16, "256MiB"), (3, 20, "1GiB")],
}

# Their proofs use tables to 34 seeds: certificates/README.md.
ELSEWHERE = {("empty-capture", 6, 6), ("standard", 6, 6)}

COLUMNS = [
    *("rules", "pits", "seeds", "value", "tables", "nodes", "seconds"),
    *("effort", "claims", "bytes", "digest", "check_nodes", "check_seconds"),
]


def kalah(*arguments, within=None):
    """JSON output of a command; None if it takes longer than `within` seconds."""
    command = [PROGRAM, *map(str, arguments), "--json"]
    try:
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=within)
    except subprocess.TimeoutExpired:
        return None
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {ran.returncode}\n{ran.stderr}")
    return json.loads(ran.stdout)


def resources(pits, seeds):
    """Seeds of the largest table for the proof of a board, and size of the transposition table."""
    return next((tables, transpositions) for most, tables, transpositions in BOARDS[pits] if seeds <= most)


def prove(rules, pits, seeds, directory, options):
    """Row of a board; None if it took too long."""
    tables, transpositions = resources(pits, seeds)
    board = f"{pits}x{seeds}"
    certificate = directory / f"{rules}-{board}.certificate"
    shared = ["--tables", options.tables, "--threads", 1]
    # A resumed proof differs from one without interruption.
    proof = directory / f"{rules}-{board}"
    shutil.rmtree(proof, ignore_errors=True)
    certificate.unlink(missing_ok=True)
    proved = kalah(
        *("prove", board, "--rules", rules, "--tables-up-to", tables, "--transpositions", transpositions, *shared),
        *("--proof", proof, "--certificate", certificate),
        within=options.within,
    )
    if proved is None:
        return None
    assert proved["known"] == "exact"
    checked = kalah("check", certificate, *shared)
    made = proved["certificate"]
    assert checked["ok"] and checked["digest"] == made["digest"] and checked["value"] == proved["value"]
    return {
        "rules": rules,
        "pits": pits,
        "seeds": seeds,
        "value": proved["value"],
        "tables": made["table_seeds"],
        "nodes": proved["nodes"],
        "seconds": round(proved["job_seconds"], 1),
        "effort": made["effort"],
        "claims": made["claims"],
        "bytes": made["bytes"],
        "digest": made["digest"],
        "check_nodes": checked["tally"]["nodes"],
        "check_seconds": round(checked["seconds"], 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=ROOT / "docs/values.csv")
    parser.add_argument("--proofs", type=Path)
    parser.add_argument("--within", type=float, default=3600)
    parser.add_argument("--rules", action="append", choices=RULES)
    parser.add_argument("--pits", action="append", type=int, choices=BOARDS)
    options = parser.parse_args()

    lines = []
    if options.output.exists():
        with open(options.output, newline="") as file:
            lines = list(csv.DictReader(file))
    done = {(line["rules"], int(line["pits"]), int(line["seeds"])) for line in lines}
    wanted = [
        (rules, pits, seeds)
        for rules in options.rules or RULES
        for pits in options.pits or BOARDS
        for seeds in range(1, BOARDS[pits][-1][0] + 1)
        if (rules, pits, seeds) not in done | ELSEWHERE
    ]
    too_long = []
    with tempfile.TemporaryDirectory(prefix="kalah-values-") as temporary:
        directory = options.proofs or Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        built = set()
        for number, (rules, pits, seeds) in enumerate(wanted, 1):
            tables, _ = resources(pits, seeds)
            if (rules, pits, tables) not in built:
                kalah("build", "--rules", rules, "--pits", pits, "--seeds", tables, "--tables", options.tables)
                built.add((rules, pits, tables))
            print(f"{number} of {len(wanted)}: {pits}x{seeds} under {rules} rules", file=sys.stderr, flush=True)
            line = prove(rules, pits, seeds, directory, options)
            if line is None:
                too_long.append(f"{pits}x{seeds} under {rules} rules")
                continue
            lines.append(line)
            lines.sort(key=lambda line: (RULES.index(line["rules"]), int(line["pits"]), int(line["seeds"])))
            partial = options.output.with_suffix(".tmp")
            with open(partial, "w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(lines)
            os.replace(partial, options.output)
    print(f"{len(lines)} boards in {options.output}")
    if too_long:
        sys.exit(f"not proved within {options.within:.0f} seconds: {', '.join(too_long)}")


if __name__ == "__main__":
    main()
