// Where some may stay alone: every row's way to its nearest end, a free column or staying alone, over the pairs within Δ.
//
// One Δ for all trees finds one path where ends stay at their bound. So every row and column gets a dual change of its own,
// min(way, Δ - key): see `matching/hungarian/nearest_ends.py`. Rows learn from their columns, round by round, until nothing
// falls; the ways that come out do not depend on the order.
//
// Threads: GROUP lanes a row. Bytes: 12 per pair and 8 of its column from the L2 cache, each round.
// Hazards: ways are only lowered, each by the lanes of its row; what others read meanwhile may be late, which costs a round.
#pragma once
#include "hungarian_zeros.cuh"

#ifndef FEW_MEMBERS
#define FEW_MEMBERS 512  // rows in the trees that one block looks after by itself, without meeting the others
#endif
constexpr int GROUP = 8;  // lanes

__device__ __forceinline__ price_t way_of(const uint64* at) { return price_of(peek(at)); }

// The least that the row's columns offer, and what it knew. GROUP lanes, of which this is number `mine`.
__device__ __forceinline__ price_t least_way(const Solve& s, int i, price_t delta, int mine, price_t known) {
    const int found = s.n_zeros[i];
    price_t least = known;
    if (found <= ZEROS) {
        for (int e = mine; e < found; e += GROUP) {
            const int64 at = (int64)i * ZEROS + e;
            least = min(least, s.slacks[at] + way_of(&s.far[s.zeros[at]]));
        }
    } else {
        const Row row = peek(&s.rows[i]);
        const bool whole = is_short(row, row.entered, delta);
        for (int e = mine; e < (whole ? s.costs.n_cols : row.listed); e += GROUP) {
            int j;
            price_t slack;
            if (is_zero(s, i, row, row.entered, delta, whole, e, j, slack)) least = min(least, slack + way_of(&s.far[j]));
        }
    }
    const uint32 together = ((1u << GROUP) - 1) << (lane() & ~(GROUP - 1));
#pragma unroll
    for (int step = GROUP / 2; step > 0; step /= 2) least = min(least, __shfl_xor_sync(together, least, step));
    return least;
}

// One round of all rows in the trees. All threads of the team come.
__device__ __forceinline__ void learn_ways(const Solve& s, const Team& team, price_t delta, int round, int n) {
    if (team.speaks()) s.counts->queue[(round + 2) % SLOTS] = 0;
    for (int q = team.thread / GROUP; q < n; q += team.threads / GROUP) {
        const int i = s.members[q], mine = threadIdx.x % GROUP;
        const price_t known = way_of(&s.row_far[i]), least = least_way(s, i, delta, mine, known);
        if (mine != 0 || !(least < known)) continue;
        const int col = s.rows[i].col;
        s.row_far[i] = bits_of(least);
        if (col >= 0) s.far[col] = bits_of(least);
        else atomicMin((unsigned long long*)&s.counts->least_end, bits_of(least));
        poke(&s.counts->queue[(round + 1) % SLOTS], 1);
    }
}

// Rounds until no way falls. All threads of the team come.
__device__ __forceinline__ void find_ends(const Solve& s, const Team& team, price_t delta, int n, Shared& shared, Progress& progress) {
    const int first = progress.round;
    do {
        const int round = progress.round;
        if (team.is_grid && n <= FEW_MEMBERS) {
            if (blockIdx.x == 0) {
                do {
                    learn_ways(s, the_block(), delta, progress.round, n);
                    __syncthreads();
                    progress.round += 1;
                } while (peek(&s.counts->queue[progress.round % SLOTS]) > 0 && progress.round - round < ALONE_ROUNDS);
                if (threadIdx.x == 0) s.counts->alone[round % SLOTS] = progress.round;
            }
            team.meet(s.counts);
            progress.round = heard(&s.counts->alone[round % SLOTS], shared);
        } else {
            learn_ways(s, team, delta, progress.round, n);
            team.meet(s.counts);
            progress.round += 1;
        }
    } while (heard(&s.counts->queue[progress.round % SLOTS], shared) > 0);
    progress.rounds += progress.round - first;
}

// Whether a free row's nearest end is within Δ; but for rounding that of the nearest of all is.
__device__ __forceinline__ bool has_end(const Solve& s, int i, price_t delta) {
    return way_of(&s.row_far[i]) <= max(delta, price_of(peek(&s.counts->least_end)));
}
