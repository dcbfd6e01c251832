// A solve of the classical Hungarian method in stages, by all threads of the grid or by one block: what
// hungarian_classical.cu and hungarian_classical_batch.cu share.
//
// A stage. (1) Search: key j is the dual change Δ at which the slack of column j is zero, the shortest way to it from any free
// row. Rows whose key fell tell their columns so, round by round, until nothing changes; the keys that come out do not depend
// on the order. (2) Δ. Where every column must be matched, a free column may be passed by: Δ is the key that three of four
// free columns are within. Otherwise it is the least key of all ends. (3) The pairs of zero slack at Δ are listed, and phases
// of disjoint trees find a maximum matching on them. (4) The duals change, once.
// Rows look only at their lists of cheap pairs (hungarian_lists.cuh). After the search, a row whose list does not reach as far
// as Δ gets a longer one, or is looked at whole, and the search goes on.
//
// Trees. All free rows are roots; a column that several rows of one level reach goes to the one with the smallest hash of
// the pair (equal costs then spread over the rows), and a tree with an end does not grow further.
// Threads: a warp a row in 1 and 3; in the phases as many lanes a row as there are to spare.
// Bytes: in 1, 12 or 16 per listed pair and 32 of its column from the L2 cache. Memory: (4 + cost) * CAPACITY + 4 * ZEROS a row.
// Hazards: keys, claims and ends are only lowered, by atomics; what is read from them while others lower them is read past the
// L1 cache and may be late, which costs a round and no more. Everything else is written on one side of a grid barrier and read
// on the other.
#pragma once
#include "hungarian_lists.cuh"

constexpr int ZEROS = 32;     // pairs of zero slack that a row keeps; for a row with more its list is looked at
#ifdef ONE_BLOCK
constexpr int GATHER = 256, VALUES = 512;
#else
constexpr int GATHER = 1024, VALUES = 4096;  // of a block's additions to a list; of keys of free columns, kept at hand
#endif
#ifndef FEW_ROWS
#define FEW_ROWS 64  // rows of a round that one block scans by itself, without meeting the others
#endif
#ifndef FEW_COLUMNS
#define FEW_COLUMNS 256  // columns of a level, likewise
#endif
constexpr int LEVEL_BITS = 18, HASH_BITS = 22, ROW_BITS = 24;
static_assert(LEVEL_BITS + HASH_BITS + ROW_BITS == 64, "a claim is one word");
constexpr uint64 NOTHING = ~0ull;

// What was done so far; every thread counts alike, but for what only the first block sees.
struct Progress {
    int round, phases, attempts, stages, rounds, levels, relisted, dual_updates;
    int64 rows_scanned, search_ns, compaction_ns, augment_ns, update_ns;
};

struct Counts {
    int queue[3];        // lengths, by round modulo 3
    int short_lists[2];  // rows whose lists do not reach Δ, by attempt
    int free_rows[2];    // by phase
    int round;           // as the first block left it, after rounds of its own
    uint32 barrier;
    int stuck;  // a free row from which nothing can be reached, or -1
    int looked_at_whole;
    uint64 least_end;  // bits of the least key of an end
    uint64 delta;
    Progress progress;
    int paths[64];  // of each of the first stages
};

// Arrays in global memory.
struct Solve {
    Costs costs;
    const price_t* __restrict__ row_bound;  // or null when no row may stay alone
    int ends_bound;                         // whether an end must not be passed by
    price_t* v;
    Row* rows;
    Column* columns;
    Lists lists;
    int* zeros;       // (rows, ZEROS) columns of zero slack at Δ
    int* n_zeros;     // (rows,) may be more than ZEROS
    int* stamp;       // (rows,) round in which a row was queued
    price_t* whole;   // (rows,) what `entered` was when the row was looked at whole, or -1
    uint64* claims;   // (2, columns) level, hash and row by which a column was reached, by phase
    uint64* ends;     // (rows,) level and column of the end of a root's path
    int* roots;       // (rows,)
    int2* queue;      // (2, max(rows, columns)) row and its column; in the phases, columns
    int* free_rows;   // (2, rows)
    int queue_length;
    Counts* counts;
};

