// The Hungarian method on any graph of costs, sparse above all, whole, in one cooperative launch.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016): trees from all free rows at once, dual update, one path of each tree. The papers' one dual change Δ for all trees
// would cost a search per path where thousands of components grow side by side. Ours: every tree has its own Δ_t and stops at
// the end of its own shortest path, or where it touches a tree that has stopped. `tests/matching/hungarian/sparse_twin.py`
// does the same steps, and finds the same links and duals.
//
// A phase:
//   grow     dist_j = the Δ at which column j enters: shortest paths from all free rows on reduced costs, by rounds over the
//            queued rows (Bellman-Ford). A round first lowers distances, then the smallest row that explains a lowered one
//            becomes the column's parent, and the column's row is queued. Rows beyond an end that their tree knows are not
//            expanded. Where no side has a bound the search goes on in steps of distance, and ends once half of the free rows
//            could have an end. With zeros_first (the classical variant) only pairs of zero slack are followed, for as long as such
//            phases find paths; one that found none is followed by a phase without that limit, its dual update.
//   settle   Δ_t = the largest changes with  Δ_t ≤ dist of t's free columns and its rows' ways to go alone,
//            Δ_t ≤ dist_i of rows that were not expanded, and for a pair from row i of t to column j of another tree s
//            Δ_t ≤ dist_i + slack_ij + max(0, Δ_s - dist_j). They are feasible whatever the search has left out.
//            Where no side has a bound there is one Δ instead, the longest of the roots' paths that the search has come past:
//            it makes all of them tight, and a column may fall and be free.
//   update   columns of t fall by Δ_t - dist_j; each tree with an end at Δ_t exchanges links and non-links along that path,
//            the smallest end first, row i that goes alone being n_cols + i.
// The tree with the nearest end of all is never held back, so every phase without the limit matches a row. A free column has
// dist_j ≥ Δ_t and keeps its dual, hence its bound. Whether an end is reached is a comparison of one number with itself: no
// tolerance. Distances, parents and Δ are minima, so nothing depends on the order of threads.
//
// LANES lanes serve one row. Row duals are min(bound, c - v), taken anew in every expansion. Bytes: the edges of each queued
// row twice a round, and of each row in a tree once per sweep (two to five a phase). Memory: 60 bytes a row, 40 a column.
// Hazards: everything here is written by other blocks, hence no __restrict__; barriers stand between all steps. `label` is
// kept for two rounds, since a parent may be expanded again while its children read it.
// variant: -DLANES=32 -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DLANES=32
// variant: -DDENSE -DLANES=32
// variant: -DDENSE -DLANES=32 -DINTEGER -DCOST=int
#include "auction.cuh"

#ifndef LANES
#define LANES 8
#endif
constexpr int NO_END = 0x7fffffff;
constexpr int SEARCHES_COUNTED = 64;
constexpr int FEW = 4096, MANY = 65536;  // rows that one step of distance should add, no fewer and no more

// Distances are never negative, so their bits order like the numbers.
__device__ __forceinline__ price_t lower(price_t* address, price_t value) {
    const int64 before = atomicMin((int64*)address, *(int64*)&value);
    return *(price_t*)&before;
}
__device__ __forceinline__ void raise(price_t* address, price_t value) { atomicMax((int64*)address, *(int64*)&value); }
__device__ __forceinline__ price_t now(const price_t* address) { return *(volatile const price_t*)address; }
__device__ __forceinline__ int now(const int* address) { return *(volatile const int*)address; }

// Parents of later rounds are smaller, then smaller rows.
__device__ __forceinline__ uint64 parent_key(int round, int row) {
    return ((uint64)(0x7fffffff - round) << 32) | (uint32)row;
}
__device__ __forceinline__ int parent_row(uint64 key) { return (int)(uint32)key; }
__device__ __forceinline__ int parent_round(uint64 key) { return 0x7fffffff - (int)(key >> 32); }

