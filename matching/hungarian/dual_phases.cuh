// A solve of the classical Hungarian method in dual phases, by all threads of the grid or by one block: what
// hungarian/classical.cu and hungarian/classical_batch.cu share.
//
// A dual phase. (1) Search for the keys of all columns (hungarian/search.cuh), along chains once searches are long
// (hungarian/chains.cuh). (2) Δ: the key that three of four free rows could
// have a sink within. Where every column must be matched, a free column may be passed by; otherwise sinks stay at their bound,
// and every row finds its own path to a sink (hungarian/nearest_sinks.cuh). (3) The pairs of zero slack at Δ are listed
// (hungarian/zeros.cuh), and phases of disjoint trees find a maximum matching on them (hungarian/zero_trees.cuh). (4) The
// duals change, once.
// Rows look only at their lists of cheap pairs (hungarian/lists.cuh). After the search, a row whose list does not reach as far
// as Δ gets a longer one, or is looked at whole, and the search goes on.
//
// Threads: a warp a row in 1 and 3; in the phases as many lanes a row as there are to spare.
// Bytes: in 1, 12 or 16 per listed pair and 32 of its column from the L2 cache. Memory: (4 + cost) * capacity + 4 * most_zeros a
// row, and 8 * most_zeros where some may stay unassigned.
// Hazards: keys, claims and sinks are only lowered, by atomics; what is read from them while others lower them is read past the
// L1 cache and may be late, which costs a round and no more. Everything else is written on one side of a grid barrier and read
// on the other.
#pragma once
#include "hungarian/zero_trees.cuh"

#ifndef LIMIT
#define LIMIT 2  // times the last Δ: how far a search goes at first
#endif

// As `entered_at`, the same for all threads of the block: others lower the key meanwhile, and what depends on it has barriers.
__device__ __forceinline__ dual_t entered_of_block(const Solve& s, int col, Shared& shared) {
    __syncthreads();
    if (threadIdx.x == 0) shared.entered = entered_at(s, col);
    __syncthreads();
    return shared.entered;
}

// Gives the rows with short lists longer ones, and lets them lower the keys of their columns: with what the next dual phases will need, unless
// that makes a list long, which each round pays for. A block takes a row; all threads come.
__device__ __forceinline__ void lengthen(const Solve& s, const Group& group, dual_t delta, int n, uint64 limit, int round,
                                         Shared& shared) {
    const int2* const queue = s.queue + (~round & 1) * s.queue_length;
    const Found found = found_for(s, round, limit);
    for (int q = group.is_grid ? blockIdx.x : 0; q < n; q += group.is_grid ? gridDim.x : 1) {
        const int2 item = queue[q];
        Row row = peek(&s.rows[item.x]);
        const dual_t entered = entered_of_block(s, item.y, shared);
        const dual_t needed = delta < none() ? row.r + (delta - entered) : none(), spare = delta - entered;
        const dual_t reach = spare < none() / 4 ? needed + spare : needed;
        list_below(s.costs, s.v, s.lists, item.x, reach, shared.listing, row);
        if (needed < reach && (row.listed > LEAST_CAPACITY || is_short(row, entered, delta)))
            list_below(s.costs, s.v, s.lists, item.x, needed, shared.listing, row);
        const bool whole = is_short(row, entered, delta);
        if (threadIdx.x == 0) {
            s.rows[item.x].listed = row.listed, s.rows[item.x].beyond = row.beyond;
            atomicMax(&s.counts->longest_list, row.listed);
            if (whole) s.whole[item.x] = entered;
        }
        if (whole) scan_whole(s, item.x, row, entered, found, shared);
        else scan_list(s, item.x, row, entered, threadIdx.x, blockDim.x, found, shared);
    }
    shared.gathered.flush(found.queue, found.n);
}

// Columns in the trees fall by Δ since their key, free rows rise by Δ, and matched edges get zero slack; where some may stay unassigned, none
// changes by more than its distance to the nearest sink. Ready for the next search.
__device__ __forceinline__ void update_duals(const Solve& s, const Group& group, dual_t delta, const Progress& progress) {
    const int round = progress.round;
    const int n_free = peek(&s.counts->free_rows[progress.phases & 1]);
    const int* const free_rows = s.free_rows + (int64)(progress.phases & 1) * s.costs.n_rows;
    for (int j = group.thread; j < s.costs.n_cols; j += group.threads) {
        const Column column = peek(&s.columns[j]);
        s.columns[j].key = bits_of(none());
        const dual_t key = from_bits(column.key);
        if (key > delta) continue;
        const dual_t fall = s.is_bounded ? min(delta - key, dist_of(&s.col_dist[j])) : delta - key;
        const dual_t v = column.v - fall;
        s.columns[j].v = s.v[j] = v;
        if (column.row >= 0) s.rows[column.row].r = (dual_t)s.costs.cost[s.costs.first(column.row) + j] - v;
    }
    int2* const queue = s.queue + (round & 1) * s.queue_length;
    for (int q = group.thread; q < n_free; q += group.threads) {
        const int i = free_rows[q];
        s.rows[i].r += s.is_bounded ? min(delta, dist_of(&s.row_dist[i])) : delta;
        queue[q] = make_int2(i, FREE);
    }
    for (int i = group.thread; i < s.costs.n_rows; i += group.threads) s.whole[i] = dual_t(-1);
    if (group.leads()) {
        s.counts->queue[round % SLOTS] = n_free;
        s.counts->queue[(round + 1) % SLOTS] = 0;
        s.counts->least_sink = bits_of(none());
    }
}

