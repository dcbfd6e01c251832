// Chains: for every row, columns that it reaches along up to four pairs of zero slack, matched edges in between. A key that
// enters the row is all of theirs at once, so that a search takes a third of the rounds. It is worth it where searches are
// long: few rows are free then, and the pairs of zero slack are hardly more than the trees of earlier dual phases, so that a row
// reaches four columns or so.
//
// A chain may lack columns (those beyond the room for it, those whose pair is on no list): the rounds then find them.
// Between a dual update and the listing of zeros `zeros` has no other use, nor have `n_zeros` and `roots`, which hold lengths.
#pragma once
#include "hungarian/solve.cuh"

#ifndef LONG_SEARCH
#define LONG_SEARCH 48  // rounds of a search from which on the next ones get chains
#endif
constexpr int CHAIN_LANES = 8;  // threads that lengthen the chain of a row

// The column that this lane's place of a row's chain holds, or none. One warp.
__device__ __forceinline__ int chain_column(const Solve& s, int i) {
    return lane() < s.n_zeros[i] ? s.zeros[(int64)i * ZEROS + lane()] : NO_MEMBER;
}

// The columns that a row has zero slack with, but its own. A warp takes a row; all threads of the group take part.
__device__ __forceinline__ void begin_chains(const Solve& s, const Group& group) {
    for (int i = group.warp(); i < s.costs.n_rows; i += group.warps()) {
        const Row row = peek(&s.rows[i]);
        const int64 first = s.lists.first(i);
        int found = 0;
        for (int base = 0; base < row.listed; base += 32) {
            const int e = base + lane();
            int j = row.col;
            if (e < row.listed) j = s.lists.cols[first + e];
            const bool zero =
                j != row.col && key_of(dual_t(0), (dual_t)s.lists.costs[first + e], peek(&s.columns[j]).v, row.r) == dual_t(0);
            const uint32 ballot = __ballot_sync(FULL_WARP, zero);
            const int place = found + __popc(ballot & lanes_below());
            if (zero && place < ZEROS) s.zeros[(int64)i * ZEROS + place] = j;
            found += __popc(ballot);
        }
        if (lane() == 0) s.n_zeros[i] = min(found, ZEROS);
    }
}

// To every row's chain, those of the rows behind its columns. `before`, `after`: lengths. All threads of the group take part.
__device__ __forceinline__ void double_chains(const Solve& s, const Group& group, const int* before, int* after) {
    const uint32 together = ((1u << CHAIN_LANES) - 1u) << (lane() / CHAIN_LANES * CHAIN_LANES);
    for (int i = group.thread / CHAIN_LANES; i < s.costs.n_rows; i += group.threads / CHAIN_LANES) {
        int* const chain = s.zeros + (int64)i * ZEROS;
        const int n = peek(&before[i]), mine = lane() % CHAIN_LANES;
        if (mine == 0) poke(&after[i], n);
        __syncwarp(together);
        for (int e = mine; e < n; e += CHAIN_LANES) {
            const int behind = peek(&s.columns[chain[e]].row);
            const int more = behind < 0 ? 0 : peek(&before[behind]);
            if (more == 0) continue;
            const int place = atomicAdd(&after[i], more);
            for (int k = 0; k < more && place + k < ZEROS; ++k) chain[place + k] = s.zeros[(int64)behind * ZEROS + k];
        }
        __syncwarp(together);
        if (mine == 0) poke(&after[i], min(peek(&after[i]), ZEROS));
    }
}

// All threads of the group take part.
__device__ __forceinline__ void make_chains(const Solve& s, const Group& group) {
    begin_chains(s, group);
    group.sync(s.counts);
    double_chains(s, group, s.n_zeros, s.roots);
    group.sync(s.counts);
    double_chains(s, group, s.roots, s.n_zeros);
    group.sync(s.counts);
}
