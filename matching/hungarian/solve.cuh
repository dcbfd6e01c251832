// What a solve of the classical Hungarian method in dual phases works on, and the threads that do it together.
#pragma once
#include "hungarian/lists.cuh"

constexpr int ZEROS = 32;     // pairs of zero slack that a row keeps at least; a row with more is shared by many threads
#ifdef ONE_BLOCK
constexpr int GATHER = 256, VALUES = 512;
#else
constexpr int GATHER = 1024, VALUES = 4096;  // of a block's additions to a list; of keys of free columns, kept at hand
#endif
#ifndef OFFERS
#define OFFERS (VALUES / 4)  // of the columns of a level, while one block handles it by itself
#endif
constexpr uint64 NOTHING = ~0ull;
constexpr uint32 FIRST = 1u << 31;

// Rounds that the first block may be ahead of the others, and slots for as many lengths: it must not clear one that they have
// still to read.
constexpr int SLOTS = 64, ONE_BLOCK_ROUNDS = SLOTS / 2;

// What was done so far; every thread counts alike, but for what only the first block sees.
struct Progress {
    int round, phases, attempts, dual_phases, rounds, levels, dual_updates;
    int64 rows_scanned, search_ns, compaction_ns, augment_ns, update_ns;
};

struct Counts {
    int queue[SLOTS];    // lengths, by round modulo SLOTS
    int by_one_block[SLOTS];  // what the first block by itself came to, round or level, by the round in which it began
    int short_lists[2];  // rows whose lists do not reach Δ, by attempt
    int members[2];      // rows in the trees, by attempt
    uint64 pairs[2];     // within Δ of those, where sinks must not be passed by
    int free_rows[2];    // by phase
    int longest_list;    // pairs of the longest that was lengthened
    int sinks;           // keys in `queue`, once a search is over
    uint32 barrier;
    int infeasible_row;  // a free row from which nothing can be reached, or -1
    int most_updates;  // of the duals, after which more than `few_left` rows may be left free; 0: no limit
    int few_left;
    uint64 least_sink;  // bits of the least of the free rows' distances to a sink
    uint64 delta;
    Progress progress;
};

// Arrays in global memory.
struct Solve {
    Costs costs;
    const dual_t* __restrict__ row_bound;  // or null when no row may stay unassigned
    int is_bounded;                         // whether some may stay unassigned, so that sinks must not be passed by
    dual_t* v;
    Row* rows;
    Column* columns;
    Lists lists;
    int* zeros;       // (rows, most_zeros) columns of zero slack at Δ; in the search, (rows, ZEROS) chains
    int* n_zeros;     // (rows,) may be more than `most_zeros`
    int most_zeros;   // ZEROS or more; for a row with more its list is looked at
    int* stamp;       // (rows,) round in which a row was queued
    dual_t* whole;   // (rows,) what `entered` was when the row was looked at whole, or -1
    uint64* claims;   // (columns,) level, hash and row by which a column was reached
    int2* steps;      // (columns,) that row, and the column that it was matched with
    uint64* sinks;    // (rows,) level and column of the sink of a root's path
    int* roots;       // (rows,)
    int2* queue;      // (2, max(rows, columns)) row and its column; in the phases, columns; after a search, keys of sinks
    int* free_rows;   // (2, rows)
    // Where sinks must not be passed by; else null.
    uint64* col_dist;  // (columns,) bits of the distance to the nearest sink, 0 for a free column
    uint64* row_dist;  // (rows,) likewise
    dual_t* slacks;  // (rows, most_zeros) of the pairs in `zeros`, until only those on shortest paths are kept
    int* members;     // (rows,) rows in the trees
    int queue_length;
    Counts* counts;
};

// A row of a tree offers to claim a column.
struct Offer {
    int col, behind;  // or NO_MEMBER, for a root itself; the row that the column is matched with, or FREE
    uint32 claimant;  // the row, and FIRST if none had claimed the column
    int root;

    __device__ __forceinline__ int row() const { return (int)(claimant & ~FIRST); }
    __device__ __forceinline__ bool is_first() const { return (claimant & FIRST) != 0; }
};

struct Shared {
    Gathered<int2, GATHER> gathered;
    Listing listing;
    int broadcast;
    dual_t entered;
    uint64 least[32], most[32];
    int sums[32];
    int n_offers[3];  // by level modulo 3
    unsigned short heavy[OFFERS];  // offers of a level, of which the rows behind have more than ZEROS pairs of zero slack
    int n_heavy[2];  // by level modulo 2
    union {
        dual_t values[VALUES];
        Offer offers[2][OFFERS];  // by level modulo 2
    };
};

// Threads that do something together: all of the grid, or one block.
struct Group {
    int thread, threads;
    bool is_grid;

    __device__ __forceinline__ int warp() const { return thread / 32; }
    __device__ __forceinline__ int warps() const { return threads / 32; }
    __device__ __forceinline__ bool leads() const { return thread == 0; }
    __device__ __forceinline__ void sync(Counts* counts) const {
        if (is_grid) grid_barrier(&counts->barrier);
        else __syncthreads();
    }
};
__device__ __forceinline__ Group the_grid() { return Group{dealt_thread(), all_threads(), true}; }
__device__ __forceinline__ Group the_block() { return Group{(int)threadIdx.x, (int)blockDim.x, false}; }

// What the whole block must agree on, asked for by one thread.
__device__ __forceinline__ int broadcast(const int* at, Shared& shared) {
    __syncthreads();
    if (threadIdx.x == 0) shared.broadcast = peek(at);
    __syncthreads();
    return shared.broadcast;
}

__device__ __forceinline__ dual_t key_of(dual_t entered, dual_t c, dual_t v, dual_t r) {
    const dual_t slack = c - v - r;
    return entered + (slack > 0 ? slack : dual_t(0));
}
// Whether a row's list may lack a pair of zero slack at Δ.
__device__ __forceinline__ bool is_short(const Row& row, dual_t entered, dual_t delta) {
    return row.beyond < none() && key_of(entered, row.beyond, dual_t(0), row.r) <= delta;
}