// Δ, and the pairs of zero slack at it, once all lists reach that far; `none` if nothing can be reached. All threads of the group.
__device__ __forceinline__ dual_t settle(const Solve& s, const Group& group, const int* free_rows, int n_free, bool chained, uint64 limit,
                                          Shared& shared, Progress& progress) {
    while (true) {
        const int64 began = nanoseconds();
        search(s, group, chained, limit, shared, progress);
        list_sinks(s, group, free_rows, n_free, shared);
        group.sync(s.counts);
        const int64 searched = nanoseconds();
        progress.search_ns += searched - began;
        if (!group.is_grid || blockIdx.x == 0) {
            const dual_t reached = most_sinks(s, n_free, limit, shared);
            if (threadIdx.x == 0) s.counts->delta = bits_of(reached);
        }
        group.sync(s.counts);
        const dual_t delta = from_bits(peek(&s.counts->delta));
        if (delta == BEYOND) {
            queue_waiting(s, group, limit, progress.round, shared);
            limit = bits_of(none());
            group.sync(s.counts);
            continue;
        }
        chained = false;  // zeros take their room
        list_zeros(s, group, delta, progress.round, progress.attempts);
        group.sync(s.counts);
        const int now = progress.attempts & 1;
        const int n = peek(&s.counts->short_lists[now]), members = peek(&s.counts->members[now]);
        const uint64 pairs = peek(&s.counts->pairs[now]);
        if (group.leads()) s.counts->short_lists[!now] = s.counts->members[!now] = s.counts->pairs[!now] = 0;
        progress.attempts += 1;
        const int64 listed = nanoseconds();
        progress.compaction_ns += listed - searched;
        if (n == 0) {
            if (s.is_bounded && delta < none()) find_sinks(s, group, delta, members, pairs, shared, progress);
            progress.search_ns += nanoseconds() - listed;
            return delta;
        }
        lengthen(s, group, delta, n, limit, progress.round, shared);
        group.sync(s.counts);
        progress.search_ns += nanoseconds() - listed;
    }
}

// All of it. rows: beyond and listed are set. r, v: reduced. free_rows: the first of its two lists holds counts->free_rows[0]
// rows. claims, sinks: all NOTHING. stamp: zeros. counts->infeasible_row: -1, all else 0.
__device__ __forceinline__ void solve(const Solve& s, const Group& group, dual_t* r, int* col_of_row, int* row_of_col, Shared& shared) {
    const int n = s.costs.n_rows, m = s.costs.n_cols;
    if (threadIdx.x == 0) shared.gathered.n = 0;
    for (int i = group.thread; i < n; i += group.threads) s.rows[i].r = r[i], s.rows[i].col = col_of_row[i];
    for (int j = group.thread; j < m; j += group.threads) s.columns[j] = Column{bits_of(none()), s.v[j], row_of_col[j], 0};
    group.sync(s.counts);
    Progress progress{};
    progress.round = 1;
    bool long_searches = false;
    const int most_updates = s.counts->most_updates, few_left = s.counts->few_left;
    uint64 limit = bits_of(none());
    update_duals(s, group, dual_t(0), progress);
    group.sync(s.counts);
    while (true) {
        const int* const free_rows = s.free_rows + (int64)(progress.phases & 1) * n;
        const int n_free = broadcast(&s.counts->free_rows[progress.phases & 1], shared);
        if (n_free == 0 || (most_updates > 0 && progress.dual_updates >= most_updates && n_free > few_left)) break;
        if (long_searches) make_chains(s, group);
        const int rounds = progress.rounds;
        const dual_t delta = settle(s, group, free_rows, n_free, long_searches, limit, shared, progress);
        if (delta >= none()) {
            if (group.leads()) s.counts->infeasible_row = peek(&free_rows[0]);
            break;
        }
        limit = bits_of(0 < delta && delta < none() / LIMIT ? LIMIT * delta : none());
        const int64 began = nanoseconds();
        match_on_zeros(s, group, delta, shared, progress);
        const int64 matched_at = nanoseconds();
        update_duals(s, group, delta, progress);
        group.sync(s.counts);
        long_searches = long_searches || progress.rounds - rounds >= LONG_SEARCH;
        progress.dual_phases += 1, progress.dual_updates += delta > 0;
        progress.augment_ns += matched_at - began, progress.update_ns += nanoseconds() - matched_at;
    }
    for (int i = group.thread; i < n; i += group.threads) r[i] = s.rows[i].r, col_of_row[i] = s.rows[i].col;
    for (int j = group.thread; j < m; j += group.threads) row_of_col[j] = s.columns[j].row;
    if (group.leads()) s.counts->progress = progress;
}