struct Shared {
    Gathered<int2, GATHER> gathered;
    Listing listing;
    int n;
    uint64 least[32], most[32];
    int sums[32];
    price_t values[VALUES];
};

// Threads that do something together: all of the grid, or one block.
struct Team {
    int thread, threads;
    bool is_grid;

    __device__ __forceinline__ int warp() const { return thread / 32; }
    __device__ __forceinline__ int warps() const { return threads / 32; }
    __device__ __forceinline__ bool speaks() const { return thread == 0; }
    __device__ __forceinline__ void meet(Counts* counts) const {
        if (is_grid) grid_barrier(&counts->barrier);
        else __syncthreads();
    }
};
__device__ __forceinline__ Team the_grid() { return Team{dealt_thread(), all_threads(), true}; }
__device__ __forceinline__ Team the_block() { return Team{(int)threadIdx.x, (int)blockDim.x, false}; }

__device__ __forceinline__ price_t key_of(price_t entered, price_t c, price_t v, price_t r) {
    const price_t slack = c - v - r;
    return entered + (slack > 0 ? slack : price_t(0));
}
// Whether a row's list may lack a pair of zero slack at Δ.
__device__ __forceinline__ bool is_short(const Row& row, price_t entered, price_t delta) {
    return row.beyond < none() && key_of(entered, row.beyond, price_t(0), row.r) <= delta;
}

