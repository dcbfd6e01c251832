// A maximum matching on the pairs of zero slack of a stage: phases of disjoint trees, a path of each.
//
// All free rows are roots; a column that several rows of one level reach goes to the one with the smallest hash of the pair
// (equal costs then spread over the rows), and a tree with an end does not grow further.
#pragma once
#include "hungarian_nearest_ends.cuh"

#ifndef FEW_COLUMNS
#define FEW_COLUMNS 256  // columns of a level, likewise
#endif
constexpr int LEVEL_BITS = 18, HASH_BITS = 22, ROW_BITS = 24;
static_assert(LEVEL_BITS + HASH_BITS + ROW_BITS == 64, "a claim is one word");

__device__ __forceinline__ uint64 claim_of(int level, int row, int col) {
    uint32 hash = (uint32)row * 0x9E3779B1u ^ (uint32)col * 0x85EBCA77u;
    hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
    hash = (hash ^ hash >> 13) >> (32 - HASH_BITS);
    return (uint64)level << (HASH_BITS + ROW_BITS) | (uint64)hash << ROW_BITS | (uint32)row;
}
__device__ __forceinline__ int level_of(uint64 claim) { return (int)(claim >> (HASH_BITS + ROW_BITS)); }
__device__ __forceinline__ int row_of(uint64 claim) { return (int)(claim & ((1u << ROW_BITS) - 1)); }

__device__ __forceinline__ void end_path(const Solve& s, int root, int level, int end) {
    atomicMin((unsigned long long*)&s.ends[root], (uint64)level << 32 | (uint32)end);
}

// How many zeros a row has, and this lane's first of them: read before it is known whether they are needed.
struct Zeros {
    int found, first;

    __device__ __forceinline__ void read(const Solve& s, int i, int mine) {
        found = s.n_zeros[i], first = s.zeros[(int64)i * ZEROS + mine];
    }
};

// A row of level `level` claims its columns of zero slack. `lanes` threads.
__device__ __forceinline__ void claim_columns(const Solve& s, uint64* claims, price_t delta, int i, int root, int level, int mine, int lanes,
                                              const Zeros& zeros, Shared& shared, int2* next, int* n_next) {
    const int found = zeros.found;
    const Row row = peek(&s.rows[i]);
    const bool whole = found > ZEROS && is_short(row, row.entered, delta);
    const price_t far = s.ends_bound ? way_of(&s.row_far[i]) : none();
    const int length = found <= ZEROS ? found : whole ? s.costs.n_cols : row.listed;
    for (int e = mine; e < length; e += lanes) {
        int j;
        price_t slack = 0;
        if (found <= ZEROS) j = e == mine ? zeros.first : s.zeros[(int64)i * ZEROS + e];
        else if (!is_zero(s, i, row, row.entered, delta, whole, e, j, slack)) continue;
        if (s.ends_bound) {
            if (found <= ZEROS) slack = s.slacks[(int64)i * ZEROS + e];
            if (slack + way_of(&s.far[j]) != far) continue;
        }
        const uint64 claim = claim_of(level + 1, i, j);
        const uint64 before = atomicMin((unsigned long long*)&claims[j], claim);
        if (level_of(before) > level + 1) shared.gathered.add(make_int2(j, 0), next, n_next);
    }
    if (s.row_bound != nullptr && mine == 0 && far < none() && way_alone(s, i, row) == far)
        end_path(s, root, level, s.costs.n_cols + i);
}

// Exchanges links and non-links along the path to `end`.
__device__ __forceinline__ void carry_out(const Solve& s, const uint64* claims, int end) {
    int col = end;
    if (end >= s.costs.n_cols) {
        Row* const row = &s.rows[end - s.costs.n_cols];
        col = peek(&row->col);
        poke(&row->col, WENT_ALONE);
    }
    while (col >= 0) {
        const int i = row_of(peek(&claims[col]));
        const int before = peek(&s.rows[i].col);
        poke(&s.rows[i].col, col);
        poke(&s.columns[col].row, i);
        col = before;
    }
}

