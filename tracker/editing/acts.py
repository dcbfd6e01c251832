"""The acts of a correction: what each does to the constraints and the detections, and whose links are solved again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter, signature
from typing import Any

import numpy as np

from ..errors import InvalidEdit
from .arguments import problem_with
from .change import Link
from .corrected import Corrected


def break_link(movie: Corrected, source: int, target: int, *, opens_ends: bool = False) -> None:
    """Forbid a link that is there; `opens_ends`: what its ends lacked in tracks taken up is left to the data."""
    _require_link(movie, (source, target))
    opened = movie.lacked_beside(source, target) if opens_ends else []
    for link in opened:
        movie.unban(link)
    movie.ban((source, target))
    movie.solve_again((source, target, *(end for link in opened for end in link)))


def add_link(movie: Corrected, source: int, target: int) -> None:
    """Confirm a link between any two detections in the order of time."""
    movie.pin((source, target))
    movie.solve_again((source, target))


def confirm_link(movie: Corrected, source: int, target: int) -> None:
    """Confirm a link that is there."""
    _require_link(movie, (source, target))
    add_link(movie, source, target)


def confirm_links(movie: Corrected, links: Sequence[Sequence[int]]) -> None:
    """Confirm links that are there, such as all of a track."""
    for link in links:
        _require_link(movie, link)
    movie.give(links, ())


def hold_links(movie: Corrected, pinned: Sequence[Sequence[int]], forbidden: Sequence[Sequence[int]]) -> None:
    """Confirm links and forbid others, all at once."""
    if not pinned and not forbidden:
        raise InvalidEdit("there are no links to confirm or to forbid.")
    for link in (*pinned, *forbidden):
        movie.require_order((link[0], link[1]))
    movie.give(pinned, forbidden)


def swap_links(movie: Corrected, first: Sequence[int], second: Sequence[int]) -> None:
    """Exchange the targets of two links: both new ones are confirmed, both old ones forbidden."""
    (a, b), (c, d) = first, second
    for link in ((a, b), (c, d)):
        _require_link(movie, link)
        movie.ban(link)
    movie.pin((a, d))
    movie.pin((c, b))
    movie.solve_again((a, b, c, d))


def release_link(movie: Corrected, source: int, target: int) -> None:
    """Leave a confirmed or forbidden link to the data again."""
    link = source, target
    if link not in movie.pins and link not in movie.bans:
        movie.detections.require(source, target)
        problem = f"link {source} → {target} is neither confirmed nor forbidden, so it cannot be released."
        raise movie.detections.refusal(problem, "not given", source, target)
    movie.unpin(link)
    movie.unban(link)
    movie.solve_again(link)


def split_track(movie: Corrected, detection: int) -> None:
    """End a track with a detection: all links out of it are forbidden, and all into those that followed it."""
    movie.detections.require(detection)
    followers = movie.targets(detection)
    if not followers:
        problem = f"detection {detection} is the last of its track, so there is nothing to split off."
        raise movie.detections.refusal(problem, "nothing follows", detection)
    for target in followers:
        movie.ban((detection, target))
    edges = [*movie.edges_from(detection), *(e for target in followers for e in movie.edges_into(target))]
    for link in {movie.link_of(e) for e in edges} - movie.pins.keys() - movie.bans.keys():
        movie.ban(link)
    movie.solve_again((detection, *followers))


def mark_division(movie: Corrected, mother: int, daughters: Sequence[int]) -> None:
    """Confirm that a particle divides: the links to both its daughters."""
    if len(daughters) != 2 or daughters[0] == daughters[1]:
        raise InvalidEdit(f"a division needs two different daughters; got {daughters!r}.")
    for daughter in daughters:
        movie.pin((mother, daughter), divides=True)
    movie.solve_again((mother, *daughters))


def add_detection(
    movie: Corrected, frame: int, position: Sequence[float], measures: Mapping[str, float] | None = None
) -> None:
    """Add a detection, linked where that is worth it."""
    detection = movie.detections.add(frame, position)
    movie.detections.measure(detection, measures)
    movie.add_members()
    movie.look_for_candidates(detection)


def move_detection(
    movie: Corrected, detection: int, position: Sequence[float], measures: Mapping[str, float] | None = None
) -> None:
    """Give a detection another position; its links are weighed again, confirmed ones stay."""
    movie.detections.require(detection)
    movie.detections.move(detection, position)
    movie.detections.measure(detection, measures)
    movie.look_for_candidates(detection)


def delete_detection(movie: Corrected, detection: int) -> None:
    """Take a detection away with its links, confirmed ones too."""
    movie.detections.require(detection)
    pinned = [(detection, t) for t in movie.pins_out.get(detection, ())]
    pinned += [(s, detection) for s in movie.pins_into.get(detection, ())]
    for link in pinned:
        movie.unpin(link)
    movie.detections.remove(detection)
    movie.solve_again((detection, *(end for link in pinned for end in link)))


def merge_detections(movie: Corrected, detections: Sequence[int]) -> None:
    """Make detections of one frame one: the first stays, at their mean; confirmed links of the others are dropped."""
    movie.detections.require(*detections)
    if len(set(detections)) < 2 or len({movie.detections.frame(d) for d in detections}) > 1:
        raise InvalidEdit(f"detections that are merged need to be two or more, of one frame; got {detections!r}.")
    mean = np.mean([movie.detections.place(d) for d in detections], axis=0)
    for detection in detections[1:]:
        delete_detection(movie, detection)
    move_detection(movie, detections[0], mean.tolist())


def together(movie: Corrected, acts: Sequence[Mapping[str, Any]]) -> None:
    """Do several acts as one."""
    if not acts:
        raise InvalidEdit("corrections that are made together need to be one at least; got none.")
    for act in acts:
        do(movie, act)


def do(movie: Corrected, act: Mapping[str, Any]) -> None:
    """Do an act as it is recorded, in which `problem_among` finds no problem."""
    arguments = dict(act)
    ACTS[arguments.pop("act")](movie, **arguments)


def problem_among(acts: object) -> str:
    """Return why some of the acts can be done on no detections at all; empty if all may fit some."""
    if isinstance(acts, Mapping):
        return f"corrections need to be a list; got {acts!r}."
    return next(filter(None, map(_problem_of, acts if isinstance(acts, (list, tuple)) else [acts])), "")


def _problem_of(act: object) -> str:
    if not isinstance(act, Mapping):
        return f"a correction needs to be an object that names what it does and to what; got {act!r}."
    name, given = act.get("act"), [argument for argument in act if argument != "act"]
    if not isinstance(name, str) or name not in ACTS:
        return f"a correction needs to be one of {', '.join(ACTS)}; got {name!r}."
    needed, known = _arguments_of(name)
    if {*needed} <= {*given} <= {*known}:
        return problem_with(act) or problem_among(act.get("acts", []))
    return f"a correction {name} needs {', '.join(needed)}; got {', '.join(map(str, given)) or 'nothing'}."


@cache
def _arguments_of(name: str) -> tuple[list[str], list[str]]:
    """Return the arguments that an act needs, and all that it knows, beside the movie."""
    arguments = [*signature(ACTS[name]).parameters.values()][1:]
    needed = [argument.name for argument in arguments if argument.default is Parameter.empty]
    return needed, [argument.name for argument in arguments]


ACTS: dict[str, Callable[..., Any]] = {
    act.__name__: act
    for act in (
        break_link,
        add_link,
        confirm_link,
        confirm_links,
        hold_links,
        swap_links,
        release_link,
        split_track,
        mark_division,
        add_detection,
        move_detection,
        delete_detection,
        merge_detections,
        together,
    )
}
"""The acts by the names under which they are recorded."""


NO_IDS = ("act", "acts", "frame", "position", "measures", "opens_ends")
"""Arguments of acts that name no detections."""


def named(act: Mapping[str, Any]) -> list[int]:
    """Return the detections that an act names, each once, in the order of its arguments."""
    ids = [int(one) for name, value in act.items() if name not in NO_IDS for one in np.ravel(value)]
    return [*dict.fromkeys([*ids, *(one for part in act.get("acts", ()) for one in named(part))])]


def renamed(act: Mapping[str, Any], id_of: Callable[[int], int]) -> dict[str, Any]:
    """Return an act with another id for each detection that it names."""

    def with_ids(value: Any) -> Any:
        return [with_ids(one) for one in value] if isinstance(value, list) else id_of(value)

    ids = {name: with_ids(value) for name, value in act.items() if name not in NO_IDS}
    parts = {"acts": [renamed(part, id_of) for part in act["acts"]]} if "acts" in act else {}
    return {**act, **ids, **parts}


def _require_link(movie: Corrected, link: Link | Sequence[int]) -> None:
    movie.detections.require(*link)
    if not movie.is_link((link[0], link[1])):
        raise movie.detections.refusal(f"there is no link {link[0]} → {link[1]}.", "no link", link[0], link[1])
