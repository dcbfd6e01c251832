// The alternating-tree Hungarian method for dense costs, whole, in one cooperative launch.
//
// Source: K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing 57
// (2016), Algorithms 2, 4, 5, 6 and 9, with the changes that `matching/hungarian/__init__.py` states. Ours is how they are
// carried out: the whole loop stays on the device; every block owns a strip of columns, whose slacks, duals and covers never
// leave its registers; a level of the search and the dual update after it are one exchange of 32 bytes a block. Its twin on
// the CPU is `matching/hungarian/forest.py`: same levels, same ties, same answer.
//
// A search. Trees grow from all free rows. Key j is the dual change Δ at which the slack of column j is zero:
// min over the rows i in the trees of Δ_i + max(c_ij - v_j - r_i, 0). In each step every block says the least key of its
// columns that are not covered, and which rows would enter with it. All blocks read all of that; the least of all is the new
// Δ, and those rows are the next level. When Δ would rise and some path has ended at a free column, the search is over: each
// tree carries out its path with the smallest end. Row i that goes alone at its bound is a path's end, written n_cols + i.
//
// Threads: the home thread of column `first + k` is thread k (and k + THREADS, ... : GROUPS columns a thread). It scans a
// level of few rows for its column. When there are many, all warps take a share of them for the same columns: the warps that
// share one tile of 32 columns are its slots.
// Exchange: a block's announcement, and each row of a level when a block has more than one, are 16-byte words, each written by
// one 128-bit store together with the number of the step. Readers poll until the number is right, so no barrier and no fence
// is needed. Two sets of both, by parity: who writes step s + 2 has read every block's step s + 1, which was written after
// reading step s.
// Ties: the smallest row of a level wins among equal slacks, and an older level among equal keys.
// Ranks: with -DRANKS=P the columns are split over P devices first, and every device, a rank, runs this kernel at the same time
// (section 5 of the paper, without a host in the loop). Words are written into every rank's memory through peer access and
// polled for at home; so are predecessors and ends, so that every rank can carry out all paths on its own copy of the matching
// and only the first of the three barriers is one of all ranks. Ranks may share a device: then one launch holds their blocks.
// Polls are bounded: a rank that never starts ends the others with a trap.
// Bytes: 4 to 8 per pair of a level's rows and all columns. Memory: 60 bytes per row and column.
// Hazards: `pred`, `row_of_col`, `col_of_row`, `r`, `best` are written by other blocks only between the three barriers that
// end a search; they are read past the L1 cache.
// variant: -DCOST=double -DGROUPS=3
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DGROUPS=3
// variant: -DRANKS=4
// variant: -DRANKS=2 -DINTEGER -DCOST=int64 -DGROUPS=3
#include "auction.cuh"

#ifndef GROUPS
#define GROUPS 1
#endif
#ifndef THREADS
#define THREADS 512
#endif
#ifndef RANKS
#define RANKS 1  // devices that share the columns
#endif
constexpr int WARPS = THREADS / 32;
constexpr int UNROLL = GROUPS == 1 ? 16 : 8;  // loads of a thread in flight
constexpr int CHUNK = RANKS == 1 ? 768 : GROUPS == 1 ? 512 : 256;  // rows of a level in shared memory at once
constexpr int FEW = UNROLL;  // rows of a level that the home threads scan without help
constexpr int FREE = -1, WENT_ALONE = -2;
constexpr int NO_END = 0x7fffffff;
constexpr int MAX_BLOCKS = RANKS == 1 ? 256 : THREADS;  // of all ranks
#if RANKS > 1
constexpr uint32 PATIENCE = 1u << 24;  // polls, at least 10 s
#endif

#if RANKS == 1
#define SCOPE "gpu"
#else
#define SCOPE "sys"
#endif
__device__ __forceinline__ void store_words(uint64* at, uint64 a, uint64 b) {
    asm volatile("{.reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed." SCOPE ".global.b128 [%0], w;}" ::"l"(at), "l"(a), "l"(b) : "memory");
}
__device__ __forceinline__ void load_words(const uint64* at, uint64& a, uint64& b) {
    asm volatile("{.reg .b128 w; ld.relaxed." SCOPE ".global.b128 w, [%2]; mov.b128 {%0, %1}, w;}" : "=l"(a), "=l"(b) : "l"(at) : "memory");
}
__device__ __forceinline__ price_t fresh_price(const price_t* at) { return price_of(load_fresh((const uint64*)at)); }

