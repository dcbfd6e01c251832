// A greedy matching by cost, from which the question starts whether all rows can be matched at all.
//
// Ours: each free row asks for its cheapest free column, and each column takes the cheapest that asks. In a gate whose
// particles moved little such a pair is nearly always right: one row of 200,000 is left over then, where taking each
// row's first free column (cardinality/initial.cu) leaves 7 %.
//
// LANES neighbouring lanes serve one row. A round has two phases:
//   ask     every free row finds its cheapest free column (ties: the smallest) and enters its key by atomicMin;
//   take    every free row whose key won takes the column. A column that was asked for is matched in the same round,
//           so that keys are never cleared.
// Keys compare costs rounded to float, then rows, so that the outcome does not depend on the order of threads.
//
// Bytes: 12 to 16 per edge of a free row and round, 8 per row. Hazards: partners are written between barriers only.
// variant: -DLANES=32 -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DLANES=32
#include "problem/graph.cuh"

#ifndef LANES
#define LANES 8
#endif

__device__ __forceinline__ uint64 asking_key(dual_t cost, int row) {
    const uint32 bits = __float_as_uint((float)cost);
    const uint32 ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return ((uint64)ordered << 32) | (uint32)row;
}

// The edge of the cheapest free column of a row, NO_EDGE if there is none; its lanes come together.
__device__ __forceinline__ int cheapest_free(const Graph& graph, int row, const int* row_of_col) {
    Choice choice = no_choice(false, 0);
    if (row != NO_MEMBER) {
        const int64 first = graph.first(row);
        const int degree = graph.degree(row);
        for (int e = threadIdx.x % LANES; e < degree; e += LANES)
            if (row_of_col[graph.column(first, e)] == NO_MEMBER) consider(choice, graph.cost_of(first, e), e);
    }
    return agreed<LANES>(choice).best_edge;
}

// col_of_row, row_of_col: NO_MEMBER everywhere at the start. key: (columns,) all bits set. asked: (rows,) scratch.
// n_free: rows that stay without a column.
extern "C" __global__ void __launch_bounds__(512) auction_greedy(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden,
    int width, int block_rows, int rounds, int* col_of_row, int* row_of_col, uint64* key, int* asked, int* n_free,
    uint32* barrier
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    const int thread = dealt_thread(), threads = all_threads();
    const int padded = (n_rows * (int64)LANES + 31) / 32 * 32 / LANES;  // whole warps
    for (int round = 0; round < rounds; round++) {
        for (int row = thread / LANES; row < padded; row += threads / LANES) {
            const bool asks = row < n_rows && col_of_row[row] == NO_MEMBER;
            const int edge = cheapest_free(graph, asks ? row : NO_MEMBER, row_of_col);
            if (asks && threadIdx.x % LANES == 0) {
                asked[row] = NO_MEMBER;
                if (edge != NO_EDGE) {
                    const int64 first = graph.first(row);
                    asked[row] = graph.column(first, edge);
                    atomicMin(&key[asked[row]], asking_key(graph.cost_of(first, edge), row));
                }
            }
        }
        grid_barrier(barrier);
        for (int row = thread; row < n_rows; row += threads) {
            if (col_of_row[row] != NO_MEMBER) continue;
            const int col = *(volatile int*)&asked[row];
            if (col == NO_MEMBER || (int)(uint32)*(volatile uint64*)&key[col] != row) continue;
            col_of_row[row] = col;
            row_of_col[col] = row;
        }
        grid_barrier(barrier);
    }
    for (int row = thread; row < n_rows; row += threads)
        if (*(volatile int*)&col_of_row[row] == NO_MEMBER) next_place(n_free);
}
