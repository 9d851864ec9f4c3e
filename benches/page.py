#!/usr/bin/env python3
"""Measures a first visit to the static page in Chromium, from a host that compresses nothing.

    benches/page.py [--runs 3] [--rates 0,400] [--latency 50]

The site is exported without tables. A host of this script sends its files over one link of each rate
in kbit/s, shared by all connections; each answer begins after the latency in ms. At the rate 0 it
sends at once. Each run has a new profile, so nothing is cached. Medians of:

- play: a pit can be sown; a game against the first level
- reply: seconds from sowing a pit until that level has answered and a pit can be sown again
- KB: thousands of bytes sent until then
- board, estimates, exact: the board is shown, and estimates and exact values, for a link to the start
  of Kalah(6,4) with values
- shift: maximum cumulative layout shift of both

Seconds are from the beginning of the navigation. The exit code is 1 if a goal is missed: 120 KB;
play within 1 s at once, and 3 s at 400 kbit/s; exact values within 12 s there; a shift below 0.02.

Chromium, chromedriver, Python 3.9 or later. The program is target/release/kalah, or $KALAH; the engine
is $KALAH_MODULE, or that of packaging/wasm.
"""

import argparse
import http.server
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("KALAH") or str(ROOT / "target/release/kalah")
MODULE = os.environ.get("KALAH_MODULE") or str(ROOT / "target/wasm32-unknown-unknown/wasm/kalah_wasm.wasm")

# Bytes that the link takes at a time.
PART = 1024

# Notes in `seen` when each state is first reached, in seconds, and the layout shift.
WATCH = """
globalThis.seen = { shift: 0 };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
const states = {
  board: () => document.querySelector("body.ready .pit"),
  play: () => document.querySelector(".pit.legal"),
  estimates: () => document.querySelector(".label b:not(:empty)"),
  exact: () => document.querySelector(".dot.exact"),
  sown: () => location.hash.includes("moves="),
  reply: () => seen.sown && document.querySelectorAll("#moves button").length > 1 &&
    document.querySelector(".pit.legal"),
};
setInterval(() => {
  for (const [name, isReached] of Object.entries(states))
    if (seen[name] === undefined && document.body && isReached()) seen[name] = performance.now() / 1000;
}, 5);
"""


class Link:
    """A connection to the internet that all answers share."""

    def __init__(self, rate, latency):
        self.rate, self.latency = rate, latency
        self.lock = threading.Lock()
        self.free = 0.0
        self.sent = 0

    def send(self, to, data):
        """Sends data, each part when the link is free."""
        for start in range(0, len(data), PART) if self.rate else [0]:
            part = data[start : start + PART] if self.rate else data
            with self.lock:
                self.sent += len(part)
                if self.rate:
                    self.free = max(self.free, time.monotonic()) + 8 * len(part) / (1000 * self.rate)
                until = self.free
            time.sleep(max(0, until - time.monotonic()))
            to.write(part)


def host(folder, link):
    """Starts a host of a folder behind a link. Returns it."""

    class Answer(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *given):
            super().__init__(*given, directory=folder)

        def copyfile(self, source, outputfile):
            time.sleep(link.latency / 1000)
            try:
                link.send(outputfile, source.read())
            except ConnectionError:
                pass

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Browser:
    """A Chromium with a new profile, driven by chromedriver."""

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True, env={**os.environ, "HOME": self.home.name}
        )
        port = next(line.split()[-1].rstrip(".") for line in self.driver.stdout if "successfully on port" in line)
        self.session = f"http://127.0.0.1:{port}/session"
        flags = ["headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "window-size=1280,800"]
        flags += ["disable-background-networking", f"user-data-dir={self.home.name}/profile"]
        options = {"args": [f"--{flag}" for flag in flags]}
        opened = self.post("", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.session += "/" + opened["sessionId"]
        watch = {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": WATCH}}
        self.post("/goog/cdp/execute", watch)
        return self

    def __exit__(self, *_):
        urllib.request.urlopen(urllib.request.Request(self.session, method="DELETE")).close()
        self.driver.terminate()
        self.driver.wait()
        self.home.cleanup()

    def post(self, path, body):
        """Returns the result of a command."""
        request = urllib.request.Request(self.session + path, json.dumps(body).encode())
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["value"]

    def run(self, script):
        """Returns the result of a script."""
        return self.post("/execute/sync", {"script": script, "args": []})

    def wait(self, state):
        """Waits until a state is reached. Returns what was seen by then."""
        for _ in range(6000):
            seen = self.run("return seen")
            if state in seen:
                return seen
            time.sleep(0.01)
        raise TimeoutError(f"no {state}: {seen}")


def visit(folder, rate, latency):
    """Measures both visits at a rate."""
    link = Link(rate, latency)
    server = host(folder, link)
    address = f"http://127.0.0.1:{server.server_port}/"
    with Browser() as browser:
        browser.post("/url", {"url": f"{address}#6x4&rules=standard&north=alphabeta:1&values=off"})
        browser.wait("play")
        browser.run("document.querySelector('.pit.legal').click()")
        game, sent = browser.wait("reply"), link.sent
    with Browser() as browser:
        browser.post("/url", {"url": f"{address}#6x4&rules=standard&values=on"})
        values = browser.wait("exact")
    server.shutdown()
    return {
        "play": game["play"],
        "reply": game["reply"] - game["sown"],
        "KB": sent / 1000,
        "board": values["board"],
        "estimates": values.get("estimates", values["exact"]),
        "exact": values["exact"],
        "shift": max(game["shift"], values["shift"]),
    }


def goals(rate):
    """Maximum of each column at a rate."""
    return {"play": 3 if rate else 1, "KB": 120, "shift": 0.02, **({"exact": 12} if rate == 400 else {})}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rates", default="0,400")
    parser.add_argument("--latency", type=float, default=50)
    given = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        export = [PROGRAM, "export-site", folder, "--size", "0", "--module", MODULE]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for rate in map(int, given.rates.split(",")):
            runs = [visit(folder, rate, given.latency if rate else 0) for _ in range(given.runs)]
            medians = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
            print(f"{rate} kbit/s:", *(f"{name} {value:.3f}" for name, value in medians.items()), flush=True)
            missed += [f"{name} at {rate}" for name, most in goals(rate).items() if medians[name] > most]
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


if __name__ == "__main__":
    main()