// One level of the trees: free rows, or the columns that were claimed last with the rows they are matched with. All threads of
// the team come.
__device__ __forceinline__ void grow(const Solve& s, const Team& team, uint64* claims, const int* free_rows, price_t delta, int level,
                                     int round, int n, Shared& shared) {
    if (team.speaks()) s.counts->queue[(round + 2) % SLOTS] = 0;
    const int2* const queue = s.queue + (round & 1) * s.queue_length;
    int2* const next = s.queue + (~round & 1) * s.queue_length;
    int* const n_next = &s.counts->queue[(round + 1) % SLOTS];
    int lanes = 32;
    while (lanes > 4 && (int64)n * lanes > team.threads) lanes /= 2;
    for (int q = team.thread / lanes; q < n; q += team.threads / lanes) {
        const int mine = threadIdx.x % lanes;
        if (level == 0) {
            const int i = free_rows[q];
            if (s.ends_bound && !has_end(s, i, delta)) continue;
            if (mine == 0) poke(&s.roots[i], i);
            Zeros zeros;
            zeros.read(s, i, mine);
            claim_columns(s, claims, delta, i, i, 0, mine, lanes, zeros, shared, next, n_next);
            continue;
        }
        const int j = queue[q].x;
        const uint64 claim = peek(&claims[j]);
        const int i = peek(&s.columns[j].row);
        Zeros zeros;
        if (i >= 0) zeros.read(s, i, mine);
        const int root = peek(&s.roots[row_of(claim)]);
        if (i < 0) {
            if (mine == 0) end_path(s, root, level, j);
            continue;
        }
        if (mine == 0) poke(&s.roots[i], root);
        if ((uint32)(peek(&s.ends[root]) >> 32) < (uint32)level) continue;
        claim_columns(s, claims, delta, i, root, level, mine, lanes, zeros, shared, next, n_next);
    }
    shared.gathered.flush(next, n_next);
}

// Trees from all free rows along pairs of zero slack, level by level until nothing is claimed. All threads of the team come.
__device__ __forceinline__ void grow_trees(const Solve& s, const Team& team, uint64* claims, const int* free_rows, int n_free, price_t delta,
                           Shared& shared, Progress& progress) {
    const int first = progress.round;
    int n = n_free;
    while (n > 0) {
        if (team.is_grid && n <= FEW_COLUMNS) {
            const int round = progress.round;
            if (blockIdx.x == 0) {
                while (0 < n && n <= FEW_COLUMNS && progress.round - round < ALONE_ROUNDS) {
                    grow(s, the_block(), claims, free_rows, delta, progress.round - first, progress.round, n, shared);
                    __syncthreads();
                    progress.round += 1;
                    n = peek(&s.counts->queue[progress.round % SLOTS]);
                    __syncthreads();
                }
                if (threadIdx.x == 0) s.counts->alone[round % SLOTS] = progress.round;
            }
            team.meet(s.counts);
            progress.round = heard(&s.counts->alone[round % SLOTS], shared);
        } else {
            grow(s, team, claims, free_rows, delta, progress.round - first, progress.round, n, shared);
            team.meet(s.counts);
            progress.round += 1;
        }
        n = heard(&s.counts->queue[progress.round % SLOTS], shared);
    }
    progress.levels += progress.round - first;
}

// One phase: trees, then a path of each. All threads of the team come. Returns how many paths.
__device__ __forceinline__ int augment(const Solve& s, const Team& team, price_t delta, Shared& shared, Progress& progress) {
    const int now = progress.phases & 1, then = ~progress.phases & 1;
    uint64* const claims = s.claims + (int64)now * s.costs.n_cols;
    uint64* const other_claims = s.claims + (int64)then * s.costs.n_cols;
    const int* const free_rows = s.free_rows + (int64)now * s.costs.n_rows;
    int* const next_free = s.free_rows + (int64)then * s.costs.n_rows;
    const int n_free = heard(&s.counts->free_rows[now], shared);
    grow_trees(s, team, claims, free_rows, n_free, delta, shared, progress);
    for (int j = team.thread; j < s.costs.n_cols; j += team.threads) other_claims[j] = NOTHING;
    for (int q = team.thread; q < n_free; q += team.threads) {
        const int i = free_rows[q];
        const uint64 end = peek(&s.ends[i]);
        if (end == NOTHING) {
            next_free[next_place(&s.counts->free_rows[then])] = i;
        } else {
            s.ends[i] = NOTHING;
            carry_out(s, claims, (int)(uint32)end);
        }
    }
    team.meet(s.counts);
    const int paths = n_free - heard(&s.counts->free_rows[then], shared);
    if (team.speaks()) s.counts->free_rows[now] = 0;
    progress.phases += 1;
    return paths;
}

// A maximum matching on the pairs of zero slack; returns how many rows it matched. All threads of the team.
__device__ __forceinline__ int match_on_zeros(const Solve& s, const Team& team, price_t delta, Shared& shared, Progress& progress) {
    int matched = 0, paths = 1;
    while (paths > 0 && heard(&s.counts->free_rows[progress.phases & 1], shared) > 0) {
        paths = augment(s, team, delta, shared, progress);
        matched += paths;
    }
    return matched;
}
