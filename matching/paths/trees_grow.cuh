// How trees grow in a phase of `paths/trees.cu`; see there.
#pragma once
#include "paths/trees_state.cuh"

// A queued row lowers the distances of its columns. The whole warp takes part; row NO_MEMBER: only that.
__device__ __forceinline__ void relax(const Trees& t, int row, dual_t base, int round) {
    int col = NO_MEMBER, root = row;
    if (row != NO_MEMBER) {
        col = t.col_of_row[row];
        if (col != NO_MEMBER) root = t.label[((round + 1) & 1) * (int64)t.n_rows + parent_row(t.parent[col])];
        if (threadIdx.x % LANES == 0) t.label[(round & 1) * (int64)t.n_rows + row] = root;
        if (col != NO_MEMBER && base >= t.limit[root]) row = NO_MEMBER;
    }
    const dual_t dual = dual_of(t.graph, t.row_bound, t.v, row);
    if (row == NO_MEMBER) return;
    if (threadIdx.x % LANES == 0) {
        t.dual[row] = dual;
        if (col != NO_MEMBER) t.spread[col] = base;
    }
    const int64 first = t.graph.first(row);
    const int degree = t.graph.degree(row);
    for (int e = threadIdx.x % LANES; e < degree; e += LANES) {
        const dual_t value = t.graph.value(first, e, t.v);
        if (value >= none()) continue;
        const int to = t.graph.column(first, e);
        const dual_t through = base + (value - dual);
        if (through >= now(&t.dist[to])) continue;
        const dual_t before = lower(&t.dist[to], through);
        if (before > through) t.lowered[to] = round;
        if (before >= none()) t.reached[next_place(&t.words->n_reached)] = to;
    }
}

// A queued row becomes the parent of the columns that it lowered; their rows are queued.
__device__ __forceinline__ void claim(
    const Trees& t, int row, dual_t base, int round, int* next, dual_t* next_base
) {
    const int col = t.col_of_row[row];
    if (col != NO_MEMBER && t.spread[col] != base) return;
    const dual_t dual = t.dual[row];
    const int root = t.label[(round & 1) * (int64)t.n_rows + row];
    if (threadIdx.x % LANES == 0) {
        const dual_t leaving = unassigned_key(t, Member{row, col, root, base});
        if (leaving < now(&t.limit[root])) lower(&t.limit[root], leaving);
    }
    const int64 first = t.graph.first(row);
    const int degree = t.graph.degree(row);
    for (int e = threadIdx.x % LANES; e < degree; e += LANES) {
        const int to = t.graph.column(first, e);
        if (t.lowered[to] != round) continue;
        const dual_t value = t.graph.value(first, e, t.v);
        if (value >= none() || base + (value - dual) != t.dist[to]) continue;
        const uint64 before = atomicMin(&t.parent[to], parent_key(round, row));
        const int owner = t.row_of_col[to];
        if (owner == NO_MEMBER) {
            if (t.dist[to] < now(&t.limit[root])) lower(&t.limit[root], t.dist[to]);
        } else if (parent_round(before) != round) {
            const int place = next_place(&t.words->queued[(round + 1) % 3]);
            next[place] = owner;
            next_base[place] = t.dist[to];
        }
    }
}
