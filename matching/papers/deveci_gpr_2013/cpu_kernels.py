"""The kernels of G-PR in the paper's names, one thread after another (ICPP 2013, Algorithms 5, 6, 8 and 9).

The variables, and what was repaired against the print, are explained in `g_pr`.
"""

from __future__ import annotations

import numpy as np

from ...cardinality.graph import IntArray
from ...jit.compiled import compiled


@compiled
def g_gr_krnl(
    rxadj: IntArray, radj: IntArray, mu_r: IntArray, mu_c: IntArray, psi_r: IntArray, psi_c: IntArray, level: int
) -> bool:
    """G-GR-KRNL, Algorithm 5: rows of this level label their columns, and those columns' rows the next."""
    unreachable = len(mu_r) + len(mu_c)
    added = False
    for u in range(len(mu_r)):
        if psi_r[u] != level:
            continue
        for k in range(rxadj[u], rxadj[u + 1]):
            v = radj[k]
            if psi_c[v] == unreachable:
                psi_c[v] = level + 1
                w = mu_c[v]
                if w > -1 and mu_r[w] == v:
                    psi_r[w] = level + 2
                    added = True
    return added


def gap_relabel(psi_r: IntArray, psi_c: IntArray) -> bool:
    """Rows above a label (an even one) that no row has cannot reach a free row: give them up; True if there was one."""
    unreachable = len(psi_r) + len(psi_c)
    alive = psi_r < unreachable
    rows_at = np.bincount(psi_r[alive] // 2)
    empty = np.flatnonzero(rows_at == 0)
    if len(empty) == 0:
        return False
    psi_r[alive & (psi_r > 2 * empty[0])] = unreachable
    return True


@compiled(inline="always")
def _is_active(v: int, mu_r: IntArray, mu_c: IntArray) -> bool:
    return mu_c[v] == -1 or (mu_c[v] >= 0 and mu_r[mu_c[v]] != v)


@compiled(inline="always")
def _lowest_row(v: int, cxadj: IntArray, cadj: IntArray, psi_r: IntArray, psi_c: IntArray) -> int:
    """The neighbour of least label below rows + columns, or -1; stops at one that is as low as v's own label allows."""
    lowest = len(psi_r) + len(psi_c)
    u = -1
    for k in range(cxadj[v], cxadj[v + 1]):
        r = cadj[k]
        if psi_r[r] < lowest:
            lowest = psi_r[r]
            u = r
            if lowest == psi_c[v] - 1:
                break
    return u


@compiled(inline="always")
def _push(v: int, u: int, mu_r: IntArray, mu_c: IntArray, psi_r: IntArray, psi_c: IntArray) -> None:
    """Column v takes row u, its lowest, and both rise above it."""
    lowest = psi_r[u]
    mu_r[u] = v
    mu_c[v] = u
    psi_c[v] = lowest + 1
    psi_r[u] = lowest + 2


@compiled
def g_pr_krnl(
    cxadj: IntArray, cadj: IntArray, mu_r: IntArray, mu_c: IntArray, psi_r: IntArray, psi_c: IntArray
) -> tuple[int, int]:
    """G-PR-KRNL, Algorithm 6: every active column pushes once. Returns how many were active and how many pushed."""
    n_active = pushes = 0
    for v in range(len(mu_c)):
        if not _is_active(v, mu_r, mu_c):
            continue
        n_active += 1
        u = _lowest_row(v, cxadj, cadj, psi_r, psi_c)
        if u < 0:
            mu_c[v] = -2
            continue
        pushes += 1
        _push(v, u, mu_r, mu_c, psi_r, psi_c)
    return n_active, pushes


@compiled
def init_krnl(
    mu_r: IntArray, mu_c: IntArray, loop: int, current: IntArray, previous: IntArray, active_in: IntArray
) -> int:
    """G-PR-INITKRNL, Algorithm 8: roll back pushes that lost a conflict, stamp the active columns, count them."""
    n_active = 0
    for i in range(len(previous)):
        v = previous[i]
        if v != -1 and _is_active(v, mu_r, mu_c):
            current[i] = v
        v = current[i]
        if v != -1:
            active_in[v] = loop
            n_active += 1
    return n_active


@compiled
def push_krnl(
    cxadj: IntArray,
    cadj: IntArray,
    mu_r: IntArray,
    mu_c: IntArray,
    psi_r: IntArray,
    psi_c: IntArray,
    loop: int,
    current: IntArray,
    previous: IntArray,
    active_in: IntArray,
) -> int:
    """G-PR-PUSHKRNL, Algorithm 9: the listed columns push once; `previous` receives the columns they displace.

    A row held by a column that is active in this loop is left unassigned, so that no column is listed twice.
    """
    pushes = 0
    for i in range(len(current)):
        v = current[i]
        previous[i] = -1
        if v == -1:
            continue
        u = _lowest_row(v, cxadj, cadj, psi_r, psi_c)
        if u < 0:
            mu_c[v] = -2
            current[i] = -1
            continue
        w = mu_r[u]
        if w != -1 and active_in[w] == loop:
            continue
        pushes += 1
        _push(v, u, mu_r, mu_c, psi_r, psi_c)
        previous[i] = w
    return pushes


@compiled
def fix_matching(mu_r: IntArray, mu_c: IntArray) -> None:
    """FIXMATCHING: a column whose row has another column, or that was given up, has none."""
    for v in range(len(mu_c)):
        if mu_c[v] < 0 or mu_r[mu_c[v]] != v:
            mu_c[v] = -1
