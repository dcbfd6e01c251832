// The search of a stage: key j is the dual change Δ at which the slack of column j is zero, the shortest way to it from any
// free row. Rows whose key fell tell their columns so, round by round, until nothing changes; the keys that come out do not
// depend on the order. Then Δ: the key that three of four free rows could have an end within.
#pragma once
#include "hungarian_solve.cuh"

#ifndef FEW_ROWS
#define FEW_ROWS 64  // rows of a round that one block scans by itself, without meeting the others
#endif

// Lowers a column's key; queues its row if that row was not queued in this round.
__device__ __forceinline__ void lower(const Solve& s, int j, price_t c, const Row& row, price_t entered, int round, Shared& shared,
                                      int2* next, int* n_next) {
    const Column column = peek(&s.columns[j]);
    const price_t key = key_of(entered, c, column.v, row.r);
    const uint64 bits = bits_of(key);
    if (bits >= column.key) return;
    if (atomicMin((unsigned long long*)&s.columns[j].key, bits) <= bits) return;
    if (column.row >= 0 && atomicExch(&s.stamp[column.row], round) != round)
        shared.gathered.add(make_int2(column.row, j), next, n_next);
}

__device__ __forceinline__ price_t entered_at(const Solve& s, int col) {
    return col < 0 ? price_t(0) : price_of(peek(&s.columns[col].key));
}

// A row tells the columns on its list. `threads` threads, of which this is number `mine`.
__device__ __forceinline__ void scan_list(const Solve& s, int i, const Row& row, price_t entered, int mine, int threads, int round,
                                          Shared& shared, int2* next, int* n_next) {
    const int64 first = s.lists.first(i);
    for (int e = mine; e < row.listed; e += threads)
        lower(s, s.lists.cols[first + e], (price_t)s.lists.costs[first + e], row, entered, round, shared, next, n_next);
}

// A row tells all columns. All threads of the block.
__device__ __forceinline__ void scan_whole(const Solve& s, int i, const Row& row, price_t entered, int round, Shared& shared, int2* next,
                                           int* n_next) {
    const int64 first = s.costs.first(i);
#pragma unroll 4
    for (int j = threadIdx.x; j < s.costs.n_cols; j += blockDim.x) {
        const price_t c = s.costs.of(first + j);
        if (c < none()) lower(s, j, c, row, entered, round, shared, next, n_next);
    }
}

// One round: the rows of a queue tell their columns. All threads of the team come.
__device__ __forceinline__ void scan_queue(const Solve& s, const Team& team, int round, int n, Shared& shared) {
    if (team.speaks()) s.counts->queue[(round + 2) % 3] = 0;
    const int2* const queue = s.queue + (round & 1) * s.queue_length;
    int2* const next = s.queue + (~round & 1) * s.queue_length;
    int* const n_next = &s.counts->queue[(round + 1) % 3];
    for (int q = team.warp(); q < n; q += team.warps()) {
        const int2 item = queue[q];
        const Row row = peek(&s.rows[item.x]);
        scan_list(s, item.x, row, entered_at(s, item.y), lane(), 32, round + 1, shared, next, n_next);
    }
    shared.gathered.flush(next, n_next);
}

// Rounds until no key falls, from the queue of round `progress.round`. All threads of the team come.
__device__ __forceinline__ void search(const Solve& s, const Team& team, Shared& shared, Progress& progress) {
    while (true) {
        int n = peek(&s.counts->queue[progress.round % 3]);
        if (n == 0) return;
        if (team.is_grid && n <= FEW_ROWS) {
            const int round = progress.round;
            if (blockIdx.x == 0) {
                while (0 < n && n <= FEW_ROWS) {
                    scan_queue(s, the_block(), progress.round, n, shared);
                    __syncthreads();
                    progress.rows_scanned += n, progress.round += 1;
                    n = peek(&s.counts->queue[progress.round % 3]);
                    __syncthreads();
                }
                if (threadIdx.x == 0) s.counts->round = progress.round;
            }
            team.meet(s.counts);
            progress.round = peek(&s.counts->round);
            progress.rounds += progress.round - round;
        } else {
            scan_queue(s, team, progress.round, n, shared);
            team.meet(s.counts);
            progress.rows_scanned += n, progress.rounds += 1, progress.round += 1;
        }
    }
}

// The way of a free row to staying alone; `none` if it may not.
__device__ __forceinline__ price_t way_alone(const Solve& s, int i, const Row& row) {
    if (s.row_bound == nullptr || s.row_bound[i] >= none()) return none();
    return key_of(price_t(0), s.row_bound[i], price_t(0), row.r);
}

// Calls `take` with every end that counts: the keys of the free columns, and the free rows' ways to staying alone.
template <typename Take>
__device__ __forceinline__ void for_ends(const Solve& s, const int* free_rows, int n_free, Take take) {
    for (int j = threadIdx.x; j < s.costs.n_cols; j += blockDim.x) {
        const Column column = peek(&s.columns[j]);
        if (column.row < 0 && column.key < bits_of(none())) take(column.key);
    }
    if (s.row_bound == nullptr) return;
    for (int q = threadIdx.x; q < n_free; q += blockDim.x) {
        const price_t way = way_alone(s, free_rows[q], peek(&s.rows[free_rows[q]]));
        if (way < none()) take(bits_of(way));
    }
}

// The key that three ends are within for every four free rows, or all are that can be reached; `none` without one.
// All threads of one block.
__device__ __forceinline__ price_t most_ends(const Solve& s, const int* free_rows, int n_free, Shared& shared) {
    if (threadIdx.x == 0) shared.n = 0;
    __syncthreads();
    uint64 least = NOTHING, most = 0;
    for_ends(s, free_rows, n_free, [&](uint64 key) {
        least = min(least, key), most = max(most, key);
        const int place = next_place(&shared.n);
        if (place < VALUES) shared.values[place] = price_of(key);
    });
    for (int step = 16; step > 0; step /= 2) {
        least = min(least, __shfl_xor_sync(FULL_WARP, least, step));
        most = max(most, __shfl_xor_sync(FULL_WARP, most, step));
    }
    if (lane() == 0) shared.least[threadIdx.x / 32] = least, shared.most[threadIdx.x / 32] = most;
    __syncthreads();
    const int n = shared.n;
    if (n == 0) return none();
    for (int w = 0; w < (int)blockDim.x / 32; ++w) least = min(least, shared.least[w]), most = max(most, shared.most[w]);
    const int wanted = min(n, (int)((int64)n_free * 3 / 4) + 1);
    while (least < most) {
        const uint64 middle = least + (most - least) / 2;
        int within = 0;
        if (n <= VALUES)
            for (int k = threadIdx.x; k < n; k += blockDim.x) within += bits_of(shared.values[k]) <= middle;
        else
            for_ends(s, free_rows, n_free, [&](uint64 key) { within += key <= middle; });
        for (int step = 16; step > 0; step /= 2) within += __shfl_xor_sync(FULL_WARP, within, step);
        if (lane() == 0) shared.sums[threadIdx.x / 32] = within;
        __syncthreads();
        within = 0;
        for (int w = 0; w < (int)blockDim.x / 32; ++w) within += shared.sums[w];
        if (within >= wanted) most = middle;
        else least = middle + 1;
        __syncthreads();
    }
    return price_of(least);
}