// A row that enters the trees: the column it is matched with (FREE for a root), its root, its dual.
struct Entry {
    int row, col, root;
    price_t r;
};
__device__ __forceinline__ Entry no_entry() { return Entry{FREE, FREE, FREE, 0}; }

// What a warp, a block or the whole grid has found: the least key, how many rows enter with it, one of them, and whether
// a path ends with it.
struct Step {
    price_t key;
    Entry entry;
    int count;
    int ends;
};

// Keys are never negative, so their bits are in their order, of real numbers too.
__device__ __forceinline__ price_t least_of_warp(price_t key) {
#if __CUDA_ARCH__ >= 800
    const uint64 bits = bits_of(key);
    const uint32 high = __reduce_min_sync(FULL_WARP, (uint32)(bits >> 32));
    const uint32 low = __reduce_min_sync(FULL_WARP, (uint32)(bits >> 32) == high ? (uint32)bits : 0xffffffffu);
    return price_of((uint64)high << 32 | low);
#else
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const price_t there = __shfl_xor_sync(FULL_WARP, key, step);
        key = there < key ? there : key;
    }
    return key;
#endif
}
__device__ __forceinline__ int sum_of_warp(int value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(FULL_WARP, value);
#else
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL_WARP, value, step);
    return value;
#endif
}
__device__ __forceinline__ Entry entry_of_lane(const Entry& e, int from) {
    return Entry{__shfl_sync(FULL_WARP, e.row, from), __shfl_sync(FULL_WARP, e.col, from), __shfl_sync(FULL_WARP, e.root, from),
                 __shfl_sync(FULL_WARP, e.r, from)};
}

// The steps of the lanes together, known to all of them.
__device__ __forceinline__ Step together(const Step& mine) {
    Step all;
    all.key = least_of_warp(mine.key);
    const bool least = mine.key == all.key && all.key < none();
    const uint32 with_row = __ballot_sync(FULL_WARP, least && mine.count > 0);
    all.ends = __any_sync(FULL_WARP, least && mine.ends);
    all.count = 0;
    all.entry = no_entry();
    if (with_row) {
        all.entry = entry_of_lane(mine.entry, __ffs(with_row) - 1);
        all.count = sum_of_warp(least ? mine.count : 0);
    }
    return all;
}

struct Costs {
    int n_rows, n_cols;
    const cost_t* __restrict__ cost;
    const unsigned char* __restrict__ forbidden;  // or null

    __device__ __forceinline__ const cost_t* row(int i) const { return cost + (int64)i * n_cols; }
    __device__ __forceinline__ bool forbids(int i, int j) const {
        return forbidden != nullptr && forbidden[(int64)i * n_cols + j];
    }
};

// The row, its matched column and its root by which a column was reached.
struct Origin {
    int row, col, root;
};

// The columns of a home thread: their duals and keys, the rows they are matched with (or FREE) and those rows' duals.
struct Columns {
    price_t v[GROUPS], key[GROUPS], r[GROUPS];
    int row[GROUPS];
    Origin from[GROUPS];
    bool covered[GROUPS];
};

// A part of one level's rows, and what the warps that share a tile found for its columns.
struct Level {
    int64 first[CHUNK];  // of the row's costs
    price_t r[CHUNK];
    Origin origin[CHUNK];

    __device__ __forceinline__ void put(int at, const Entry& e, int n_cols) {
        first[at] = (int64)e.row * n_cols;
        r[at] = e.r;
        origin[at] = Origin{e.row, e.col, e.root};
    }
};
struct Share {
    price_t slack[THREADS];
    Origin from[THREADS];
};
union Room {
    Level level;
    Share share;
};

struct Counts {
    int free[3];  // length of the list of free rows, by search modulo 3
    int stuck;    // a free row from which nothing can be reached, or -1
    uint32 barrier;
    int searches, levels, dual_updates;
    int64 rows_scanned, search_ns, augment_ns;
    int paths[64];  // found in each of the first searches
};

