// The search of a dual phase: key j is the dual change Δ at which the slack of column j is zero, the shortest path to it from any
// free row. Rows whose key fell lower those of their columns, round by round, until nothing changes; the keys that result do not
// depend on the order. Then Δ: the key that three of four free rows could have a sink within.
//
// Rows above a limit wait, LIMIT times the last Δ: nearly always Δ is below it, and half of the rows need not be looked at. Else
// the limit is lifted and the search goes on, which hardly takes more rounds than one without.
#pragma once
#include "hungarian/chains.cuh"

#ifndef FEW_ROWS
#define FEW_ROWS 64  // rows of a round that one block scans by itself, without waiting for the others, where their lists are short
#endif

#ifndef MOST_PARTS
#define MOST_PARTS 16  // warps that share a long list where there are more warps than rows
#endif
constexpr int PART = 64;  // pairs that a warp reads before it knows how long the list is

constexpr dual_t BEYOND = -1;  // instead of a Δ above the limit

// Where what a round finds goes: rows whose keys fell, once each, to the queue of round `round`; those above `limit` wait.
struct Found {
    int round;
    uint64 limit;
    int2* queue;
    int* n;
};
__device__ __forceinline__ Found found_for(const Solve& s, int round, uint64 limit) {
    return Found{round, limit, s.queue + (round & 1) * s.queue_length, &s.counts->queue[round % SLOTS]};
}

// Lowers the keys of N columns to what is offered; queues each one's row. Nothing waits to know whether a key fell: where it did
// not, another offer of this round made it fall.
template <int N>
__device__ __forceinline__ void lower_to(const Solve& s, const int (&j)[N], const Column (&column)[N], const uint64 (&offered)[N],
                                         const Found& found, Shared& shared) {
    int queued[N];
#pragma unroll
    for (int k = 0; k < N; ++k) {
        queued[k] = found.round;
        if (offered[k] >= column[k].key) continue;
        atomicMin((unsigned long long*)&s.columns[j[k]].key, offered[k]);
        if (column[k].row >= 0 && offered[k] <= found.limit) queued[k] = atomicExch(&s.stamp[column[k].row], found.round);
    }
#pragma unroll
    for (int k = 0; k < N; ++k)
        if (queued[k] != found.round) shared.gathered.add(make_int2(column[k].row, j[k]), found.queue, found.n);
}
__device__ __forceinline__ void lower(const Solve& s, int j, dual_t c, const Row& row, dual_t entered, const Found& found, Shared& shared) {
    const int one[1] = {j};
    const Column column[1] = {peek(&s.columns[j])};
    const uint64 offered[1] = {bits_of(key_of(entered, c, column[0].v, row.r))};
    lower_to<1>(s, one, column, offered, found, shared);
}

__device__ __forceinline__ dual_t entered_at(const Solve& s, int col) {
    return col < 0 ? dual_t(0) : from_bits(peek(&s.columns[col].key));
}

// A row lowers the keys of the columns on its list, from number `mine` on every `threads`-th, three of which do not wait for each other.
__device__ __forceinline__ void scan_list(const Solve& s, int i, const Row& row, dual_t entered, int mine, int threads,
                                          const Found& found, Shared& shared) {
    const int64 first = s.lists.first(i);
    for (int e = mine; e < row.listed; e += 3 * threads) {
        int j[3];
        dual_t c[3];
        Column column[3];
        uint64 offered[3];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            const bool there = e + k * threads < row.listed;
            j[k] = there ? s.lists.cols[first + e + k * threads] : NO_MEMBER;
            c[k] = there ? (dual_t)s.lists.costs[first + e + k * threads] : dual_t(0);
        }
#pragma unroll
        for (int k = 0; k < 3; ++k) column[k] = j[k] >= 0 ? peek(&s.columns[j[k]]) : Column{0, dual_t(0), FREE, 0};
#pragma unroll
        for (int k = 0; k < 3; ++k) offered[k] = bits_of(key_of(entered, c[k], column[k].v, row.r));
        lower_to<3>(s, j, column, offered, found, shared);
    }
}

