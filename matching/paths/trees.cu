// The Hungarian method on any graph of costs where some may stay unassigned, sparse above all, whole, in one cooperative launch. Where
// all must be matched, `paths/graph_forest.cu` takes half the time.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016): trees from all free rows at once, dual update, one path of each tree. The papers' one dual change Δ for all trees
// would cost a search per path where thousands of components grow side by side. Ours: every tree has its own Δ_t and stops at
// the sink of its own shortest path, or where it touches a tree that has stopped. `tests/matching/hungarian/sparse_twin.py`
// does the same steps, and finds the same matched edges and duals.
//
// A phase:
//   grow     dist_j = the Δ at which column j enters: shortest paths from all free rows on reduced costs, by rounds over the
//            queued rows (Bellman-Ford). A round first lowers distances, then the smallest row that explains a lowered one
//            becomes the column's parent, and the column's row is queued. Rows beyond a sink that their tree knows are not
//            expanded.
//   settle   Δ_t = the largest changes with  Δ_t ≤ dist of t's free columns and its rows' distances to becoming unassigned,
//            Δ_t ≤ dist_i of rows that were not expanded, and for a pair from row i of t to column j of another tree s
//            Δ_t ≤ dist_i + slack_ij + max(0, Δ_s - dist_j). They are feasible whatever the search has left out.
//   update   columns of t fall by Δ_t - dist_j; each tree with a sink at Δ_t exchanges matched edges and other edges along that path,
//            the smallest sink first, row i that becomes unassigned being n_cols + i.
// The tree with the nearest sink of all is never held back, so every phase matches a row. A free column has
// dist_j ≥ Δ_t and keeps its dual, hence its bound. Whether a sink is reached is a comparison of one number with itself: no
// tolerance. Distances, parents and Δ are minima, so nothing depends on the order of threads.
//
// LANES lanes serve one row. Row duals are min(bound, c - v), recomputed in every expansion. Bytes: the edges of each queued
// row twice a round, and of each row in a tree once per sweep (two to five a phase). Memory: 60 bytes a row, 40 a column.
// Hazards: everything here is written by other blocks, hence no __restrict__; barriers stand between all steps. `label` is
// kept for two rounds, since a parent may be expanded again while its children read it.
// variant: -DLANES=32 -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DLANES=32
// variant: -DDENSE -DLANES=32
// variant: -DDENSE -DLANES=32 -DINTEGER -DCOST=int
#include "paths/trees_grow.cuh"
#include "paths/trees_settle.cuh"

// Signed numbers, real ones too, as integers of the same order.
__device__ __forceinline__ int64 in_order(dual_t value) {
    const int64 bits = *(int64*)&value;
#ifdef INTEGER
    return bits;
#else
    return bits ^ ((bits >> 63) & 0x7fffffffffffffffLL);
#endif
}
__device__ __forceinline__ dual_t out_of_order(int64 bits) {
#ifndef INTEGER
    bits ^= (bits >> 63) & 0x7fffffffffffffffLL;
#endif
    return *(dual_t*)&bits;
}

// Algorithm 1, rows; least (columns,), all 2^63 - 1 before: in order, the least c - r of each column.
extern "C" __global__ void __launch_bounds__(512) hungarian_sparse_reduce_rows(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden,
    int width, int block_rows, const dual_t* row_bound, const dual_t* v, int64* least
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int64 padded = whole_warps(n_rows);
    for (int64 at = global_thread() / LANES; at < padded; at += all_threads() / LANES) {
        const int row = at < n_rows ? (int)at : NO_MEMBER;
        const dual_t dual = dual_of(graph, row_bound, v, row);
        if (row == NO_MEMBER || dual >= none()) continue;
        const int64 first = graph.first(row);
        const int degree = graph.degree(row);
        for (int e = threadIdx.x % LANES; e < degree; e += LANES)
            if (graph.cost_of(first, e) < none())
                atomicMin(&least[graph.column(first, e)], in_order(graph.cost_of(first, e) - dual));
    }
}

// Algorithm 1, columns: those without a bound rise until one of their pairs has no slack. One thread a column.
extern "C" __global__ void __launch_bounds__(512) hungarian_sparse_reduce_columns(
    int n_cols, const int64* least, const dual_t* col_bound, dual_t* v
) {
    for (int col = global_thread(); col < n_cols; col += all_threads())
        if (col_bound[col] >= none() && least[col] != 0x7fffffffffffffffLL) v[col] = out_of_order(least[col]);
}