// What a rank has. What the others write into it is marked so.
struct Rank {
    const cost_t* cost;              // (rows, n_cols)
    const unsigned char* forbidden;  // or null
    const price_t* row_bound;        // or null when no row may stay alone
    price_t* v;                      // (n_cols,)
    price_t* r;                      // (rows,)
    int* col_of_row;                 // (rows,)
    int* row_of_col;                 // (all columns,)
    int* free_rows;                  // two lists of n_rows; the first holds counts->free[0] rows
    price_t* alone_key;              // (rows,), if row_bound is given
    int* alone_root;
    int2* pred;             // (all columns,), written by all ranks
    int* best;              // (rows,) all NO_END, written by all ranks
    uint64* announcements;  // (2, blocks, ANNOUNCEMENT) zeros, written by all ranks
    uint64* lists;          // (2, blocks, THREADS * GROUPS, LISTED) zeros, written by all ranks
    uint32* arrived;        // (RANKS,) zeros, written by all ranks
    Counts* counts;
    int first_col, n_cols;
};

// The ranks, and this block's place among them. `own` is ranks[rank].
struct Team {
    const Rank* ranks;
#if RANKS == 1
    static constexpr int rank = 0;
    __device__ __forceinline__ int block() const { return blockIdx.x; }
    __device__ __forceinline__ int blocks() const { return gridDim.x; }
#else
    int rank, block_here, blocks_each;
    __device__ __forceinline__ int block() const { return block_here; }
    __device__ __forceinline__ int blocks() const { return blocks_each; }
#endif
    __device__ __forceinline__ const Rank& own() const { return ranks[rank]; }
    __device__ __forceinline__ int all_blocks() const { return RANKS * blocks(); }
    __device__ __forceinline__ int number() const { return rank * blocks() + block(); }
    __device__ __forceinline__ int thread() const { return block() * THREADS + threadIdx.x; }
    __device__ __forceinline__ int threads() const { return blocks() * THREADS; }

    __device__ __forceinline__ void reach(int col, int row, int before) const {
#pragma unroll
        for (int k = 0; k < RANKS; ++k) ranks[k].pred[col] = make_int2(row, before);
    }
    __device__ __forceinline__ void end(int root, int at) const {
#if RANKS == 1
        atomicMin(&ranks[0].best[root], at);
#else
#pragma unroll
        for (int k = 0; k < RANKS; ++k)
            asm volatile("red.relaxed.sys.global.min.s32 [%0], %1;" ::"l"(&ranks[k].best[root]), "r"(at) : "memory");
#endif
    }
#if RANKS == 1
    __device__ __forceinline__ void meet(uint32&) const { grid_barrier(&own().counts->barrier); }
    __device__ __forceinline__ void meet_all(uint32& times) const { meet(times); }
#else
    // The blocks of this rank meet; `times` counts the meetings.
    __device__ __forceinline__ void meet(uint32& times) const {
        __syncthreads();
        ++times;
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&own().counts->barrier, 1u);
            wait_for<false>(&own().counts->barrier, times * blocks());
            __threadfence();
        }
        __syncthreads();
    }
    // All blocks of all ranks meet: the last to come in each rank says so to all of them.
    __device__ __forceinline__ void meet_all(uint32& times) const {
        __syncthreads();
        ++times;
        if (threadIdx.x == 0) {
            __threadfence_system();
            if (atomicAdd(&own().counts->barrier, 1u) == times * blocks() - 1) {
                __threadfence_system();
                for (int k = 0; k < RANKS; ++k)
                    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&ranks[k].arrived[rank]), "r"(times) : "memory");
            }
            for (int k = 0; k < RANKS; ++k) wait_for<true>(&own().arrived[k], times);
            __threadfence_system();
        }
        __syncthreads();
    }
    template <bool of_all>
    __device__ __forceinline__ static void wait_for(const uint32* at, uint32 least) {
        for (uint32 tries = 0;; ++tries) {
            uint32 now;
            if (of_all) asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(now) : "l"(at) : "memory");
            else asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(at) : "memory");
            if ((int)(now - least) >= 0) return;
            if (tries == PATIENCE) __trap();
        }
    }
#endif
};

struct Strip {
    int first, width;  // columns, counted in the rank
    int offset;        // of the rank among all columns
    int first_row, height;
    int tiles, slots;
};

__device__ __forceinline__ void improve(price_t slack, const Origin& origin, price_t& least, Origin& from) {
    if (slack > least) return;
    if (slack < least || origin.row < from.row) least = slack, from = origin;
}

__device__ __forceinline__ price_t key_of(price_t delta, price_t slack) { return delta + (slack > 0 ? slack : price_t(0)); }

