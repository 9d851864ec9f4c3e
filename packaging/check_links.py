#!/usr/bin/env python3
"""Checks that every link inside a site leads to a file, and to an anchor if it names one.

    python3 packaging/check_links.py DIRECTORY
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """Collects the links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src") and value and tag != "base":
                self.links.append(value)


def faults(site):
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    links = 0
    for path, page in pages.items():
        # The page for missing addresses may be shown at any depth, so its links cannot be checked.
        if path.name in ("404.html", "toc.html", "print.html"):
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            links += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.relative_to(site)}: there is no such file: {link}"
            elif parts.fragment and target in pages:
                if urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                    yield f"{path.relative_to(site)}: there is no such anchor: {link}"
    print(f"{links} links on {len(pages)} pages")
    if links < 500:
        yield f"only {links} links were found"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(faults(pathlib.Path(sys.argv[1]).resolve()))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