// Signed numbers, real ones too, as integers of the same order.
__device__ __forceinline__ int64 in_order(price_t value) {
    const int64 bits = *(int64*)&value;
#ifdef INTEGER
    return bits;
#else
    return bits ^ ((bits >> 63) & 0x7fffffffffffffffLL);
#endif
}
__device__ __forceinline__ price_t out_of_order(int64 bits) {
#ifndef INTEGER
    bits ^= (bits >> 63) & 0x7fffffffffffffffLL;
#endif
    return *(price_t*)&bits;
}

// The dual of a row: its bound, or its least c - v. NOBODY: none. The whole warp comes.
__device__ __forceinline__ price_t dual_of(const Graph& graph, const price_t* row_bound, const price_t* v, int row) {
    price_t least = row == NOBODY ? none() : row_bound[row];
    const int64 first = row == NOBODY ? 0 : graph.first(row);
    const int degree = row == NOBODY ? 0 : graph.degree(row);
    for (int e = threadIdx.x % LANES; e < degree; e += LANES) {
        const price_t value = graph.value(first, e, v);
        if (value < least) least = value;
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) {
        const price_t there = __shfl_xor_sync(FULL_WARP, least, step);
        least = there < least ? there : least;
    }
    return least;
}

// So many rows that all lanes of a warp have one, or none.
__device__ __forceinline__ int64 whole_warps(int rows) {
    constexpr int rows_of_warp = 32 / LANES;
    return ((int64)rows + rows_of_warp - 1) / rows_of_warp * rows_of_warp;
}

// Algorithm 1, rows; least (columns,), all 2^63 - 1 before: in order, the least c - r of each column.
extern "C" __global__ void __launch_bounds__(512) hungarian_sparse_reduce_rows(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden,
    int width, int block_rows, const price_t* row_bound, const price_t* v, int64* least
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int64 padded = whole_warps(n_rows);
    for (int64 at = global_thread() / LANES; at < padded; at += all_threads() / LANES) {
        const int row = at < n_rows ? (int)at : NOBODY;
        const price_t dual = dual_of(graph, row_bound, v, row);
        if (row == NOBODY || dual >= none()) continue;
        const int64 first = graph.first(row);
        const int degree = graph.degree(row);
        for (int e = threadIdx.x % LANES; e < degree; e += LANES)
            if (graph.cost_of(first, e) < none())
                atomicMin(&least[graph.column(first, e)], in_order(graph.cost_of(first, e) - dual));
    }
}

// Algorithm 1, columns: those without a bound rise until one of their pairs has no slack. One thread a column.
extern "C" __global__ void __launch_bounds__(512) hungarian_sparse_reduce_columns(
    int n_cols, const int64* least, const price_t* col_bound, price_t* v
) {
    for (int col = global_thread(); col < n_cols; col += all_threads())
        if (col_bound[col] >= none() && least[col] != 0x7fffffffffffffffLL) v[col] = out_of_order(least[col]);
}

struct Words {
    int queued[3];   // rows in the queue of a round, by round modulo 3
    int changed[3];  // whether a sweep lowered some Δ, by sweep modulo 3
    int n_reached, n_kept;
    int stuck;  // a free row from which nothing can be reached, NO_END for none
    uint32 barrier;
    int searches, levels, sweeps, limited;  // phases, rounds, and phases among the pairs of zero slack
    int64 rows_scanned, grow_ns, settle_ns, augment_ns;
    price_t beyond, longest;  // least dist of a row that is not expanded; longest of the roots' paths, -1 without
    int n_free;               // free columns that are reached
    int paths[SEARCHES_COUNTED];
};