// Least slack of column `col` to the level's rows slot, slot + slots, ... below `count`.
template <int UNROLLED>
__device__ __forceinline__ void scan_column(const Costs& costs, const Level& level, int count, int slot, int slots, int col, price_t v,
                                            price_t& least, Origin& from) {
    for (int at = slot; at < count; at += UNROLLED * slots) {
        cost_t c[UNROLLED];
#pragma unroll
        for (int u = 0; u < UNROLLED; ++u) c[u] = __ldcs(costs.cost + level.first[min(at + u * slots, count - 1)] + col);
#pragma unroll
        for (int u = 0; u < UNROLLED; ++u) {
            const int q = min(at + u * slots, count - 1);
            if (costs.forbidden != nullptr && costs.forbidden[level.first[q] + col]) continue;
            const price_t slack = (price_t)c[u] - v - level.r[q];
            if (slack <= least) improve(slack, level.origin[q], least, from);
        }
    }
}

// A home thread takes over what the level has for its column, where it is below the key that it has.
__device__ __forceinline__ void take_over(Columns& own, int g, price_t delta, price_t least, const Origin& from) {
    if (own.covered[g] || least >= none()) return;
    const price_t key = key_of(delta, least);
    if (key < own.key[g]) own.key[g] = key, own.from[g] = from;
}

// A level of few rows, in shared memory.
__device__ __forceinline__ void scan_few(const Costs& costs, const Level& level, int count, price_t delta, const Strip& strip, Columns& own) {
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = threadIdx.x + g * THREADS;
        if (k >= strip.width) continue;
        price_t least = none();
        Origin from{FREE, FREE, FREE};
        if (count <= 4)
            scan_column<4>(costs, level, count, 0, 1, strip.first + k, own.v[g], least, from);
        else
            scan_column<FEW>(costs, level, count, 0, 1, strip.first + k, own.v[g], least, from);
        take_over(own, g, delta, least, from);
    }
}

// One row alone.
__device__ __forceinline__ void scan_one(const Costs& costs, const Entry& entry, price_t delta, const Strip& strip, Columns& own) {
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = threadIdx.x + g * THREADS;
        if (k >= strip.width || own.covered[g] || costs.forbids(entry.row, strip.first + k)) continue;
        take_over(own, g, delta, (price_t)costs.row(entry.row)[strip.first + k] - own.v[g] - entry.r, Origin{entry.row, entry.col, entry.root});
    }
}

// What a thread has found for the columns that it looks at in a level of many rows.
struct Found {
    price_t least[GROUPS];
    Origin from[GROUPS];
};

__device__ __forceinline__ Found found_nothing() {
    Found found;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) found.least[g] = none(), found.from[g] = Origin{FREE, FREE, FREE};
    return found;
}

// A part of a level of many rows.
__device__ __forceinline__ void scan_part(const Costs& costs, const Level& level, int count, const Strip& strip, const price_t* v_of_strip,
                                          Found& found) {
    const int warp = threadIdx.x / 32;
    const int slot = GROUPS == 1 ? warp / strip.tiles : 0;
    if (slot >= strip.slots) return;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = (GROUPS == 1 ? (warp % strip.tiles) * 32 : warp * 32 + g * THREADS) + lane();
        if (k < strip.width)
            scan_column<UNROLL>(costs, level, count, slot, strip.slots, strip.first + k, v_of_strip[k], found.least[g], found.from[g]);
    }
}

// The home threads gather what all slots found.
__device__ __forceinline__ void merge(Columns& own, Share& share, price_t delta, const Strip& strip, Found& found) {
    if (GROUPS == 1 && strip.slots > 1) {
        const int columns = strip.tiles * 32;
        if ((int)threadIdx.x < columns * strip.slots) share.slack[threadIdx.x] = found.least[0], share.from[threadIdx.x] = found.from[0];
        __syncthreads();
        if ((int)threadIdx.x < columns)
            for (int at = columns + threadIdx.x; at < columns * strip.slots; at += columns)
                improve(share.slack[at], share.from[at], found.least[0], found.from[0]);
        __syncthreads();
        if ((int)threadIdx.x >= columns) return;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) take_over(own, g, delta, found.least[g], found.from[g]);
}

// Rows that may stay alone, in global memory; each is written and read by the block whose strip of rows it is in.
struct Alone {
    const price_t* __restrict__ bound;  // or null when no row may stay alone
    price_t* key;
    int* root;

    __device__ __forceinline__ void consider(int row, int root_of_row, price_t r, price_t delta, const Strip& strip) const {
        const int k = row - strip.first_row;
        if (k < 0 || k >= strip.height || bound[row] >= none()) return;
        root[row] = root_of_row;
        key[row] = key_of(delta, bound[row] - r);
    }
    __device__ __forceinline__ void consider_all(const Level& level, int count, price_t delta, const Strip& strip) const {
        if (bound == nullptr) return;
        for (int q = threadIdx.x; q < count; q += THREADS) consider(level.origin[q].row, level.origin[q].root, level.r[q], delta, strip);
    }
};

