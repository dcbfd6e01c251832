// Where some may stay unassigned: every row's distance to its nearest sink, a free column or staying unassigned, over the pairs within Δ.
//
// One Δ for all trees finds one path where sinks stay at their bound. So every row and column gets a dual change of its own,
// min(dist, Δ - key): see `papers/date_nagi_2016/nearest_sinks.py`. Rows take their columns' distances, round by round, until nothing
// falls; the distances that result do not depend on the order.
//
// Then only the pairs on shortest paths are kept: those have zero slack once the duals have changed.
//
// Threads: as many lanes a row as there are to spare, FEWEST_LANES or more; a warp a row at the end.
// Bytes: 12 per pair and 8 of its column from the L2 cache, each round.
// Hazards: distances are only lowered, each by the lanes of its row; what others read meanwhile may be late, which costs a round.
#pragma once
#include "hungarian/zeros.cuh"

#ifndef FEW_MEMBERS
#define FEW_MEMBERS 512  // rows in the trees that one block handles by itself, without waiting for the others
#endif
#ifndef FEW_PAIRS
#define FEW_PAIRS (1 << 14)  // pairs of so few rows, above which all blocks handle them
#endif
constexpr int FEWEST_LANES = 8, AT_ONCE = 4;

__device__ __forceinline__ dual_t dist_of(const uint64* at) { return from_bits(peek(at)); }

// The least distance through this lane's pairs of those kept, and what was known. Where they are many, AT_ONCE of them do not wait for
// each other, and those with too much slack are passed over; for a few that takes longer.
__device__ __forceinline__ dual_t least_kept_distance(const Solve& s, int i, int mine, int lanes, int found, dual_t known) {
    const int64 first = (int64)i * s.most_zeros;
    dual_t least = known;
    int e = mine;
    for (; e + (AT_ONCE - 1) * lanes < found; e += AT_ONCE * lanes) {
        dual_t slack[AT_ONCE], dist[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) slack[k] = s.slacks[first + e + k * lanes];
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) dist[k] = slack[k] < known ? dist_of(&s.col_dist[s.zeros[first + e + k * lanes]]) : none();
#pragma unroll
        for (int k = 0; k < AT_ONCE; ++k) least = min(least, slack[k] + dist[k]);
    }
    for (; e < found; e += lanes) least = min(least, s.slacks[first + e] + dist_of(&s.col_dist[s.zeros[first + e]]));
    return least;
}

// Likewise of a row with more pairs than are kept.
__device__ __forceinline__ dual_t least_listed_distance(const Solve& s, int i, dual_t delta, int mine, int lanes, dual_t known) {
    const Row row = peek(&s.rows[i]);
    const bool whole = is_short(row, row.entered, delta);
    dual_t least = known;
    for (int e = mine; e < (whole ? s.costs.n_cols : row.listed); e += lanes) {
        int j;
        dual_t slack;
        if (is_zero(s, i, row, row.entered, delta, whole, e, j, slack)) least = min(least, slack + dist_of(&s.col_dist[j]));
    }
    return least;
}

// One round of all rows in the trees. All threads of the group take part.
__device__ __forceinline__ void learn_distances(const Solve& s, const Group& group, dual_t delta, int round, int n) {
    if (group.leads()) s.counts->queue[(round + 2) % SLOTS] = 0;
    int lanes = 32;
    while (lanes > FEWEST_LANES && (int64)n * lanes > group.threads) lanes /= 2;
    const int mine = threadIdx.x % lanes;
    const uint32 together = (FULL_WARP >> (32 - lanes)) << (lane() - mine);
    for (int q = group.thread / lanes; q < n; q += group.threads / lanes) {
        const int i = s.members[q], found = s.n_zeros[i];
        const dual_t known = dist_of(&s.row_dist[i]);
        dual_t least = found <= s.most_zeros ? least_kept_distance(s, i, mine, lanes, found, known)
                                              : least_listed_distance(s, i, delta, mine, lanes, known);
        for (int step = lanes / 2; step > 0; step /= 2) least = min(least, __shfl_xor_sync(together, least, step));
        if (mine != 0 || !(least < known)) continue;
        const int col = s.rows[i].col;
        s.row_dist[i] = bits_of(least);
        if (col >= 0) s.col_dist[col] = bits_of(least);
        else atomicMin((unsigned long long*)&s.counts->least_sink, bits_of(least));
        poke(&s.counts->queue[(round + 1) % SLOTS], 1);
    }
}

// Of every row's pairs within Δ keeps those on its shortest path. All threads of the group take part.
__device__ __forceinline__ void keep_pairs_of_paths(const Solve& s, const Group& group, dual_t delta, int n) {
    for (int q = group.warp(); q < n; q += group.warps()) {
        const int i = s.members[q], found = s.n_zeros[i];
        const int64 first = (int64)i * s.most_zeros;
        const dual_t dist = dist_of(&s.row_dist[i]);
        const bool listed = found <= s.most_zeros;
        Row row{};
        if (!listed) row = peek(&s.rows[i]);
        const bool whole = !listed && is_short(row, row.entered, delta);
        const int length = dist >= none() ? 0 : listed ? found : whole ? s.costs.n_cols : row.listed;
        int kept = 0;
        for (int base = 0; base < length; base += 32) {
            const int e = base + lane();
            int j = 0;
            dual_t slack = none();
            bool keeps = e < length;
            if (keeps && listed) j = s.zeros[first + e], slack = s.slacks[first + e];
            else if (keeps) keeps = is_zero(s, i, row, row.entered, delta, whole, e, j, slack);
            keeps = keeps && slack <= dist && slack + dist_of(&s.col_dist[j]) == dist;
            const uint32 ballot = __ballot_sync(FULL_WARP, keeps);
            const int place = kept + __popc(ballot & lanes_below());
            if (keeps && place < s.most_zeros) s.zeros[first + place] = j;
            kept += __popc(ballot);
        }
        if (lane() == 0) s.n_zeros[i] = kept;
    }
}

// Rounds until no distance falls; then the pairs that count. All threads of the group take part.
__device__ __forceinline__ void find_sinks(const Solve& s, const Group& group, dual_t delta, int n, uint64 n_pairs, Shared& shared,
                                          Progress& progress) {
    const int first = progress.round;
    do {
        const int round = progress.round;
        if (group.is_grid && n <= FEW_MEMBERS && n_pairs <= FEW_PAIRS) {
            if (blockIdx.x == 0) {
                do {
                    learn_distances(s, the_block(), delta, progress.round, n);
                    __syncthreads();
                    progress.round += 1;
                } while (peek(&s.counts->queue[progress.round % SLOTS]) > 0 && progress.round - round < ONE_BLOCK_ROUNDS);
                if (threadIdx.x == 0) s.counts->by_one_block[round % SLOTS] = progress.round;
            }
            group.sync(s.counts);
            progress.round = broadcast(&s.counts->by_one_block[round % SLOTS], shared);
        } else {
            learn_distances(s, group, delta, progress.round, n);
            group.sync(s.counts);
            progress.round += 1;
        }
    } while (broadcast(&s.counts->queue[progress.round % SLOTS], shared) > 0);
    progress.rounds += progress.round - first;
    keep_pairs_of_paths(s, group, delta, n);
    group.sync(s.counts);
}

// Whether a free row's nearest sink is within Δ; but for rounding that of the nearest of all is.
__device__ __forceinline__ bool has_sink(const Solve& s, int i, dual_t delta) {
    return dist_of(&s.row_dist[i]) <= max(delta, from_bits(peek(&s.counts->least_sink)));
}