struct Trees {
    Graph graph;
    int n_rows, n_cols;
    const price_t* row_bound;
    bool is_bounded;
    price_t* v;
    int* col_of_row;
    int* row_of_col;
    // (columns,): Δ at which it enters; key of its parent; round in which dist last fell; dist at which its row was last
    // expanded; root of its tree
    price_t* dist;
    uint64* parent;
    int* lowered;
    price_t* spread;
    int* root;
    int* reached;  // list of columns
    // (rows,): dual of this phase; of roots: the nearest end known, Δ_t, the end of the path; a row's ancestor
    price_t* dual;
    price_t* limit;
    price_t* delta;
    int* end;
    int* up;
    int* label;  // (2 * rows,) root, as it was known in a round, by parity
    Words* words;
};

// A row of a tree: its column (NOBODY: a root), root, and the Δ at which it entered.
struct Member {
    int row, col, root;
    price_t base;
};

// The k-th of the roots and then of the rows whose columns are reached; row NOBODY where a reached column is free.
__device__ __forceinline__ Member member(const Trees& t, const int* sources, int n_sources, int64 k) {
    if (k < n_sources) return Member{sources[k], NOBODY, sources[k], 0};
    const int col = t.reached[k - n_sources];
    return Member{t.row_of_col[col], col, t.root[col], t.dist[col]};
}

__device__ __forceinline__ bool is_expanded(const Trees& t, const Member& m) {
    return m.col == NOBODY || t.spread[m.col] == m.base;
}

// The Δ at which a row goes alone.
__device__ __forceinline__ price_t alone_key(const Trees& t, const Member& m) {
    const price_t bound = t.row_bound[m.row];
    return bound < none() ? m.base + (bound - t.dual[m.row]) : none();
}

// A queued row lowers the distances of its columns. The whole warp comes; row NOBODY: only that.
__device__ __forceinline__ void relax(const Trees& t, int row, price_t base, int round, bool zeros_only) {
    int col = NOBODY, root = row;
    if (row != NOBODY) {
        col = t.col_of_row[row];
        if (col != NOBODY) root = t.label[((round + 1) & 1) * (int64)t.n_rows + parent_row(t.parent[col])];
        if (threadIdx.x % LANES == 0) t.label[(round & 1) * (int64)t.n_rows + row] = root;
        if (col != NOBODY && ((t.is_bounded && base >= t.limit[root]) || (zeros_only && base > 0))) row = NOBODY;
    }
    const price_t dual = dual_of(t.graph, t.row_bound, t.v, row);
    if (row == NOBODY) return;
    if (threadIdx.x % LANES == 0) {
        t.dual[row] = dual;
        if (col != NOBODY) t.spread[col] = base;
    }
    const int64 first = t.graph.first(row);
    const int degree = t.graph.degree(row);
    for (int e = threadIdx.x % LANES; e < degree; e += LANES) {
        const price_t value = t.graph.value(first, e, t.v);
        if (value >= none()) continue;
        const int to = t.graph.column(first, e);
        const price_t through = base + (value - dual);
        if (through >= now(&t.dist[to])) continue;
        const price_t before = lower(&t.dist[to], through);
        if (before > through) t.lowered[to] = round;
        if (before >= none()) t.reached[next_place(&t.words->n_reached)] = to;
    }
}

// A queued row becomes the parent of the columns that it lowered; their rows up to the horizon are queued.
__device__ __forceinline__ void claim(
    const Trees& t, int row, price_t base, price_t horizon, int round, int* next, price_t* next_base
) {
    const int col = t.col_of_row[row];
    if (col != NOBODY && t.spread[col] != base) return;
    const price_t dual = t.dual[row];
    const int root = t.label[(round & 1) * (int64)t.n_rows + row];
    if (t.is_bounded && threadIdx.x % LANES == 0) {
        const price_t alone = alone_key(t, Member{row, col, root, base});
        if (alone < now(&t.limit[root])) lower(&t.limit[root], alone);
    }
    const int64 first = t.graph.first(row);
    const int degree = t.graph.degree(row);
    for (int e = threadIdx.x % LANES; e < degree; e += LANES) {
        const int to = t.graph.column(first, e);
        if (t.lowered[to] != round) continue;
        const price_t value = t.graph.value(first, e, t.v);
        if (value >= none() || base + (value - dual) != t.dist[to]) continue;
        const uint64 before = atomicMin(&t.parent[to], parent_key(round, row));
        const int owner = t.row_of_col[to];
        if (owner == NOBODY) {
            if (t.is_bounded && t.dist[to] < now(&t.limit[root])) lower(&t.limit[root], t.dist[to]);
        } else if (parent_round(before) != round && t.dist[to] <= horizon) {
            const int place = next_place(&t.words->queued[(round + 1) % 3]);
            next[place] = owner;
            next_base[place] = t.dist[to];
        }
    }
}

