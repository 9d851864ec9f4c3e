#!/usr/bin/env python3
"""Checks that the search of the site finds the words that newcomers look for.

    python3 packaging/check_search.py DIRECTORY
"""

import json
import pathlib
import re
import sys

QUERIES = ["mancala", "best first move", "download", "GPU", "Python", "Slurm", "rules", "puzzle", "Windows"]


def sections(site):
    """Addresses and words of the sections that the search has."""
    (index,) = site.glob("searchindex-*.js")
    quoted = re.search(r"JSON\.parse\('(.*)'\)\);?\s*$", index.read_text(encoding="utf-8"), re.DOTALL).group(1)
    search = json.loads(quoted.replace("\\'", "'").replace("\\\\", "\\"))
    for number, section in search["index"]["documentStore"]["docs"].items():
        text = f"{section['title']} {section['breadcrumbs']} {section['body']}"
        yield search["doc_urls"][int(number)], set(re.findall(r"\w+", text.lower()))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(sections(pathlib.Path(sys.argv[1])))
    missing = [
        query for query in QUERIES if not any(set(query.lower().split()) <= words for _, words in found)
    ]
    print(f"{len(QUERIES)} queries in {len(found)} sections")
    if missing:
        sys.exit(f"the site's search does not find: {', '.join(missing)}")


if __name__ == "__main__":
    main()