// sources: (rows,) the free rows, n_sources of them; kept, queues, bases: (rows,), two halves of (rows,). dist, spread:
// `none()` before; lowered: -1; parent: all ones; words: zero, infeasible_row NO_SINK.
extern "C" __global__ void __launch_bounds__(512) hungarian_sparse(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden,
    int width, int block_rows, const dual_t* row_bound, dual_t* v, int* col_of_row, int* row_of_col, dual_t* dist,
    uint64* parent, int* lowered, dual_t* spread, int* root, int* reached, dual_t* dual, dual_t* limit, dual_t* delta,
    int* sink, int* up, int* label, Words* words, int* sources, int n_sources, int* kept, int* queues, dual_t* bases
) {
    const Trees t{Graph{indptr, indices, cost, forbidden, width, block_rows},
                  n_rows, n_cols, row_bound, v, col_of_row, row_of_col, dist, parent, lowered, spread, root, reached,
                  dual, limit, delta, sink, up, label, words};
    const int thread = dealt_thread(), threads = all_threads();
    uint32* const barrier = &words->barrier;
    int round = 0, sweep = 0;
    int64 began = nanoseconds();
    for (int at = thread; at < n_sources; at += threads) plant(t, sources[at], at, queues, bases);
    if (thread == 0) words->queued[0] = n_sources;
    grid_barrier(barrier);
    while (n_sources > 0) {
        while (true) {
            const int64 here = (round & 1) * (int64)n_rows, there = ((round + 1) & 1) * (int64)n_rows;
            const int size = now(&words->queued[round % 3]);
            if (size == 0) break;
            if (thread == 0) {
                words->queued[(round + 2) % 3] = 0;
                words->levels++;
                words->rows_scanned += size;
            }
            const int64 padded = whole_warps(size);
            for (int64 at = thread / LANES; at < padded; at += threads / LANES) {
                const bool busy = at < size;
                relax(t, busy ? queues[here + at] : NO_MEMBER, busy ? bases[here + at] : 0, round);
            }
            grid_barrier(barrier);
            for (int64 at = thread / LANES; at < size; at += threads / LANES)
                claim(t, queues[here + at], bases[here + at], round, queues + there, bases + there);
            grid_barrier(barrier);
            round++;
        }
        const int n_reached = now(&words->n_reached);
        const int64 members = (int64)n_sources + n_reached;
        const int64 grown = nanoseconds();
        if (thread == 0) words->n_kept = 0;
        find_roots(t, sources, n_sources, n_reached, thread, threads);
        while (true) {
            if (thread == 0) {
                words->changed[(sweep + 1) % 3] = 0;
                words->sweeps++;
            }
            bool changed = false;
            for (int64 k = thread / LANES; k < members; k += threads / LANES)
                changed |= hold_back(t, member(t, sources, n_sources, k));
            if (changed) words->changed[sweep % 3] = 1;
            grid_barrier(barrier);
            if (!now(&words->changed[sweep++ % 3])) break;
        }
        for (int64 k = thread; k < members; k += threads) {
            const Member m = member(t, sources, n_sources, k);
            const dual_t stop = delta[m.root];
            if (m.row == NO_MEMBER) {
                if (m.base == stop) atomicMin(&sink[m.root], m.col);
            } else if (stop >= none()) {
                if (m.col == NO_MEMBER) atomicMin(&words->infeasible_row, m.row);
            } else if (is_expanded(t, m) && unassigned_key(t, m) == stop) {
                atomicMin(&sink[m.root], n_cols + m.row);
            }
        }
        grid_barrier(barrier);
        const int64 settled = nanoseconds();
        if (now(&words->infeasible_row) != NO_SINK) return;
        for (int k = thread; k < n_reached; k += threads) {
            const int col = reached[k];
            const dual_t change = dist[col] - delta[root[col]];
            if (change < 0) v[col] += change;
        }
        for (int at = thread; at < n_sources; at += threads) {
            const int row = sources[at];
            if (sink[row] == NO_SINK)
                kept[next_place(&words->n_kept)] = row;
            else
                augment(t, row, sink[row]);
        }
        grid_barrier(barrier);
        const int n_left = now(&words->n_kept);
        round++;
        for (int k = thread; k < n_reached; k += threads) dist[reached[k]] = spread[reached[k]] = none();
        for (int at = thread; at < n_left; at += threads) {
            sources[at] = kept[at];
            plant(t, kept[at], (round & 1) * (int64)n_rows + at, queues, bases);
        }
        if (thread == 0) {
            words->queued[round % 3] = n_left;
            words->queued[(round + 1) % 3] = 0;
            words->n_reached = 0;
            words->searches++;
            const int64 done = nanoseconds();
            words->grow_ns += grown - began, words->settle_ns += settled - grown, words->augment_ns += done - settled;
            began = done;
        }
        n_sources = n_left;
        grid_barrier(barrier);
    }
}