// Whether the row of a reached column waits behind the horizon.
__device__ __forceinline__ bool waits(const Trees& t, int col, bool zeros_only) {
    return t.row_of_col[col] != NOBODY && t.spread[col] != t.dist[col] && !(zeros_only && t.dist[col] > 0);
}

// Queues the rows of the next step; returns false when there are none, or when half of the free rows could have an end.
__device__ __forceinline__ bool go_on(
    const Trees& t, int n_sources, bool zeros_only, price_t& step, price_t& horizon, int round, int* queue, price_t* bases,
    int thread, int threads
) {
    Words* const words = t.words;
    const int n_reached = now(&words->n_reached);
    price_t least = none();
    int n_free = 0;
    for (int k = thread; k < n_reached; k += threads) {
        const int col = t.reached[k];
        if (t.row_of_col[col] == NOBODY) n_free++;
        if (waits(t, col, zeros_only) && t.dist[col] < least) least = t.dist[col];
    }
    if (n_free > 0) atomicAdd(&words->n_free, n_free);
    if (least < none()) lower(&words->beyond, least);
    grid_barrier(&words->barrier);
    least = now(&words->beyond);
    if (least >= none() || 2 * (int64)now(&words->n_free) >= n_sources) return false;
    horizon = least + step;
    for (int k = thread; k < n_reached; k += threads) {
        const int col = t.reached[k];
        if (!waits(t, col, zeros_only) || t.dist[col] > horizon) continue;
        const int place = next_place(&words->queued[round % 3]);
        queue[place] = t.row_of_col[col];
        bases[place] = t.dist[col];
    }
    grid_barrier(&words->barrier);
    const int size = now(&words->queued[round % 3]);
    if (size < FEW && step < none() / 4) step *= 2;
#ifdef INTEGER
    if (size > MANY && step > 1) step /= 2;
#else
    if (size > MANY) step /= 2;
#endif
    return true;
}

// Finds the root of every reached column, and holds each Δ_t below its tree's ends and rows that were not expanded.
__device__ __forceinline__ void find_roots(const Trees& t, const int* sources, int n_sources, int n_reached, int thread, int threads) {
    for (int k = thread; k < n_reached; k += threads) {
        const int row = t.row_of_col[t.reached[k]];
        if (row != NOBODY) t.up[row] = parent_row(t.parent[t.reached[k]]);
    }
    grid_barrier(&t.words->barrier);
    for (int64 k = thread; k < (int64)n_sources + n_reached; k += threads) {
        if (k < n_sources) {
            const Member m = member(t, sources, n_sources, k);
            lower(&t.delta[m.root], alone_key(t, m));
            continue;
        }
        const int col = t.reached[k - n_sources];
        int root = parent_row(t.parent[col]);
        for (int above = now(&t.up[root]); above != root; above = now(&t.up[root])) root = above;
        t.root[col] = root;
        const Member m = member(t, sources, n_sources, k);
        if (m.row != NOBODY) *(volatile int*)&t.up[m.row] = root;  // a shorter way for others, to the same root
        const bool ends = m.row == NOBODY, waiting = !ends && !is_expanded(t, m);
        if (t.is_bounded)
            lower(&t.delta[root], ends || waiting ? m.base : alone_key(t, m));
        else if (ends)
            lower(&t.limit[root], m.base);
        else if (waiting)
            lower(&t.words->beyond, m.base);
    }
    grid_barrier(&t.words->barrier);
}