struct Shared {
    Step of_warp[WARPS], of_readers[MAX_BLOCKS / 32];
    price_t key_of_block[MAX_BLOCKS];
    Entry entry_of_block[MAX_BLOCKS];  // its only row, when it has one; more are in its list
    int count_of_block[MAX_BLOCKS];
    int source[CHUNK];  // block and number in its list of each row of a level
    int n_listed[2], n_level[2];  // by parity of the step
};

constexpr int ANNOUNCEMENT = 6, LISTED = 4;  // words

__device__ __forceinline__ uint64 packed(int low, uint32 high) { return (uint64)(uint32)low | (uint64)high << 32; }
__device__ __forceinline__ int low_of(uint64 word) { return (int)(uint32)word; }
__device__ __forceinline__ uint32 high_of(uint64 word) { return (uint32)(word >> 32); }

// Every poll comes by here.
__device__ __forceinline__ void lose_patience(uint32& tries) {
#if RANKS > 1
    if (++tries == PATIENCE) __trap();
#endif
}

// The words of what is exchanged in a step. Blocks are counted over all ranks.
struct Mail {
    const Team& team;

    __device__ __forceinline__ uint64* announcement(const Rank& in, uint32 step, int block) const {
        return in.announcements + ((step & 1) * team.all_blocks() + block) * ANNOUNCEMENT;
    }
    __device__ __forceinline__ uint64* listed(const Rank& in, uint32 step, int block, int k) const {
        return in.lists + (((int64)(step & 1) * team.all_blocks() + block) * (THREADS * GROUPS) + k) * LISTED;
    }
    __device__ __forceinline__ Entry receive(uint32 step, int block, int k) const {
        const uint64* const at = listed(team.own(), step, block, k);
        uint64 r, row, ends, tag;
        uint32 tries = 0;
        do {
            lose_patience(tries);
            load_words(at, r, row);
            load_words(at + 2, ends, tag);
        } while (high_of(row) != step || high_of(tag) != step);
        return Entry{low_of(row), low_of(ends), (int)high_of(ends), price_of(r)};
    }
    __device__ __forceinline__ void list(uint32 step, int k, const Entry& e) const {
#pragma unroll
        for (int to = 0; to < RANKS; ++to) {
            uint64* const at = listed(team.ranks[to], step, team.number(), k);
            store_words(at, bits_of(e.r), packed(e.row, step));
            store_words(at + 2, packed(e.col, (uint32)e.root), packed(0, step));
        }
    }
    // To one rank.
    __device__ __forceinline__ void announce(int to, uint32 step, const Step& s) const {
        uint64* const at = announcement(team.ranks[to], step, team.number());
        store_words(at, bits_of(s.key), packed(2 * s.count + s.ends, step));
        store_words(at + 2, bits_of(s.entry.r), packed(s.entry.row, step));
        store_words(at + 4, packed(s.entry.col, (uint32)s.entry.root), packed(0, step));
    }
    __device__ __forceinline__ Step hear(uint32 step, int block) const {
        const uint64* const at = announcement(team.own(), step, block);
        uint64 key, count, r, row, ends, tag;
        uint32 tries = 0;
        do {
            lose_patience(tries);
            load_words(at, key, count);
            load_words(at + 2, r, row);
            load_words(at + 4, ends, tag);
        } while (high_of(count) != step || high_of(row) != step || high_of(tag) != step);
        return Step{price_of(key), Entry{low_of(row), low_of(ends), (int)high_of(ends), price_of(r)}, low_of(count) / 2, low_of(count) & 1};
    }
};