// A row lowers the keys of all columns. All threads of the block.
__device__ __forceinline__ void scan_whole(const Solve& s, int i, const Row& row, dual_t entered, const Found& found, Shared& shared) {
    const int64 first = s.costs.first(i);
#pragma unroll 4
    for (int j = threadIdx.x; j < s.costs.n_cols; j += blockDim.x) {
        const dual_t c = s.costs.of(first + j);
        if (c < none()) lower(s, j, c, row, entered, found, shared);
    }
}

// A row lowers the keys of the columns on its list, and of those of its chain; or one of `parts` warps does its part of that. What it
// reads does not wait for each other.
__device__ __forceinline__ void scan_row(const Solve& s, int2 item, bool chained, int part, int parts, const Found& found, Shared& shared) {
    if (part > 0 && peek(&s.rows[item.x].listed) <= PART * part) return;
    const int mine = PART * part + lane();
    const int64 first = s.lists.first(item.x) + mine;
    const int j[3] = {s.lists.cols[first], s.lists.cols[first + 32], chained && part == 0 ? chain_column(s, item.x) : NO_MEMBER};
    const dual_t c[2] = {(dual_t)s.lists.costs[first], (dual_t)s.lists.costs[first + 32]};
    const Row row = peek(&s.rows[item.x]);
    const dual_t entered = entered_at(s, item.y);
    const bool there[3] = {mine < row.listed, mine + 32 < row.listed, j[2] >= 0};
    Column column[3];
    uint64 offered[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) column[k] = there[k] ? peek(&s.columns[j[k]]) : Column{0, dual_t(0), FREE, 0};
#pragma unroll
    for (int k = 0; k < 3; ++k) offered[k] = bits_of(k < 2 ? key_of(entered, c[k], column[k].v, row.r) : entered);
    lower_to<3>(s, j, column, offered, found, shared);
    scan_list(s, item.x, row, entered, PART * parts + 32 * part + lane(), 32 * parts, found, shared);
}
static_assert(LEAST_CAPACITY >= PART, "a warp reads so much before it knows how long the list is");

// One round: the rows of a queue lower the keys of their columns; with warps to spare, up to `most_parts` share a row. All threads of
// the group take part.
__device__ __forceinline__ void scan_queue(const Solve& s, const Group& group, int round, int n, bool chained, int most_parts, uint64 limit,
                                           Shared& shared) {
    if (group.leads()) s.counts->queue[(round + 2) % SLOTS] = 0;
    const int2* const queue = s.queue + (round & 1) * s.queue_length;
    const Found found = found_for(s, round + 1, limit);
    const int parts = max(1, min(group.warps() / n, most_parts));
    for (int w = group.warp(); w < n * parts; w += group.warps()) scan_row(s, queue[w % n], chained, w / n, parts, found, shared);
    shared.gathered.flush(found.queue, found.n);
}

// Rounds until no key up to `limit` falls, from the queue of round `progress.round`. chained: `zeros` holds chains. All threads of the group take part.
__device__ __forceinline__ void search(const Solve& s, const Group& group, bool chained, uint64 limit, Shared& shared, Progress& progress) {
    const int parts = min(MOST_PARTS, max(1, peek(&s.counts->longest_list) / PART)), few = max(1, FEW_ROWS / parts);
    while (true) {
        int n = broadcast(&s.counts->queue[progress.round % SLOTS], shared);
        if (n == 0) return;
        if (group.is_grid && n <= few) {
            const int round = progress.round;
            if (blockIdx.x == 0) {
                while (0 < n && n <= few && progress.round - round < ONE_BLOCK_ROUNDS) {
                    scan_queue(s, the_block(), progress.round, n, chained, parts, limit, shared);
                    __syncthreads();
                    progress.rows_scanned += n, progress.round += 1;
                    n = peek(&s.counts->queue[progress.round % SLOTS]);
                    __syncthreads();
                }
                if (threadIdx.x == 0) s.counts->by_one_block[round % SLOTS] = progress.round;
            }
            group.sync(s.counts);
            progress.round = broadcast(&s.counts->by_one_block[round % SLOTS], shared);
            progress.rounds += progress.round - round;
        } else {
            scan_queue(s, group, progress.round, n, chained, parts, limit, shared);
            group.sync(s.counts);
            progress.rows_scanned += n, progress.rounds += 1, progress.round += 1;
        }
    }
}

