"""The help text of the corrections: every key and click, in one table."""

from __future__ import annotations

from ..session.clicked import CLICKED_ACTS

_LINKS = (
    ("N, Shift+N", "next and previous link of the list: time, plane and camera go there"),
    ("click", "choose a link in the picture, or by the particle where it ends (Shift+click: never the particle)"),
    ("C", "confirm the chosen link: it stays, whatever else changes"),
    ("B", "break the chosen link: it is never made again"),
    ("", "after C and B the next link of the list is chosen, unless other links changed"),
    ("U, Shift+U", "undo, redo: what it was is said below, and shown: its link or its particles are chosen again"),
    ("K", "keep the other links as they were before the last correction"),
)
_MOUSE = (
    (
        "I",
        "add the particle under the mouse (in 3D at the brightest voxel), at the peak of the image there; "
        "where there is none, at the mouse",
    ),
    ("P", "move the clicked particle to the mouse"),
    (
        "drag, Delete",
        "move or delete particles: select the layer “particles of …” and take napari's tool for selecting points "
        "(key 3); with its tool for adding points (key 2) a click adds one",
    ),
    ("L", "link pairs by clicks alone: a particle, the same one in another frame, the next pair; L again ends it"),
)
_ABOUT = (
    "The list holds the links most likely to be wrong, the worst first: those that the next best set of links would "
    "replace at little cost (small margin), and the longest. The chosen link is yellow, the links that would replace "
    "it are dashed, unless it was chosen by its particle. After every correction the rest is solved again and proven "
    "optimal: other links that came are yellow then, those that went are dashed. Keys that are typed faster than their "
    "outcome is shown wait for their turn."
)
_SAVING = (
    "<i>Export…</i> writes the tracks with the corrections beside them; under a name that ends in .auctrack all of it, "
    "to be opened later and gone on with."
)


def correction_help() -> str:
    """Return the text, as HTML."""
    acts = [(act.key.upper(), f"{act.help}: {act.title[0].lower()}{act.title[1:]}") for act in CLICKED_ACTS]
    rows = "".join(
        f"<tr><td style='padding-right: 8px; white-space: nowrap'><b>{key}</b></td><td>{text}</td></tr>"
        for key, text in (*_LINKS, *acts, *_MOUSE)
    )
    return f"<table cellspacing='0'>{rows}</table><p>{_ABOUT}</p><p>{_SAVING}</p>"
