// Levels of few columns, by one block by itself: a solve has thousands of them one after the other, most of hardly a hundred
// columns, and what each takes is one trip to the L2 cache for every read that waits for another.
//
// Here that is twice. What a level claims stays in shared memory, every offer that was its column's best so far, with its root
// and the row behind the column, asked for beside the claim. So the next level asks at once for all it needs: whether the offer
// was the best of all, whether its tree has a sink, and the pairs of the row behind.
//
// Threads: OFFER_LANES an offer, or fewer: few rows have more pairs, and idle warps would take turns with the others. Rows with more
// than ZEROS pairs of zero slack, as costs that tie have, come after them.
// Hazards: as in hungarian/dual_phases.cuh; claims are asked for after a barrier.
#pragma once
#include "hungarian/claims.cuh"

constexpr int OFFER_SHIFT = 2, OFFER_LANES = 1 << OFFER_SHIFT;

__device__ __forceinline__ Offer root_offer(int i) { return Offer{NO_MEMBER, i, 0, i}; }
__device__ __forceinline__ Offer claimed_offer(const Solve& s, int j) {
    const int row = row_of(peek(&s.claims[j]));
    return Offer{j, peek(&s.columns[j].row), (uint32)row | FIRST, peek(&s.roots[row])};
}

// The row behind an offer claims its columns. What does not fit goes to `beyond`, each column once. `lanes` threads.
__device__ __forceinline__ void claim_behind(const Solve& s, dual_t delta, int level, const Offer& offer, int mine, int lanes,
                                             const Zeros& zeros, Offer* next, int* n_next, int2* beyond, int* n_beyond) {
    const int i = offer.behind, root = offer.root;
    claim_columns(s, delta, i, root, level, mine, lanes, zeros, [&](int j, uint64 claim) {
        const int behind = peek(&s.columns[j].row);
        const uint64 before = atomicMin((unsigned long long*)&s.claims[j], claim);
        if (before < claim) return;
        const bool first = level_of(before) > level + 1;
        const int place = next_place(n_next);
        if (place < OFFERS) next[place] = Offer{j, behind, (uint32)i | (first ? FIRST : 0u), root};
        else if (first) beyond[next_place(n_beyond)] = make_int2(j, 0);
    });
}

// One level: the rows behind the offers that held claim columns; those with more than ZEROS pairs wait in `heavy`.
// All threads of the block.
__device__ __forceinline__ void grow_offers(const Solve& s, dual_t delta, int level, int n, const Offer* offers, Offer* next,
                                            int* n_next, int2* beyond, int* n_beyond, unsigned short* heavy, int* n_heavy) {
    int lanes = OFFER_LANES, shift = OFFER_SHIFT;
    while (shift > 0 && n << shift > (int)blockDim.x) lanes /= 2, shift -= 1;
    const int mine = threadIdx.x & (lanes - 1);
    for (int q = threadIdx.x >> shift; q < n; q += (int)blockDim.x >> shift) {
        const Offer offer = offers[q];
        const int i = offer.behind, root = offer.root;
        Zeros zeros;
        if (i >= 0) zeros.read(s, i, mine);
        const uint64 sink = peek(&s.sinks[root]), claim = offer.col < 0 ? 0 : peek(&s.claims[offer.col]);
        const int from = offer.col < 0 ? NO_MEMBER : peek(&s.rows[offer.row()].col);
        if (offer.col >= 0 && row_of(claim) != offer.row()) continue;
        if (offer.col >= 0 && mine == 0) note_step(s, offer.col, offer.row(), from);
        if (i < 0) {
            if (mine == 0) note_sink(s, root, level, offer.col);
            continue;
        }
        if (mine == 0) poke(&s.roots[i], root);
        if (has_sink_before(sink, level) || (offer.col < 0 && s.is_bounded && !has_sink(s, i, delta))) continue;
        if (zeros.found <= min(ZEROS, s.most_zeros))  // so that the compiler knows that all are kept
            claim_behind(s, delta, level, offer, mine, lanes, zeros, next, n_next, beyond, n_beyond);
        else if (mine == 0) heavy[next_place(n_heavy)] = (unsigned short)q;
    }
}

// Then the rows that wait claim theirs, each by as many threads as there are for it. All threads of the block.
__device__ __forceinline__ void grow_heavy(const Solve& s, dual_t delta, int level, int n, const Offer* offers, Offer* next,
                                           int* n_next, int2* beyond, int* n_beyond, const unsigned short* heavy) {
    int lanes = blockDim.x;
    while (lanes > 32 && n * lanes > (int)blockDim.x) lanes /= 2;
    const int mine = threadIdx.x % lanes;
    for (int q = threadIdx.x / lanes; q < n; q += blockDim.x / lanes) {
        const Offer& offer = offers[heavy[q]];
        Zeros zeros;
        zeros.read(s, offer.behind, min(mine, s.most_zeros - 1));
        claim_behind(s, delta, level, offer, mine, lanes, zeros, next, n_next, beyond, n_beyond);
    }
}

// Levels from `level` on, whose `n` columns are in `queue`, until there are none or too many, or a level had more than `most_heavy`
// rows that wait; they then are in the next queue. Writes into `counts` how many, and at which level and whether for that reason.
// All threads of one block.
__device__ __forceinline__ void grow_few(const Solve& s, const int* free_rows, dual_t delta, int level, int round, int n,
                                         int most_heavy, Shared& shared) {
    const int2* const queue = s.queue + (round & 1) * s.queue_length;
    int2* const beyond = s.queue + (~round & 1) * s.queue_length;
    int* const n_beyond = &s.counts->queue[(round + 1) % SLOTS];
    __syncthreads();
    for (int q = threadIdx.x; q < n; q += blockDim.x)
        shared.offers[0][q] = level == 0 ? root_offer(free_rows[q]) : claimed_offer(s, queue[q].x);
    if (threadIdx.x == 0) shared.n_offers[1] = shared.n_heavy[0] = 0;
    __syncthreads();
    int step = 0, waiting;
    do {
        const Offer* const offers = shared.offers[step & 1];
        Offer* const next = shared.offers[~step & 1];
        int *const n_next = &shared.n_offers[(step + 1) % 3], *const n_heavy = &shared.n_heavy[step & 1];
        if (threadIdx.x == 0) shared.n_offers[(step + 2) % 3] = shared.n_heavy[~step & 1] = 0;
        grow_offers(s, delta, level + step, n, offers, next, n_next, beyond, n_beyond, shared.heavy, n_heavy);
        __syncthreads();
        waiting = *n_heavy;
        if (waiting > 0) {
            grow_heavy(s, delta, level + step, waiting, offers, next, n_next, beyond, n_beyond, shared.heavy);
            __syncthreads();
        }
        step += 1;
        n = shared.n_offers[step % 3];
    } while (0 < n && n <= OFFERS && waiting <= most_heavy);
    for (int q = threadIdx.x; q < min(n, OFFERS); q += blockDim.x) {
        const Offer offer = shared.offers[step & 1][q];
        if (offer.is_first()) beyond[next_place(n_beyond)] = make_int2(offer.col, 0);
    }
    if (threadIdx.x == 0) {
        s.counts->by_one_block[round % SLOTS] = (level + step) << 1 | (waiting > most_heavy);
        s.counts->queue[(round + 2) % SLOTS] = 0;
    }
}
