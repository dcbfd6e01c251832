"""The papers' profiles at the points that their texts name: on which share of the graphs a solver is so fast."""

from __future__ import annotations

from collections.abc import Sequence

from ...draw.tables import NOTHING, Table
from ...measure.harness import Case, Experiment
from ...measure.record import Record
from .. import deveci_euro_par_2013 as euro_par
from .. import deveci_icpp_2013 as icpp
from .record import APFB, G_PR, OURS, fastest_sequential, sets_of, time_of, without_empty_columns

_SHOWN = (APFB, G_PR, "P-DBFS", *OURS)
_OF_EURO_PAR = (APFB, "P-DBFS", "P-PFP", "P-HK")
_OF_ICPP = (G_PR, APFB, "P-DBFS")


def shares(experiment: Experiment, record: Record) -> Table:
    """Return the shares of the graphs, ours and the papers'."""
    sets = sets_of(experiment)
    rows: list[tuple[str, ...]] = []
    for name, cases in sets.items():
        times = _times(experiment, record, cases)
        reference = fastest_sequential(name)
        paper = f"GPU {_percent(euro_par.FASTER_THAN_SEQUENTIAL[name])}"
        rows.append((f"Euro-Par, Figure 3, {name}: faster than {reference}", *_faster(times, reference, 1), paper))
        paper = f"GPU {_percent(euro_par.FASTEST_SHARE[name])}"
        rows.append(
            (f"Euro-Par, Figure 4, {name}: the fastest parallel one", *_near_best(times, _OF_EURO_PAR, 1), paper)
        )
    times = _times(experiment, record, sets["original"])
    rows += [
        ("ICPP, Figure 2: at least 5 times as fast as PR", *_faster(times, "PR", 5), _named(icpp.SPEED_UP_OF_5)),
        ("ICPP, Figure 3: within 1.5 times the best", *_near_best(times, _OF_ICPP, 1.5), _named(icpp.WITHIN_1_5)),
        ("ICPP, Figure 3: the fastest", *_near_best(times, _OF_ICPP, 1), f"G-PR {_percent(icpp.FASTEST_SHARE)}"),
    ]
    return without_empty_columns(
        "The papers' profiles as numbers: share of the graphs (auctrack: start and search)",
        ("", *_SHOWN),
        ("paper",),
        rows,
        ("the best: of the paper's parallel algorithms but the one compared",),
    )


Times = dict[str, list[float | None]]
"""Of each variant, one time a graph."""


def _times(experiment: Experiment, record: Record, cases: Sequence[Case]) -> Times:
    return {v.name: [time_of(record, experiment, case, v.name) for case in cases] for v in experiment.variants}


def _faster(times: Times, reference: str, factor: float) -> list[str]:
    """How often each is at least so many times as fast as the reference, of the graphs that both solved."""
    texts: list[str] = []
    for variant in _SHOWN:
        pairs = zip(times.get(variant, []), times.get(reference, []), strict=False)
        texts.append(_share([factor * own <= other for own, other in pairs if own and other]))
    return texts


def _near_best(times: Times, rivals: Sequence[str], factor: float) -> list[str]:
    """How often each is within a factor of the best of its rivals, of the graphs that it and any of these solved."""
    texts: list[str] = []
    for variant in _SHOWN:
        near: list[bool] = []
        for k, own in enumerate(times.get(variant, [])):
            others = [times[rival][k] for rival in rivals if rival in times and rival != variant]
            best = min((t for t in others if t), default=None)
            if own and best:
                near.append(own <= factor * best)
        texts.append(_share(near))
    return texts


def _share(found: Sequence[bool]) -> str:
    return _percent(sum(found) / len(found)) if found else NOTHING


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _named(shares: dict[str, float]) -> str:
    return ", ".join(f"{name} {_percent(share)}" for name, share in shares.items())
