// The first lists of the classical Hungarian method: for every row its pairs with the smallest c - v.
//
// Every lane of a warp keeps the BEST smallest of the columns that it looks at; the list is what lies below the least of the
// lanes' largest, which is therefore complete: 35 pairs or so with 4. Pairs that come in equal to that bound are left out.
//
// Threads: a warp takes a row. Bytes: 4 to 8 per pair, and 8 of the column's dual from the L2 cache. No hazards.
// variant: -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64
#include "hungarian_lists.cuh"

constexpr int BEST = 4;
static_assert(32 * (BEST - 1) <= CAPACITY, "a list holds what all lanes may give it");

// The smallest pairs that a lane has seen, in order.
struct Smallest {
    price_t value[BEST];
    int col[BEST];

    __device__ __forceinline__ void consider(price_t x, int j) {
        if (!(x < value[BEST - 1])) return;
        value[BEST - 1] = x, col[BEST - 1] = j;
#pragma unroll
        for (int k = BEST - 1; k > 0; --k)
            if (value[k] < value[k - 1]) {
                const price_t above = value[k - 1];
                const int above_col = col[k - 1];
                value[k - 1] = value[k], col[k - 1] = col[k];
                value[k] = above, col[k] = above_col;
            }
    }
};

extern "C" __global__ void __launch_bounds__(256) hungarian_list_rows(int n_rows, int n_cols, const cost_t* cost,
                                                                       const unsigned char* forbidden, const price_t* __restrict__ v,
                                                                       Row* rows, int* list_cols, cost_t* list_costs) {
    const Costs costs{n_rows, n_cols, cost, forbidden};
    const Lists lists{list_cols, list_costs};
    for (int row = global_thread() / 32; row < n_rows; row += all_threads() / 32) {
        const int64 first = costs.first(row), at = lists.first(row);
        Smallest mine;
#pragma unroll
        for (int k = 0; k < BEST; ++k) mine.value[k] = none(), mine.col[k] = 0;
        int j = lane();
        for (; j + 7 * 32 < n_cols; j += 8 * 32) {
            price_t x[8];
#pragma unroll
            for (int u = 0; u < 8; ++u) x[u] = costs.of(first + j + u * 32);
#pragma unroll
            for (int u = 0; u < 8; ++u)
                if (x[u] < none()) mine.consider(x[u] - v[j + u * 32], j + u * 32);
        }
        for (; j < n_cols; j += 32) {
            const price_t c = costs.of(first + j);
            if (c < none()) mine.consider(c - v[j], j);
        }
        const price_t beyond = least_of_warp(mine.value[BEST - 1]);
        int listed = 0;
#pragma unroll
        for (int k = 0; k < BEST; ++k) {
            const bool takes = mine.value[k] < beyond;
            const uint32 who = __ballot_sync(FULL_WARP, takes);
            if (takes) {
                const int place = listed + __popc(who & lanes_below());
                lists.cols[at + place] = mine.col[k];
                lists.costs[at + place] = cost[first + mine.col[k]];
            }
            listed += __popc(who);
        }
        if (lane() == 0) rows[row].beyond = beyond, rows[row].listed = listed;
    }
}
