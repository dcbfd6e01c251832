// A maximum matching on the pairs of zero slack of a dual phase: phases of disjoint trees, a path of each.
//
// All free rows are roots. Levels of few columns are one block's (hungarian/few_columns.cuh), the others the whole group's.
#pragma once
#include "hungarian/few_columns.cuh"

#ifndef FEW_COLUMNS
#define FEW_COLUMNS (OFFERS / 2)  // columns of a level that one block takes over by itself
#endif
#ifndef MOST_HEAVY
#define MOST_HEAVY 2  // rows of a level with more than ZEROS pairs of zero slack, above which all blocks take the levels that follow
#endif
constexpr int HEAVY_LANES = 1024;  // threads of all blocks that share such a row, at most
static_assert(FEW_COLUMNS <= OFFERS, "a level that one block takes over fits");

// Exchanges matched edges and other edges along the path to `sink`.
__device__ __forceinline__ void augment_path(const Solve& s, int sink) {
    int col = sink;
    if (sink >= s.costs.n_cols) {
        Row* const row = &s.rows[sink - s.costs.n_cols];
        col = peek(&row->col);
        poke(&row->col, LEFT_UNASSIGNED);
    }
    while (col >= 0) {
        const uint64 step = peek((const uint64*)&s.steps[col]);
        const int i = (int)(uint32)step;
        poke(&s.rows[i].col, col);
        poke(&s.columns[col].row, i);
        col = (int)(uint32)(step >> 32);
    }
}

// One level of the trees: free rows, or the columns that were claimed last with the rows they are matched with. All threads of
// the group take part.
__device__ __forceinline__ void grow(const Solve& s, const Group& group, const int* free_rows, dual_t delta, int level, int round, int n,
                                     int most_lanes, Shared& shared) {
    if (group.leads()) s.counts->queue[(round + 2) % SLOTS] = 0;
    const int2* const queue = s.queue + (round & 1) * s.queue_length;
    int2* const next = s.queue + (~round & 1) * s.queue_length;
    int* const n_next = &s.counts->queue[(round + 1) % SLOTS];
    const auto take = [&](int j, uint64 claim) {
        const uint64 before = atomicMin((unsigned long long*)&s.claims[j], claim);
        if (level_of(before) > level + 1) shared.gathered.add(make_int2(j, 0), next, n_next);
    };
    int lanes = most_lanes;
    while (lanes > 4 && (int64)n * lanes > group.threads) lanes /= 2;
    const int mine = group.thread % lanes, place = min(mine, s.most_zeros - 1);
    for (int q = group.thread / lanes; q < n; q += group.threads / lanes) {
        if (level == 0) {
            const int i = free_rows[q];
            if (s.is_bounded && !has_sink(s, i, delta)) continue;
            if (mine == 0) poke(&s.roots[i], i);
            Zeros zeros;
            zeros.read(s, i, place);
            claim_columns(s, delta, i, i, 0, mine, lanes, zeros, take);
            continue;
        }
        const int j = queue[q].x;
        const int row = row_of(peek(&s.claims[j])), i = peek(&s.columns[j].row);
        Zeros zeros;
        if (i >= 0) zeros.read(s, i, place);
        const int root = peek(&s.roots[row]), from = peek(&s.rows[row].col);
        if (mine == 0) note_step(s, j, row, from);
        if (i < 0) {
            if (mine == 0) note_sink(s, root, level, j);
            continue;
        }
        if (mine == 0) poke(&s.roots[i], root);
        if (has_sink_before(peek(&s.sinks[root]), level)) continue;
        claim_columns(s, delta, i, root, level, mine, lanes, zeros, take);
    }
    shared.gathered.flush(next, n_next);
}

// Trees from all free rows along pairs of zero slack, level by level until nothing is claimed. All threads of the group take part.
__device__ __forceinline__ void grow_trees(const Solve& s, const Group& group, const int* free_rows, int n_free, dual_t delta,
                                           Shared& shared, Progress& progress) {
    int n = n_free, level = 0;
    bool heavy = false;
    while (n > 0) {
        const int round = progress.round;
        if (n <= (heavy ? MOST_HEAVY : FEW_COLUMNS)) {
            const int most_heavy = group.is_grid ? MOST_HEAVY : OFFERS;
            if (!group.is_grid || blockIdx.x == 0) grow_few(s, free_rows, delta, level, round, n, most_heavy, shared);
            group.sync(s.counts);
            const int ended = broadcast(&s.counts->by_one_block[round % SLOTS], shared);
            level = ended >> 1;
            heavy = heavy || (ended & 1);
        } else {
            grow(s, group, free_rows, delta, level, round, n, heavy ? HEAVY_LANES : 32, shared);
            group.sync(s.counts);
            level += 1;
        }
        progress.round += 1;
        n = broadcast(&s.counts->queue[progress.round % SLOTS], shared);
    }
    progress.levels += level;
}

// One phase: trees, then a path of each. All threads of the group take part. Returns how many paths.
__device__ __forceinline__ int augment(const Solve& s, const Group& group, dual_t delta, Shared& shared, Progress& progress) {
    const int now = progress.phases & 1, then = ~progress.phases & 1;
    const int* const free_rows = s.free_rows + (int64)now * s.costs.n_rows;
    int* const next_free = s.free_rows + (int64)then * s.costs.n_rows;
    const int n_free = broadcast(&s.counts->free_rows[now], shared);
    grow_trees(s, group, free_rows, n_free, delta, shared, progress);
    for (int j = group.thread; j < s.costs.n_cols; j += group.threads) s.claims[j] = NOTHING;
    for (int q = group.thread; q < n_free; q += group.threads) {
        const int i = free_rows[q];
        const uint64 sink = peek(&s.sinks[i]);
        if (sink == NOTHING) {
            next_free[next_place(&s.counts->free_rows[then])] = i;
        } else {
            s.sinks[i] = NOTHING;
            augment_path(s, (int)(uint32)sink);
        }
    }
    group.sync(s.counts);
    const int paths = n_free - broadcast(&s.counts->free_rows[then], shared);
    if (group.leads()) s.counts->free_rows[now] = 0;
    progress.phases += 1;
    return paths;
}

// A maximum matching on the pairs of zero slack. All threads of the group.
__device__ __forceinline__ void match_on_zeros(const Solve& s, const Group& group, dual_t delta, Shared& shared, Progress& progress) {
    while (broadcast(&s.counts->free_rows[progress.phases & 1], shared) > 0 && augment(s, group, delta, shared, progress) > 0) {
    }
}
