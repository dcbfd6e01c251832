"""HTML by hand: a page, its sections, tables and pictures; every text is escaped."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; background: #fff; margin: 2rem auto; max-width: 62rem;
  padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #d5dce3; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid #eceff3;
  overflow-wrap: anywhere; }
thead th { border-bottom: 1px solid #8795a3; }
figure { margin: 1rem 0; }
figcaption, .quiet { color: #51606f; font-size: .92rem; }
img { max-width: 100%; height: auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(24rem, 1fr)); gap: 0 1.5rem; }
code, pre { font: .92rem ui-monospace, monospace; }
pre { background: #f3f5f8; padding: .7rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.odd { border-left: .3rem solid #c9690b; padding-left: .8rem; }
@media print { body { margin: 0; } section { break-inside: avoid; } }
"""


def page(title: str, subtitle: str, sections: Iterable[str]) -> str:
    """Return a whole page that needs no other file."""
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<header>\n"
        f'<h1>{escape(title)}</h1>\n<p class="quiet">{escape(subtitle)}</p>\n</header>\n<main>\n'
        + "\n".join(part for part in sections if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def section(heading: str, *parts: str) -> str:
    """Return a section, or nothing where it has no content."""
    content = [part for part in parts if part]
    return "\n".join(["<section>", f"<h2>{escape(heading)}</h2>", *content, "</section>"]) if content else ""


def paragraph(text: str, style: str = "") -> str:
    """Return a paragraph."""
    return f'<p class="{style}">{escape(text)}</p>' if style else f"<p>{escape(text)}</p>"


def command(text: str) -> str:
    """Return a line to be pasted into a terminal."""
    return f"<pre><code>{escape(text)}</code></pre>"


def listed(items: Sequence[str], style: str = "") -> str:
    """Return a list, or nothing."""
    rows = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f'<ul class="{style}">{rows}</ul>' if items else ""


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and what they are, as a table without a head."""
    body = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>' for name, text in rows)
    return f"<table><tbody>{body}</tbody></table>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], links: Sequence[str] = ()) -> str:
    """Return a table; `links` are where the first cells of its rows lead."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = ""
    for number, (first, *others) in enumerate(rows):
        start = f'<a href="{escape(links[number], quote=True)}">{escape(first)}</a>' if links else escape(first)
        body += "<tr>" + "".join(f"<td>{cell}</td>" for cell in (start, *map(escape, others))) + "</tr>"
    return f"<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


def picture(content: bytes, kind: str, says: str) -> str:
    """Return a picture inside the page; `kind` is svg+xml or png, `says` what it shows."""
    data = base64.b64encode(content).decode("ascii")
    return (
        f'<figure><img alt="{escape(says, quote=True)}" src="data:image/{kind};base64,{data}">'
        f"<figcaption>{escape(says)}</figcaption></figure>"
    )


def charts(pictures: Sequence[str]) -> str:
    """Return pictures beside each other."""
    return '<div class="charts">' + "\n".join(pictures) + "</div>" if pictures else ""
