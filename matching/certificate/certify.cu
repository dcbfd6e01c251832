// The certificate of an assignment: best row duals for given column duals, and every term of the gap.
//
// Linear programming duality (matching/certificate/certify.py says the same in words): r_i = min(bound_i, min_j c_ij -
// v_j), and the gap is the sum of c_ij - v_j - r_i over matched edges and unmatched cost - dual over what is unassigned.
// LANES lanes serve one row; after the rows, one thread each column. A term counts as slack when it is not 0, or, for real
// costs, more than 64 ulp of the largest number that went into it, those of the pair that set the row's dual included. An
// unassigned member without a bound, which must be matched, counts whatever its term. A matched edge has slack, and is
// matched again, from 16 ulp on.
//
// Bytes: 12 to 16 per edge, 40 per row, 40 per column. No two threads write the same place but for the count of
// terms that are slack.
// variant: -DLANES=32 -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DLANES=32
// variant: -DDENSE -DLANES=32
// variant: -DDENSE -DLANES=32 -DINTEGER -DCOST=int
#include "problem/graph.cuh"

#ifndef LANES
#define LANES 8
#endif

constexpr int ULPS = 64, REMATCH_ULPS = 16;

__device__ __forceinline__ bool exceeds(
    int ulps, dual_t slack, dual_t a, dual_t b, dual_t c, dual_t d = 0, dual_t e = 0
) {
#ifdef INTEGER
    return slack != 0;
#else
    return !(
        slack <= ulps * 2.220446049250313e-16 * fmax(fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d))), fabs(e))
    );
#endif
}

// terms_cost, terms_slack: (rows + columns,). has_unmatched_cost: staying unassigned costs the bound; else it is free.
extern "C" __global__ void auction_certify(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost,
    const unsigned char* forbidden, int width, int block_rows,
    const dual_t* row_bound, const dual_t* col_bound, const dual_t* v, const int* col_of_row, const int* row_of_col,
    dual_t* row_duals, dual_t* terms_cost, dual_t* terms_slack, int* slack_terms, unsigned char* has_slack,
    int has_unmatched_cost
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int member = threadIdx.x % LANES;
    int n_slack = 0;
    const int padded = (n_rows * (int64)LANES + 31) / 32 * 32 / LANES;
    for (int row = global_thread() / LANES; row < padded; row += all_threads() / LANES) {
        dual_t dual = row < n_rows ? row_bound[row] : none();
        dual_t own = none();
        int edge = UNASSIGNED;
        const int64 first = row < n_rows ? graph.first(row) : 0;
        const int degree = row < n_rows ? graph.degree(row) : 0;
        const int partner = row < n_rows ? col_of_row[row] : NO_MEMBER;
        for (int e = member; e < degree; e += LANES) {
            const dual_t value = graph.value(first, e, v);
            if (value < dual) dual = value, edge = e;
            if (graph.column(first, e) == partner) own = graph.cost_of(first, e);
        }
#pragma unroll
        for (int step = LANES / 2; step > 0; step /= 2) {
            const dual_t dual_there = __shfl_xor_sync(FULL_WARP, dual, step),
                          own_there = __shfl_xor_sync(FULL_WARP, own, step);
            const int edge_there = __shfl_xor_sync(FULL_WARP, edge, step);
            if (comes_before(dual_there, edge_there, dual, edge)) dual = dual_there, edge = edge_there;
            own = own_there < own ? own_there : own;
        }
        if (row < n_rows && member == 0) {
            const dual_t unmatched = has_unmatched_cost ? row_bound[row] : dual_t(0);
            const dual_t pays = partner == NO_MEMBER ? unmatched : own;
            const dual_t col_dual = partner == NO_MEMBER ? dual_t(0) : v[partner];
            dual_t set_cost = 0, set_dual = 0;
            if (edge != UNASSIGNED) set_cost = graph.cost_of(first, edge), set_dual = v[graph.column(first, edge)];
            const dual_t slack = pays - col_dual - dual;
            row_duals[row] = dual;
            terms_cost[row] = pays;
            terms_slack[row] = slack;
            n_slack += (partner == NO_MEMBER && row_bound[row] >= none()) ||
                       exceeds(ULPS, slack, pays, col_dual, dual, set_cost, set_dual);
            has_slack[row] = partner != NO_MEMBER && exceeds(REMATCH_ULPS, slack, pays, col_dual, dual, set_cost, set_dual);
        }
    }
    for (int col = global_thread(); col < n_cols; col += all_threads()) {
        const bool unassigned = row_of_col[col] == NO_MEMBER;
        const dual_t pays = unassigned && has_unmatched_cost ? col_bound[col] : dual_t(0);
        const dual_t dual = unassigned ? v[col] : dual_t(0);
        terms_cost[n_rows + col] = pays;
        terms_slack[n_rows + col] = pays - dual;
        n_slack += (unassigned && col_bound[col] >= none()) || exceeds(ULPS, pays - dual, pays, dual, 0);
    }
    if (n_slack) atomicAdd(slack_terms, n_slack);
}
