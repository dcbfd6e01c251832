// The state of the trees that `hungarian_sparse.cu` grows, and the steps of a phase; see there.
#pragma once
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
            if (most < other) most = other;  // but for rounding it never is: the nearest end of all must hold
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