// Every block says what its columns and rows offer at the least key of all; all blocks return the same.
__device__ __forceinline__ Step exchange(const Columns& own, const Alone& alone, const Strip& strip, uint32 step, const Mail& mail,
                                         Shared& shared) {
    const Step nothing{none(), no_entry(), 0, 0};
    Step mine = nothing;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        if (own.covered[g] || own.key[g] > mine.key || own.key[g] >= none()) continue;
        if (own.key[g] < mine.key) mine = nothing, mine.key = own.key[g];
        const int col = strip.offset + strip.first + threadIdx.x + g * THREADS;
        if (own.row[g] == FREE) mine.ends = 1;
        else mine.entry = Entry{own.row[g], col, own.from[g].root, own.r[g]}, mine.count += 1;
    }
    if (alone.bound != nullptr)
        for (int k = threadIdx.x; k < strip.height; k += THREADS) {
            const price_t key = fresh_price(&alone.key[strip.first_row + k]);
            if (key < mine.key) mine = nothing, mine.key = key;
            if (key == mine.key && key < none()) mine.ends = 1;
        }
    const Step of_warp = together(mine);
    if (lane() == 0) shared.of_warp[threadIdx.x / 32] = of_warp;
    __syncthreads();
    const Step block = together(lane() < WARPS ? shared.of_warp[lane()] : nothing);
    if (threadIdx.x < RANKS) mail.announce(RANKS == 1 ? 0 : threadIdx.x, step, block);
    if (threadIdx.x == 0) shared.n_listed[~step & 1] = shared.n_level[~step & 1] = 0;
    if (block.count > 1) {
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            if (!own.covered[g] && own.row[g] != FREE && own.key[g] == block.key)
                mail.list(step, atomicAdd(&shared.n_listed[step & 1], 1),
                          Entry{own.row[g], (int)(strip.offset + strip.first + threadIdx.x + g * THREADS), own.from[g].root, own.r[g]});
    }
    const int n_blocks = mail.team.all_blocks(), readers = (n_blocks + 31) / 32;
    if ((int)threadIdx.x / 32 < readers) {
        Step there = nothing;
        if ((int)threadIdx.x < n_blocks) {
            there = mail.hear(step, threadIdx.x);
            shared.key_of_block[threadIdx.x] = there.key;
            shared.count_of_block[threadIdx.x] = there.count;
            shared.entry_of_block[threadIdx.x] = there.entry;
        }
        const Step of_readers = together(there);
        if (lane() == 0) shared.of_readers[threadIdx.x / 32] = of_readers;
    }
    __syncthreads();
    return together(lane() < readers ? shared.of_readers[lane()] : nothing);
}

// The level that `all` announces. All threads come.
__device__ __forceinline__ void scan_level(const Costs& costs, const Step& all, const Strip& strip, uint32 step, const Mail& mail,
                                           const price_t* v_of_strip, const Alone& alone, Columns& own, Shared& shared, Room& room) {
    const int t = threadIdx.x;
    const bool has_rows = t < mail.team.all_blocks() && shared.count_of_block[t] > 0 && shared.key_of_block[t] == all.key;
    const int count = has_rows ? shared.count_of_block[t] : 0;
    const int place = has_rows ? atomicAdd(&shared.n_level[step & 1], count) : 0;
    Found found = found_nothing();
    for (int base = 0; base < all.count; base += CHUNK) {
        const int here = min(CHUNK, all.count - base);
        for (int k = max(0, base - place); k < min(count, base + CHUNK - place); ++k) shared.source[place + k - base] = t << 16 | k;
        __syncthreads();
        for (int q = t; q < here; q += THREADS) {
            const int from = shared.source[q] >> 16, k = shared.source[q] & 0xffff;
            room.level.put(q, shared.count_of_block[from] > 1 ? mail.receive(step, from, k) : shared.entry_of_block[from], costs.n_cols);
        }
        __syncthreads();
        alone.consider_all(room.level, here, all.key, strip);
        if (all.count <= FEW) scan_few(costs, room.level, here, all.key, strip, own);
        else scan_part(costs, room.level, here, strip, v_of_strip, found);
        if (alone.bound != nullptr || all.count > FEW) __syncthreads();
    }
    if (all.count > FEW) merge(own, room.share, all.key, strip, found);
}

// The level of all free rows.
__device__ __forceinline__ void scan_roots(const Costs& costs, const price_t* r, const int* free_rows, int n_free, const Strip& strip,
                                           const price_t* v_of_strip, const Alone& alone, Columns& own, Room& room) {
    Found found = found_nothing();
    for (int base = 0; base < n_free; base += CHUNK) {
        const int count = min(CHUNK, n_free - base);
        for (int q = threadIdx.x; q < count; q += THREADS) {
            const int row = load_fresh(&free_rows[base + q]);
            room.level.put(q, Entry{row, FREE, row, fresh_price(&r[row])}, costs.n_cols);
        }
        __syncthreads();
        scan_part(costs, room.level, count, strip, v_of_strip, found);
        alone.consider_all(room.level, count, price_t(0), strip);
        __syncthreads();
    }
    merge(own, room.share, price_t(0), strip, found);
}

