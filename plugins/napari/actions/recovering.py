"""Corrections that no file holds outlive a crash: they are kept in the user's cache folder, and offered after it."""

from __future__ import annotations

from pathlib import Path

from qtpy.QtCore import QObject, QStandardPaths

from ..session.recovery import Left
from ..threads.job import Desk, Failure
from .correcting import Correcting
from .parts import Parts
from .running import Running
from .unsaved import Unsaved


class Recovering(QObject):
    """Keeps corrections after each of them, until they are saved or given up, and offers those left by a crash."""

    def __init__(
        self, parts: Parts, running: Running, correcting: Correcting, unsaved: Unsaved, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._parts = parts
        self._correcting = correcting
        self._unsaved = unsaved
        self._found: Path | None = None
        self._keeping, self._finding = Desk(self), Desk(self)
        self._finding.returned.connect(self._offer)
        for desk in (self._keeping, self._finding):
            desk.failed.connect(parts.bar.fail)
        running.linked.connect(self._find)
        correcting.followed.connect(self._keep)
        unsaved.discarded.connect(parts.session.discard)
        parts.bar.recover.connect(self._recover)

    def _keep(self) -> None:
        work = self._parts.session.keeping(_folder())
        if work is not None:
            self._keeping.start(work)

    def _find(self) -> None:
        self._parts.bar.offer_recovery(0)
        self._finding.start(self._parts.session.finding_kept(_folder()))

    def _offer(self, left: Left) -> None:
        self._found = left.path
        self._parts.bar.offer_recovery(left.n)
        if left.problem:
            self._parts.bar.fail(Failure(left.problem, ""))

    def _recover(self) -> None:
        """Ask what becomes of corrections made meanwhile, and make those left in their place."""
        self._unsaved.before(self._make_again)

    def _make_again(self) -> None:
        assert self._found is not None  # it was offered
        self._parts.bar.offer_recovery(0)
        self._correcting.replay(str(self._found), is_saved=False)


def _folder() -> Path:
    location = QStandardPaths.StandardLocation.GenericCacheLocation
    return Path(QStandardPaths.writableLocation(location)) / "auctrack" / "corrections"