// Queues the rows that waited above the limit. All threads of the group take part.
__device__ __forceinline__ void queue_waiting(const Solve& s, const Group& group, uint64 limit, int round, Shared& shared) {
    const Found found = found_for(s, round, limit);
    for (int j = group.thread; j < s.costs.n_cols; j += group.threads) {
        const Column column = peek(&s.columns[j]);
        if (column.row >= 0 && limit < column.key && column.key < bits_of(none()))
            shared.gathered.add(make_int2(column.row, j), found.queue, found.n);
    }
    shared.gathered.flush(found.queue, found.n);
}

// The distance of a free row to staying unassigned; `none` if it may not.
__device__ __forceinline__ dual_t unassigned_dist(const Solve& s, int i, const Row& row) {
    if (s.row_bound == nullptr || s.row_bound[i] >= none()) return none();
    return key_of(dual_t(0), s.row_bound[i], dual_t(0), row.r);
}

// Writes down the sinks: the keys of the free columns, and the free rows' distances to staying unassigned. All threads of the
// group take part.
__device__ __forceinline__ void list_sinks(const Solve& s, const Group& group, const int* free_rows, int n_free, Shared& shared) {
    const auto take = [&](uint64 key) {
        if (key < bits_of(none())) shared.gathered.add(make_int2((int)(uint32)key, (int)(key >> 32)), s.queue, &s.counts->sinks);
    };
    for (int j = group.thread; j < s.costs.n_cols; j += group.threads) {
        const Column column = peek(&s.columns[j]);
        if (column.row < 0) take(column.key);
    }
    if (s.row_bound != nullptr)
        for (int q = group.thread; q < n_free; q += group.threads)
            take(bits_of(unassigned_dist(s, free_rows[q], peek(&s.rows[free_rows[q]]))));
    shared.gathered.flush(s.queue, &s.counts->sinks);
}

// The key that three sinks are within for every four free rows, or all are that can be reached; `none` without one, BEYOND if it
// is not within the limit of the search. All threads of one block.
__device__ __forceinline__ dual_t most_sinks(const Solve& s, int n_free, uint64 limit, Shared& shared) {
    const uint64* const keys = (const uint64*)s.queue;
    const int n = broadcast(&s.counts->sinks, shared);
    if (threadIdx.x == 0) s.counts->sinks = 0;
    const int enough = (int)((int64)n_free * 3 / 4) + 1;
    if (n < enough && limit < bits_of(none())) return BEYOND;
    if (n == 0) return none();
    uint64 least = NOTHING, most = 0;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        least = min(least, keys[k]), most = max(most, keys[k]);
        if (n <= VALUES) shared.values[k] = from_bits(keys[k]);
    }
    for (int step = 16; step > 0; step /= 2) {
        least = min(least, __shfl_xor_sync(FULL_WARP, least, step));
        most = max(most, __shfl_xor_sync(FULL_WARP, most, step));
    }
    if (lane() == 0) shared.least[threadIdx.x / 32] = least, shared.most[threadIdx.x / 32] = most;
    __syncthreads();
    for (int w = 0; w < (int)blockDim.x / 32; ++w) least = min(least, shared.least[w]), most = max(most, shared.most[w]);
    const int wanted = min(n, enough);
    while (least < most) {
        const uint64 middle = least + (most - least) / 2;
        int within = 0;
        uint64 below = 0, above = NOTHING;  // the keys on both sides of it
        for (int k = threadIdx.x; k < n; k += blockDim.x) {
            const uint64 key = n <= VALUES ? bits_of(shared.values[k]) : keys[k];
            if (key <= middle) within += 1, below = max(below, key);
            else above = min(above, key);
        }
        for (int step = 16; step > 0; step /= 2) {
            within += __shfl_xor_sync(FULL_WARP, within, step);
            below = max(below, __shfl_xor_sync(FULL_WARP, below, step));
            above = min(above, __shfl_xor_sync(FULL_WARP, above, step));
        }
        __syncthreads();
        if (lane() == 0) shared.sums[threadIdx.x / 32] = within, shared.most[threadIdx.x / 32] = below, shared.least[threadIdx.x / 32] = above;
        __syncthreads();
        within = 0;
        for (int w = 0; w < (int)blockDim.x / 32; ++w)
            within += shared.sums[w], below = max(below, shared.most[w]), above = min(above, shared.least[w]);
        if (within >= wanted) most = below;
        else least = above;
    }
    return least > limit ? BEYOND : from_bits(least);
}