// Lowers Δ of a row's tree until its pairs with other trees stay feasible; returns whether it had to.
__device__ __forceinline__ bool hold_back(const Trees& t, const Member& m) {
    if (m.row == NOBODY || m.base >= now(&t.delta[m.root])) return false;
    bool changed = false;
    const price_t dual = t.dual[m.row];
    const int64 first = t.graph.first(m.row);
    const int degree = t.graph.degree(m.row);
    for (int e = threadIdx.x % LANES; e < degree; e += LANES) {
        const price_t value = t.graph.value(first, e, t.v);
        if (value >= none()) continue;
        const int to = t.graph.column(first, e);
        price_t most = m.base + (value - dual);
        if (most >= now(&t.delta[m.root])) continue;
        const price_t dist = t.dist[to];
        if (dist < none()) {
            if (t.root[to] == m.root) continue;
            const price_t other = now(&t.delta[t.root[to]]);
            if (other >= none()) continue;
            if (other > dist) most += other - dist;
        }
        if (most < lower(&t.delta[m.root], most)) changed = true;
    }
    return changed;
}

// One Δ for all trees: the longest of the roots' paths, no more than what the search has come past.
__device__ __forceinline__ void take_longest(const Trees& t, const int* sources, int n_sources, int thread, int threads) {
    for (int at = thread; at < n_sources; at += threads)
        if (t.limit[sources[at]] < none()) raise(&t.words->longest, t.limit[sources[at]]);
    grid_barrier(&t.words->barrier);
    const price_t longest = now(&t.words->longest), beyond = now(&t.words->beyond);
    for (int at = thread; at < n_sources; at += threads)
        t.delta[sources[at]] = longest < 0 || beyond < longest ? beyond : longest;
    grid_barrier(&t.words->barrier);
}

// Carries the path of a root out; `end` is a column, or n_cols + a row that goes alone.
__device__ __forceinline__ void augment(const Trees& t, int root, int end) {
    int col = end;
    if (end >= t.n_cols) {
        const int alone = end - t.n_cols;
        col = t.col_of_row[alone];
        t.col_of_row[alone] = NOBODY;
        if (alone == root) return;
    }
    while (true) {
        const int row = parent_row(t.parent[col]);
        const int before = t.col_of_row[row];
        t.col_of_row[row] = col;
        t.row_of_col[col] = row;
        if (row == root) return;
        col = before;
    }
}

// Makes a free row a root, in the queue of `round`.
__device__ __forceinline__ void plant(const Trees& t, int row, int64 at, int* queue, price_t* bases) {
    queue[at] = row;
    bases[at] = 0;
    t.limit[row] = t.delta[row] = none();
    t.end[row] = NO_END;
    t.up[row] = row;
}