// Lowers a column's key; queues its row if that row was not queued in this round.
__device__ __forceinline__ void lower(const Solve& s, int j, price_t c, const Row& row, price_t entered, int round, Shared& shared,
                                      int2* next, int* n_next) {
    const Column column = peek(&s.columns[j]);
    const price_t key = key_of(entered, c, column.v, row.r);
    const uint64 bits = bits_of(key);
    if (bits >= column.key) return;
    if (s.ends_bound && bits > peek(&s.counts->least_end)) return;
    if (atomicMin((unsigned long long*)&s.columns[j].key, bits) <= bits) return;
    if (column.row < 0) {
        if (s.ends_bound) atomicMin((unsigned long long*)&s.counts->least_end, bits);
    } else if (atomicExch(&s.stamp[column.row], round) != round) {
        shared.gathered.add(make_int2(column.row, j), next, n_next);
    }
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
    if (s.row_bound != nullptr && mine == 0 && s.row_bound[i] < none())
        atomicMin((unsigned long long*)&s.counts->least_end, bits_of(key_of(entered, s.row_bound[i], price_t(0), row.r)));
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

// The key that three columns are within for every four free rows, or all reached free columns are; `none` without one.
// All threads of one block.
__device__ __forceinline__ price_t most_ends(const Solve& s, int n_free, Shared& shared) {
    if (threadIdx.x == 0) shared.n = 0;
    __syncthreads();
    uint64 least = NOTHING, most = 0;
    int reached = 0;
    for (int j = threadIdx.x; j < s.costs.n_cols; j += blockDim.x) {
        const Column column = peek(&s.columns[j]);
        if (column.row >= 0 || column.key >= bits_of(none())) continue;
        least = min(least, column.key), most = max(most, column.key);
        ++reached;
        const int place = next_place(&shared.n);
        if (place < VALUES) shared.values[place] = price_of(column.key);
    }
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
        if (n <= VALUES) {
            for (int k = threadIdx.x; k < n; k += blockDim.x) within += bits_of(shared.values[k]) <= middle;
        } else {
            for (int j = threadIdx.x; j < s.costs.n_cols; j += blockDim.x) {
                const Column column = peek(&s.columns[j]);
                within += column.row < 0 && column.key <= middle;
            }
        }
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

// Whether the pair with column j, number `e` of the row or of its list, has zero slack at Δ.
__device__ __forceinline__ bool is_zero(const Solve& s, int i, const Row& row, price_t entered, price_t delta, bool whole, int e, int& j) {
    j = whole ? e : s.lists.cols[s.lists.first(i) + e];
    const price_t c = whole ? s.costs.of(s.costs.first(i) + e) : (price_t)s.lists.costs[s.lists.first(i) + e];
    if (!(c < none())) return false;
    const Column column = peek(&s.columns[j]);
    const price_t key = key_of(entered, c, column.v, row.r);
    return key <= delta && bits_of(key) == column.key;
}

// Lists the pairs of zero slack at Δ of every row in the trees; counts the rows whose lists do not reach that far, and queues them.
__device__ __forceinline__ void list_zeros(const Solve& s, const Team& team, price_t delta, int round, int* n_short) {
    int2* const queue = s.queue + (~round & 1) * s.queue_length;
    for (int i = team.warp(); i < s.costs.n_rows; i += team.warps()) {
        const Row row = peek(&s.rows[i]);
        if (row.col == WENT_ALONE) continue;
        const price_t entered = entered_at(s, row.col);
        if (entered > delta || entered >= none()) continue;
        const bool whole = is_short(row, entered, delta);
        if (whole && s.whole[i] != entered) {
            if (lane() == 0) queue[atomicAdd(n_short, 1)] = make_int2(i, row.col);
            continue;
        }
        const int length = whole ? s.costs.n_cols : row.listed;
        int found = 0;
        for (int base = 0; base < length; base += 32) {
            int j = 0;
            const bool zero = base + lane() < length && is_zero(s, i, row, entered, delta, whole, base + lane(), j);
            const uint32 who = __ballot_sync(FULL_WARP, zero);
            const int place = found + __popc(who & lanes_below());
            if (zero && place < ZEROS) s.zeros[(int64)i * ZEROS + place] = j;
            found += __popc(who);
        }
        if (lane() == 0) s.n_zeros[i] = found, s.rows[i].entered = entered;
    }
}

// Gives the rows with short lists longer ones, and lets them tell their columns. A block takes a row; all threads come.
__device__ __forceinline__ void lengthen(const Solve& s, const Team& team, price_t delta, int n, int round, Shared& shared, Progress& progress) {
    const int2* const queue = s.queue + (~round & 1) * s.queue_length;
    int2* const next = s.queue + (round & 1) * s.queue_length;
    int* const n_next = &s.counts->queue[round % 3];
    for (int q = team.is_grid ? blockIdx.x : 0; q < n; q += team.is_grid ? gridDim.x : 1) {
        const int2 item = queue[q];
        Row row = peek(&s.rows[item.x]);
        const price_t entered = entered_at(s, item.y);
        const price_t needed = delta < none() ? row.r + (delta - entered) : none(), spare = delta - entered;
        list_below(s.costs, s.v, s.lists, item.x, spare < none() / 4 ? needed + spare : needed, shared.listing, row);
        if (is_short(row, entered, delta)) list_below(s.costs, s.v, s.lists, item.x, needed, shared.listing, row);
        const bool whole = is_short(row, entered, delta);
        if (threadIdx.x == 0) {
            s.rows[item.x].listed = row.listed, s.rows[item.x].beyond = row.beyond;
            if (whole) s.whole[item.x] = entered, atomicAdd(&s.counts->looked_at_whole, 1);
        }
        if (whole) scan_whole(s, item.x, row, entered, round, shared, next, n_next);
        else scan_list(s, item.x, row, entered, threadIdx.x, blockDim.x, round, shared, next, n_next);
    }
    shared.gathered.flush(next, n_next);
    progress.relisted += n;
}

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

// A row of level `level` claims its columns of zero slack. `lanes` threads.
__device__ __forceinline__ void claim_columns(const Solve& s, uint64* claims, price_t delta, int i, int root, int level, int mine, int lanes,
                                              Shared& shared, int2* next, int* n_next) {
    const int found = s.n_zeros[i];
    const Row row = peek(&s.rows[i]);
    const bool whole = found > ZEROS && is_short(row, row.entered, delta);
    const int length = found <= ZEROS ? found : whole ? s.costs.n_cols : row.listed;
    for (int e = mine; e < length; e += lanes) {
        int j;
        if (found <= ZEROS) j = s.zeros[(int64)i * ZEROS + e];
        else if (!is_zero(s, i, row, row.entered, delta, whole, e, j)) continue;
        const uint64 claim = claim_of(level + 1, i, j);
        const uint64 before = atomicMin((unsigned long long*)&claims[j], claim);
        if (level_of(before) > level + 1) shared.gathered.add(make_int2(j, 0), next, n_next);
    }
    if (s.row_bound != nullptr && mine == 0 && s.row_bound[i] < none() &&
        key_of(row.entered, s.row_bound[i], price_t(0), row.r) <= delta)
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
    if (team.speaks()) s.counts->queue[(round + 2) % 3] = 0;
    const int2* const queue = s.queue + (round & 1) * s.queue_length;
    int2* const next = s.queue + (~round & 1) * s.queue_length;
    int* const n_next = &s.counts->queue[(round + 1) % 3];
    int lanes = 32;
    while (lanes > 4 && (int64)n * lanes > team.threads) lanes /= 2;
    for (int q = team.thread / lanes; q < n; q += team.threads / lanes) {
        const int mine = threadIdx.x % lanes;
        if (level == 0) {
            const int i = free_rows[q];
            if (mine == 0) poke(&s.roots[i], i);
            claim_columns(s, claims, delta, i, i, 0, mine, lanes, shared, next, n_next);
            continue;
        }
        const int j = queue[q].x;
        const int from = row_of(peek(&claims[j]));
        const int i = peek(&s.columns[j].row);
        const int root = peek(&s.roots[from]);
        if (i < 0) {
            if (mine == 0) end_path(s, root, level, j);
            continue;
        }
        if (mine == 0) poke(&s.roots[i], root);
        if ((uint32)(peek(&s.ends[root]) >> 32) < (uint32)level) continue;
        claim_columns(s, claims, delta, i, root, level, mine, lanes, shared, next, n_next);
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
            if (blockIdx.x == 0) {
                while (0 < n && n <= FEW_COLUMNS) {
                    grow(s, the_block(), claims, free_rows, delta, progress.round - first, progress.round, n, shared);
                    __syncthreads();
                    progress.round += 1;
                    n = peek(&s.counts->queue[progress.round % 3]);
                    __syncthreads();
                }
                if (threadIdx.x == 0) s.counts->round = progress.round;
            }
            team.meet(s.counts);
            progress.round = peek(&s.counts->round);
        } else {
            grow(s, team, claims, free_rows, delta, progress.round - first, progress.round, n, shared);
            team.meet(s.counts);
            progress.round += 1;
        }
        n = peek(&s.counts->queue[progress.round % 3]);
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
    const int n_free = peek(&s.counts->free_rows[now]);
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
    const int paths = n_free - peek(&s.counts->free_rows[then]);
    if (team.speaks()) s.counts->free_rows[now] = 0;
    progress.phases += 1;
    return paths;
}

// Columns in the trees fall by Δ since their key, free rows rise by Δ, and links become tight. Ready for the next search.
__device__ __forceinline__ void update_duals(const Solve& s, const Team& team, price_t delta, const Progress& progress) {
    const int round = progress.round;
    const int n_free = peek(&s.counts->free_rows[progress.phases & 1]);
    const int* const free_rows = s.free_rows + (int64)(progress.phases & 1) * s.costs.n_rows;
    for (int j = team.thread; j < s.costs.n_cols; j += team.threads) {
        const Column column = peek(&s.columns[j]);
        s.columns[j].key = bits_of(none());
        const price_t key = price_of(column.key);
        if (key > delta) continue;
        const price_t v = column.v - (delta - key);
        s.columns[j].v = s.v[j] = v;
        if (column.row >= 0) s.rows[column.row].r = (price_t)s.costs.cost[s.costs.first(column.row) + j] - v;
    }
    int2* const queue = s.queue + (round & 1) * s.queue_length;
    for (int q = team.thread; q < n_free; q += team.threads) {
        const int i = free_rows[q];
        s.rows[i].r += delta;
        queue[q] = make_int2(i, FREE);
    }
    for (int i = team.thread; i < s.costs.n_rows; i += team.threads) s.whole[i] = price_t(-1);
    if (team.speaks()) {
        s.counts->queue[round % 3] = n_free;
        s.counts->queue[(round + 1) % 3] = 0;
        s.counts->least_end = bits_of(none());
    }
}

// Δ, and the pairs of zero slack at it, once all lists reach that far; `none` if nothing can be reached. All threads of the team.
__device__ __forceinline__ price_t settle(const Solve& s, const Team& team, int n_free, Shared& shared, Progress& progress) {
    while (true) {
        const int64 began = nanoseconds();
        search(s, team, shared, progress);
        const int64 searched = nanoseconds();
        progress.search_ns += searched - began;
        price_t delta;
        if (s.ends_bound) {
            delta = price_of(peek(&s.counts->least_end));
        } else {
            if (!team.is_grid || blockIdx.x == 0) {
                delta = most_ends(s, n_free, shared);
                if (threadIdx.x == 0) s.counts->delta = bits_of(delta);
            }
            team.meet(s.counts);
            delta = price_of(peek(&s.counts->delta));
        }
        int* const n_short = &s.counts->short_lists[progress.attempts & 1];
        list_zeros(s, team, delta, progress.round, n_short);
        team.meet(s.counts);
        const int n = peek(n_short);
        if (team.speaks()) s.counts->short_lists[~progress.attempts & 1] = 0;
        progress.attempts += 1;
        const int64 listed = nanoseconds();
        progress.compaction_ns += listed - searched;
        if (n == 0) return delta;
        lengthen(s, team, delta, n, progress.round, shared, progress);
        team.meet(s.counts);
        progress.search_ns += nanoseconds() - listed;
    }
}

// A maximum matching on the pairs of zero slack; returns how many rows it matched. All threads of the team.
__device__ __forceinline__ int match_on_zeros(const Solve& s, const Team& team, price_t delta, Shared& shared, Progress& progress) {
    int matched = 0, paths = 1;
    while (paths > 0 && peek(&s.counts->free_rows[progress.phases & 1]) > 0) {
        paths = augment(s, team, delta, shared, progress);
        matched += paths;
    }
    return matched;
}

// All of it. rows: beyond and listed are set. r, v: reduced. free_rows: the first of its two lists holds counts->free_rows[0]
// rows. claims, ends: all NOTHING. stamp: zeros. counts->stuck: -1, all else 0.
__device__ __forceinline__ void solve(const Solve& s, const Team& team, price_t* r, int* col_of_row, int* row_of_col, Shared& shared) {
    const int n = s.costs.n_rows, m = s.costs.n_cols;
    if (threadIdx.x == 0) shared.gathered.n = 0;
    for (int i = team.thread; i < n; i += team.threads) s.rows[i].r = r[i], s.rows[i].col = col_of_row[i];
    for (int j = team.thread; j < m; j += team.threads) s.columns[j] = Column{bits_of(none()), s.v[j], row_of_col[j], 0};
    team.meet(s.counts);
    Progress progress{};
    progress.round = 1;
    update_duals(s, team, price_t(0), progress);
    team.meet(s.counts);
    while (true) {
        const int* const free_rows = s.free_rows + (int64)(progress.phases & 1) * n;
        const int n_free = peek(&s.counts->free_rows[progress.phases & 1]);
        if (n_free == 0) break;
        const price_t delta = settle(s, team, n_free, shared, progress);
        if (delta >= none()) {
            if (team.speaks()) s.counts->stuck = peek(&free_rows[0]);
            break;
        }
        const int64 began = nanoseconds();
        const int matched = match_on_zeros(s, team, delta, shared, progress);
        if (team.speaks() && progress.stages < 64) s.counts->paths[progress.stages] = matched;
        const int64 matched_at = nanoseconds();
        update_duals(s, team, delta, progress);
        team.meet(s.counts);
        progress.stages += 1, progress.dual_updates += delta > 0;
        progress.augment_ns += matched_at - began, progress.update_ns += nanoseconds() - matched_at;
    }
    for (int i = team.thread; i < n; i += team.threads) r[i] = s.rows[i].r, col_of_row[i] = s.rows[i].col;
    for (int j = team.thread; j < m; j += team.threads) row_of_col[j] = s.columns[j].row;
    if (team.speaks()) s.counts->progress = progress;
}
