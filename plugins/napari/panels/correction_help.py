"""The help text of the corrections: every key and click, in one table."""

from __future__ import annotations

from ..session.clicked import CLICKED_ACTS

_LINKS = (
    (
        "N, Shift+N",
        "Next and previous link of the list: time, plane and camera go there, nearer where particles are too small",
    ),
    ("click", "Choose a link in the picture, or by the particle where it ends (Shift+click: never the particle)"),
    (
        "Escape",
        "Close this help; otherwise deselect everything (so does a click on the background)",
    ),
    ("C", "Confirm the chosen link: it stays until you break it, and leaves the list"),
    ("B", "Break the chosen link: it goes, and only you can make it again (J, U)"),
    (
        "",
        "After C or B on a link of the list the first one not looked at yet is chosen, unless other links changed; "
        "after a clicked link none is. • marks links that have been shown: Shift+N, or a click on a row, goes back",
    ),
    ("U, Shift+U", "Undo, redo: the panel says what, the view goes there, its link or particles are chosen again"),
    ("K", "Put the other links back as they were before the last correction"),
)
_MOUSE = (
    (
        "I",
        "Add the particle under the mouse (in 3D at the brightest voxel in line: turn the view): at the peak of the "
        "image there; where there is none, at the mouse",
    ),
    ("P", "Move the clicked particle to the mouse"),
    (
        "drag, Delete",
        "Move or delete particles: select the layer “particles of …” and take napari's tool for selecting points "
        "(key 3); with its tool for adding points (key 2) a click adds one",
    ),
    ("L", "Link pairs by clicks: a particle, the same one in another frame (a miss keeps the first); L ends it"),
)
_ABOUT = (
    "The list holds the links most likely to be wrong, the worst first: those that linking would not make, then, in "
    "turn, those that the next best set of links would replace at little cost (small margin), and the longest. The "
    "chosen link is drawn solid, the links that would replace it dashed; short lines point at the clicked particles. "
    "After every correction the rest is solved again and proven optimal: new links are solid, those that are gone "
    "dashed."
)
_SAVING = (
    "<i>Export…</i> writes the tracks, and the corrections beside them; as .auctrack, all in one file. To go on, open "
    "it, choose its layer as <i>Input</i>, and press <i>Check and correct its links</i>; also for other programs' "
    "tracks."
)


def correction_help() -> str:
    """Return the text, as HTML."""
    acts = [(act.key.upper(), f"{act.help}: {act.title[0].lower()}{act.title[1:]}") for act in CLICKED_ACTS]
    rows = "".join(
        f"<tr><td style='padding-right: 8px; white-space: nowrap'><b>{key}</b></td><td>{text}</td></tr>"
        for key, text in (*_LINKS, *acts, *_MOUSE)
    )
    return f"<table cellspacing='0'>{rows}</table><p>{_ABOUT}</p><p>{_SAVING}</p>"