// sources: (rows,) the free rows, n_sources of them; kept, queues, bases: (rows,), two halves of (rows,). dist, spread:
// `none()` before; lowered: -1; parent: all ones; words: zero, stuck NO_END.
extern "C" __global__ void __launch_bounds__(512) hungarian_sparse(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden,
    int width, int block_rows, const price_t* row_bound, price_t* v, int* col_of_row, int* row_of_col, price_t* dist,
    uint64* parent, int* lowered, price_t* spread, int* root, int* reached, price_t* dual, price_t* limit, price_t* delta,
    int* end, int* up, int* label, Words* words, int* sources, int n_sources, int* kept, int* queues, price_t* bases,
    int zeros_first, int is_bounded, price_t step
) {
    const Trees t{Graph{indptr, indices, cost, forbidden, width, block_rows},
                  n_rows, n_cols, row_bound, (bool)is_bounded, v, col_of_row, row_of_col, dist, parent, lowered, spread, root, reached,
                  dual, limit, delta, end, up, label, words};
    const int thread = dealt_thread(), threads = all_threads();
    uint32* const barrier = &words->barrier;
    int round = 0, sweep = 0;
    bool zeros_only = zeros_first;
    int64 began = nanoseconds();
    for (int at = thread; at < n_sources; at += threads) plant(t, sources[at], at, queues, bases);
    if (thread == 0) words->queued[0] = n_sources, words->beyond = none(), words->longest = -1;
    grid_barrier(barrier);
    while (n_sources > 0) {
        price_t horizon = is_bounded ? none() : step;
        while (true) {
            const int64 here = (round & 1) * (int64)n_rows, there = ((round + 1) & 1) * (int64)n_rows;
            int size = now(&words->queued[round % 3]);
            if (size == 0) {
                if (is_bounded || !go_on(t, n_sources, zeros_only, step, horizon, round, queues + here, bases + here, thread, threads))
                    break;
                size = now(&words->queued[round % 3]);
            }
            if (thread == 0) {
                words->queued[(round + 2) % 3] = 0;
                words->n_free = 0;
                words->beyond = none();
                words->levels++;
                words->rows_scanned += size;
            }
            const int64 padded = whole_warps(size);
            for (int64 at = thread / LANES; at < padded; at += threads / LANES) {
                const bool busy = at < size;
                relax(t, busy ? queues[here + at] : NOBODY, busy ? bases[here + at] : 0, round, zeros_only);
            }
            grid_barrier(barrier);
            for (int64 at = thread / LANES; at < size; at += threads / LANES)
                claim(t, queues[here + at], bases[here + at], horizon, round, queues + there, bases + there);
            grid_barrier(barrier);
            round++;
        }
        const int n_reached = now(&words->n_reached);
        const int64 members = (int64)n_sources + n_reached;
        const int64 grown = nanoseconds();
        if (thread == 0) words->n_kept = 0;
        find_roots(t, sources, n_sources, n_reached, thread, threads);
        if (!is_bounded) take_longest(t, sources, n_sources, thread, threads);
        while (is_bounded) {
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
            const price_t stop = delta[m.root];
            if (m.row == NOBODY) {
                if (is_bounded ? m.base == stop : m.base <= stop && m.base == limit[m.root]) atomicMin(&end[m.root], m.col);
            } else if (stop >= none()) {
                if (m.col == NOBODY) atomicMin(&words->stuck, m.row);
            } else if (is_expanded(t, m) && alone_key(t, m) == stop) {
                atomicMin(&end[m.root], n_cols + m.row);
            }
        }
        grid_barrier(barrier);
        const int64 settled = nanoseconds();
        if (now(&words->stuck) != NO_END) return;
        for (int k = thread; k < n_reached; k += threads) {
            const int col = reached[k];
            const price_t change = dist[col] - delta[root[col]];
            if (change < 0) v[col] += change;
        }
        for (int at = thread; at < n_sources; at += threads) {
            const int row = sources[at];
            if (end[row] == NO_END)
                kept[next_place(&words->n_kept)] = row;
            else
                augment(t, row, end[row]);
        }
        grid_barrier(barrier);
        const int n_left = now(&words->n_kept), paths = n_sources - n_left;
        round++;
        for (int k = thread; k < n_reached; k += threads) dist[reached[k]] = spread[reached[k]] = none();
        for (int at = thread; at < n_left; at += threads) {
            sources[at] = kept[at];
            plant(t, kept[at], (round & 1) * (int64)n_rows + at, queues, bases);
        }
        if (thread == 0) {
            words->queued[round % 3] = n_left;
            words->queued[(round + 1) % 3] = 0;
            words->n_reached = words->n_free = 0;
            words->beyond = none(), words->longest = -1;
            if (words->searches < SEARCHES_COUNTED) words->paths[words->searches] = paths;
            words->searches++;
            words->limited += zeros_only;
            const int64 done = nanoseconds();
            words->grow_ns += grown - began, words->settle_ns += settled - grown, words->augment_ns += done - settled;
            began = done;
        }
        n_sources = n_left;
        zeros_only = zeros_first && paths > 0;
        grid_barrier(barrier);
    }
}
