// How the trees of a dual phase claim columns, along pairs of zero slack.
//
// A column that several rows of one level reach goes to the one with the smallest hash of the pair: equal costs then spread
// over the rows. A tree with a sink does not grow further.
#pragma once
#include "hungarian/nearest_sinks.cuh"

constexpr int LEVEL_BITS = 19, HASH_BITS = 21, ROW_BITS = 24;
static_assert(LEVEL_BITS + HASH_BITS + ROW_BITS == 64, "a claim is one word");

__device__ __forceinline__ uint64 claim_of(int level, int row, int col) {
    uint32 hash = (uint32)row * 0x9E3779B1u ^ (uint32)col * 0x85EBCA77u;
    hash = (hash ^ hash >> 15) * 0x2C1B3C6Du;
    hash = (hash ^ hash >> 13) >> (32 - HASH_BITS);
    return (uint64)level << (HASH_BITS + ROW_BITS) | (uint64)hash << ROW_BITS | (uint32)row;
}
__device__ __forceinline__ int level_of(uint64 claim) { return (int)(claim >> (HASH_BITS + ROW_BITS)); }
__device__ __forceinline__ int row_of(uint64 claim) { return (int)(claim & ((1u << ROW_BITS) - 1)); }

__device__ __forceinline__ void note_sink(const Solve& s, int root, int level, int sink) {
    atomicMin((unsigned long long*)&s.sinks[root], (uint64)level << 32 | (uint32)sink);
}
__device__ __forceinline__ bool has_sink_before(uint64 sink, int level) { return (uint32)(sink >> 32) < (uint32)level; }

// How many zeros a row has, and this lane's first of them, at a place that the row has room for: read before it is known whether
// they are needed.
struct Zeros {
    int found, first;

    __device__ __forceinline__ void read(const Solve& s, int i, int place) {
        found = s.n_zeros[i], first = s.zeros[(int64)i * s.most_zeros + place];
    }
};

// Writes down which row holds the claim to a column, and the column that this row came from.
__device__ __forceinline__ void note_step(const Solve& s, int col, int row, int from) { s.steps[col] = make_int2(row, from); }

// A row of level `level` claims its columns of zero slack: take(column, claim) each. `lanes` threads.
template <typename Take>
__device__ __forceinline__ void claim_columns(const Solve& s, dual_t delta, int i, int root, int level, int mine, int lanes,
                                              const Zeros& zeros, const Take& take) {
    const int found = zeros.found;
    const bool listed = found <= s.most_zeros;
    Row row{};
    if (!listed || s.row_bound != nullptr) row = peek(&s.rows[i]);
    const bool whole = !listed && is_short(row, row.entered, delta);
    const dual_t own_dist = s.is_bounded && (!listed || s.row_bound != nullptr) ? dist_of(&s.row_dist[i]) : none();
    const int length = listed ? found : whole ? s.costs.n_cols : row.listed;
    for (int e = mine; e < length; e += lanes) {
        int j;
        dual_t slack;
        if (listed) j = e == mine ? zeros.first : s.zeros[(int64)i * s.most_zeros + e];
        else if (!is_zero(s, i, row, row.entered, delta, whole, e, j, slack)) continue;
        else if (s.is_bounded && slack + dist_of(&s.col_dist[j]) != own_dist) continue;
        take(j, claim_of(level + 1, i, j));
    }
    if (s.row_bound != nullptr && mine == 0 && own_dist < none() && unassigned_dist(s, i, row) == own_dist)
        note_sink(s, root, level, s.costs.n_cols + i);
}
