// The pairs of zero slack of a dual phase, row by row; where some may stay unassigned, all pairs within Δ.
#pragma once
#include "hungarian/search.cuh"

// Whether the pair with column j, number `e` of the row or of its list, has zero slack at Δ, or is within Δ at least where some
// may stay unassigned.
__device__ __forceinline__ bool is_zero(const Solve& s, int i, const Row& row, dual_t entered, dual_t delta, bool whole, int e, int& j,
                                        dual_t& slack) {
    j = whole ? e : s.lists.cols[s.lists.first(i) + e];
    const dual_t c = whole ? s.costs.of(s.costs.first(i) + e) : (dual_t)s.lists.costs[s.lists.first(i) + e];
    if (!(c < none())) return false;
    const Column column = peek(&s.columns[j]);
    slack = key_of(dual_t(0), c, column.v, row.r);
    const dual_t key = entered + slack;
    return key <= delta && (s.is_bounded || bits_of(key) == column.key);
}

// A row with so many pairs is in the trees, and of distances to a sink knows only that of staying unassigned.
__device__ __forceinline__ void join(const Solve& s, int i, const Row& row, int found, int attempt) {
    const uint64 dist = bits_of(unassigned_dist(s, i, row));
    s.row_dist[i] = dist;
    if (row.col >= 0) s.col_dist[row.col] = dist;
    else atomicMin((unsigned long long*)&s.counts->least_sink, dist);
    s.members[next_place(&s.counts->members[attempt & 1])] = i;
    atomicAdd((unsigned long long*)&s.counts->pairs[attempt & 1], (unsigned long long)found);
}

// Lists the pairs of zero slack at Δ of every row in the trees; counts the rows whose lists do not reach that far, and queues them.
__device__ __forceinline__ void list_zeros(const Solve& s, const Group& group, dual_t delta, int round, int attempt) {
    int2* const queue = s.queue + (~round & 1) * s.queue_length;
    for (int i = group.warp(); i < s.costs.n_rows; i += group.warps()) {
        const Row row = peek(&s.rows[i]);
        if (row.col == LEFT_UNASSIGNED) continue;
        const dual_t entered = entered_at(s, row.col);
        if (entered > delta || entered >= none()) continue;
        const bool whole = is_short(row, entered, delta);
        if (whole && s.whole[i] != entered) {
            if (lane() == 0) queue[next_place(&s.counts->short_lists[attempt & 1])] = make_int2(i, row.col);
            continue;
        }
        const int length = whole ? s.costs.n_cols : row.listed;
        int found = 0;
        for (int base = 0; base < length; base += 32) {
            int j = 0;
            dual_t slack = 0;
            const bool zero = base + lane() < length && is_zero(s, i, row, entered, delta, whole, base + lane(), j, slack);
            const uint32 ballot = __ballot_sync(FULL_WARP, zero);
            const int place = found + __popc(ballot & lanes_below());
            if (zero && place < s.most_zeros) {
                s.zeros[(int64)i * s.most_zeros + place] = j;
                if (s.is_bounded) s.slacks[(int64)i * s.most_zeros + place] = slack;
            }
            found += __popc(ballot);
        }
        if (lane() != 0) continue;
        s.n_zeros[i] = found, s.rows[i].entered = entered;
        if (s.is_bounded) join(s, i, row, found, attempt);
    }
}
