"""The Hungarian method: feasible duals first, then matchings on the pairs of zero slack, until every row is matched.

Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel
Computing 57 (2016). The classical variant (Munkres) lists the zero-slack pairs and searches among them; the
alternating-tree variant (Lawler) keeps the least slack of every column and needs no list.

Three repairs hold everywhere here.

- The papers move every dual by θ/2, which leaves the integers. Uncovered rows rise by θ and covered columns fall by θ
  instead: the same differences, and columns that are not covered, hence all that are unassigned, keep their dual.
- Duals are not touched while a search goes on. A member that entered the search when the duals had moved by Δ_i has
  its change in Δ - Δ_i; a pair counts as zero slack when Δ_i + max(c - r_i - v_j, 0) ≤ Δ, and a dual update sets Δ
  to the least of those numbers. So the pair that set Δ is zero by comparison of the very same number, whatever
  rounding did, no tolerance is needed, and scaling all costs by a power of two changes nothing. After the search a
  matched row's dual is taken from its edge, so that matched edges keep zero slack to an ulp.
- Staying unassigned is a private column of each row at its bound (`Problem.dual_bounds`), where a path may end; columns
  start at their bound where they have one. Hence unequal sides and `unmatched_cost` need no enlarged matrix.

Dense costs on a GPU: the classical variant in dual phases (`gpu_classical`, twin `papers.date_nagi_2016.zero_graph`) is
the faster one, as it finds many paths with one dual change and looks at short lists instead of the matrix; the
alternating tree (`paths.gpu_forest`, twin `papers.date_nagi_2016.forest`) looks at all columns for every row that
enters. Batches of small problems: `gpu_batch`.

Sparse costs are never made dense, and both solvers do the same with them. On a GPU they are one graph. Where all must
be matched, a forest augments along the shortest path of every tree (`paths/graph_forest.cu`); else every tree has a Δ
of its own and stops at its own sink (`paths/trees.cu`): one Δ for thousands of components would cost a search
per path.

`auto` takes these methods on GPUs. Their CPU forms, which the tests hold the kernels to, are loaded by name
(`papers.date_nagi_2016.cpu`): components side by side in threads, in dual phases.
"""

from __future__ import annotations

from .solver import HungarianClassical, HungarianTree

__all__ = ["HungarianClassical", "HungarianTree"]