// Exchanges links and non-links along the path to `end` (Algorithms 5 and 6 in one walk, as predecessors are enough).
__device__ void carry_out(int end, int n_cols, const int2* pred, int* col_of_row, int* row_of_col) {
    int col = end;
    if (end >= n_cols) {
        col = load_fresh(&col_of_row[end - n_cols]);
        store_fresh(&col_of_row[end - n_cols], WENT_ALONE);
    }
    while (col >= 0) {
        const int2 before = __ldcg(&pred[col]);
        store_fresh(&col_of_row[before.x], col);
        store_fresh(&row_of_col[col], before.x);
        col = before.y;
    }
}

// The whole solve. r, v: reduced (Algorithm 1). All blocks of all ranks come.
__device__ __forceinline__ void solve(const Team& team, int n_rows, int n_cols) {
    __shared__ Room room;
    __shared__ Shared shared;
    __shared__ price_t v_of_strip[THREADS * GROUPS];
    const Rank& self = team.own();
    Counts* const counts = self.counts;
    const Costs costs{n_rows, self.n_cols, self.cost, self.forbidden};
    const Alone alone{self.row_bound, self.alone_key, self.alone_root};
    const Mail mail{team};
    Strip strip;
    const int share = ((self.n_cols + team.blocks() - 1) / team.blocks() + 7) / 8 * 8;  // whole sectors of 4-byte costs
    strip.offset = self.first_col;
    strip.first = min(team.block() * share, self.n_cols);
    strip.width = min(share, self.n_cols - strip.first);
    const int rows_share = (n_rows + team.all_blocks() - 1) / team.all_blocks();
    strip.first_row = min(team.number() * rows_share, n_rows);
    strip.height = min(rows_share, n_rows - strip.first_row);
    strip.tiles = (share + 31) / 32;
    strip.slots = GROUPS == 1 ? WARPS / strip.tiles : 1;
    Columns own;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        const int k = threadIdx.x + g * THREADS;
        const bool mine = k < strip.width;
        own.v[g] = mine ? self.v[strip.first + k] : price_t(0);
        own.row[g] = mine ? self.row_of_col[strip.offset + strip.first + k] : FREE;
        own.r[g] = own.row[g] == FREE ? price_t(0) : self.r[own.row[g]];
        v_of_strip[k] = own.v[g];
    }
    if (threadIdx.x == 0) shared.n_listed[0] = shared.n_listed[1] = shared.n_level[0] = shared.n_level[1] = 0;
    __syncthreads();
    uint32 step = 0, meetings = 0;
    int search = 0, n_levels = 0, n_updates = 0;
    int64 n_scanned = 0, search_ns = 0, augment_ns = 0;
    const bool speaks = team.thread() == 0;
    while (true) {
        const int n_free = load_fresh(&counts->free[search % 3]);
        int* const roots = self.free_rows + (search & 1) * n_rows;
        int* const next_roots = self.free_rows + (~search & 1) * n_rows;
        if (n_free == 0) break;
        const int64 began = nanoseconds();
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            own.key[g] = none();
            own.covered[g] = (int)(threadIdx.x + g * THREADS) >= strip.width;
            own.from[g] = Origin{FREE, FREE, FREE};
        }
        if (alone.bound != nullptr) {
            for (int k = threadIdx.x; k < strip.height; k += THREADS) alone.key[strip.first_row + k] = none();
            __syncthreads();
        }
        scan_roots(costs, self.r, roots, n_free, strip, v_of_strip, alone, own, room);
        if (alone.bound != nullptr) __syncthreads();
        n_scanned += n_free, n_levels += 1;

        price_t delta = 0;
        bool ended = false;
        while (true) {
            const Step all = exchange(own, alone, strip, ++step, mail, shared);
            if (all.key >= none() || (ended && all.key > delta)) break;
            n_updates += all.key > delta;
            delta = all.key;
            ended = ended || all.ends;
#pragma unroll
            for (int g = 0; g < GROUPS; ++g) {
                if (own.covered[g] || own.key[g] > delta) continue;
                own.covered[g] = true;
                const int col = strip.offset + strip.first + threadIdx.x + g * THREADS;
                team.reach(col, own.from[g].row, own.from[g].col);
                if (own.row[g] == FREE) team.end(own.from[g].root, col);
            }
            if (alone.bound != nullptr) {
                for (int k = threadIdx.x; k < strip.height; k += THREADS) {
                    const int row = strip.first_row + k;
                    if (fresh_price(&alone.key[row]) > delta) continue;
                    alone.key[row] = none();
                    team.end(alone.root[row], n_cols + row);
                }
                __syncthreads();
            }
            if (all.count == 0) break;
            n_scanned += all.count, n_levels += 1;
            if (all.count == 1) {
                scan_one(costs, all.entry, delta, strip, own);
                if (alone.bound != nullptr) {
                    if (threadIdx.x == 0) alone.consider(all.entry.row, all.entry.root, all.entry.r, delta, strip);
                    __syncthreads();
                }
            } else {
                scan_level(costs, all, strip, step, mail, v_of_strip, alone, own, shared, room);
            }
        }
        const int64 grown = nanoseconds();
        search_ns += grown - began;
        if (!ended) {
            if (speaks) counts->stuck = load_fresh(&roots[0]);
            break;
        }
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            if (own.covered[g] && own.row[g] != FREE) {
                own.v[g] -= delta - own.key[g];
                v_of_strip[threadIdx.x + g * THREADS] = own.v[g];
            }
        team.meet_all(meetings);  // all ends and predecessors are known
        for (int q = team.thread(); q < n_free; q += team.threads()) {
            const int end = load_fresh(&self.best[load_fresh(&roots[q])]);
            if (end != NO_END) carry_out(end, n_cols, self.pred, self.col_of_row, self.row_of_col);
        }
        if (speaks) counts->free[(search + 2) % 3] = 0;
        team.meet(meetings);  // the matching is the next search's
        for (int q = team.thread(); q < n_free; q += team.threads()) {
            const int row = load_fresh(&roots[q]);
            if (load_fresh(&self.best[row]) == NO_END) {
                self.r[row] = fresh_price(&self.r[row]) + delta;
                next_roots[next_place(&counts->free[(search + 1) % 3])] = row;
            } else {
                self.best[row] = NO_END;
            }
        }
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            const int k = threadIdx.x + g * THREADS;
            if (k >= strip.width) continue;
            own.row[g] = load_fresh(&self.row_of_col[strip.offset + strip.first + k]);
            if (!own.covered[g] || own.row[g] == FREE) continue;
            own.r[g] = (price_t)costs.row(own.row[g])[strip.first + k] - own.v[g];
            self.r[own.row[g]] = own.r[g];
        }
        team.meet(meetings);  // duals and free rows are the next search's
        if (speaks && search < 64) counts->paths[search] = n_free - load_fresh(&counts->free[(search + 1) % 3]);
        augment_ns += nanoseconds() - grown;
        ++search;
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g)
        if ((int)(threadIdx.x + g * THREADS) < strip.width) self.v[strip.first + threadIdx.x + g * THREADS] = own.v[g];
    if (speaks) {
        counts->searches = search, counts->levels = n_levels, counts->dual_updates = n_updates;
        counts->rows_scanned = n_scanned, counts->search_ns = search_ns, counts->augment_ns = augment_ns;
    }
}

#if RANKS == 1
extern "C" __global__ void __launch_bounds__(THREADS, 1) hungarian_forest(
    int n_rows, int n_cols, const cost_t* cost, const unsigned char* forbidden, const price_t* row_bound, price_t* v, price_t* r,
    int* col_of_row, int* row_of_col, int2* pred, int* best, int* free_rows, price_t* alone_key, int* alone_root,
    uint64* announcements, uint64* lists, Counts* counts
) {
    const Rank rank{cost, forbidden, row_bound, v, r, col_of_row, row_of_col, free_rows, alone_key, alone_root,
                    pred, best, announcements, lists, nullptr, counts, 0, n_cols};
    solve(Team{&rank}, n_rows, n_cols);
}
#else
// `ranks` lies on this device; it holds the ranks from `first_rank` on, with `blocks` blocks each.
extern "C" __global__ void __launch_bounds__(THREADS, 1) hungarian_forest(int n_rows, int n_cols, int first_rank, int blocks, const Rank* ranks) {
    __shared__ Rank all[RANKS];
    const int words = sizeof(Rank) / sizeof(int) * RANKS;
    for (int k = threadIdx.x; k < words; k += THREADS) ((int*)all)[k] = ((const int*)ranks)[k];
    __syncthreads();
    solve(Team{all, first_rank + (int)blockIdx.x / blocks, (int)blockIdx.x % blocks, blocks}, n_rows, n_cols);
}
#endif
