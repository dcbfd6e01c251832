// The edges that may decide a doubt, c_ij - r_i - v_j up to `within`; as `near_pairs.py` on the CPU, for real costs. A warp a
// row: it counts what its lanes found and takes places for all of them at once, so that edges of a row lie together, but
// rows in no order.
//
// Bytes: 12 to 16 per edge. Threads share the count alone.
// variant: -DCOST=double
// variant: -DDENSE
#include "problem/graph.cuh"

// edges: (most,), of which the first `found` are written; found begins at 0 and ends above `most` where they are more.
extern "C" __global__ void edges_within(
    int n_rows, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden, int width,
    int block_rows, const double* r, const double* v, double within, int64 most, int64* edges, unsigned long long* found
) {
    const Graph graph{indptr, indices, cost, forbidden, width, block_rows};
    for (int row = global_thread() / 32; row < n_rows; row += all_threads() / 32) {
        const int64 first = graph.first(row);
        const int degree = graph.degree(row);
        for (int begin = 0; begin < degree; begin += 32) {
            const int e = begin + lane();
            const bool is_near = e < degree && graph.value(first, e, v) - r[row] <= within;
            const uint32 ballot = __ballot_sync(FULL_WARP, is_near);
            if (ballot == 0) continue;
            int64 place = lane() == 0 ? (int64)atomicAdd(found, (unsigned long long)__popc(ballot)) : 0;
            place = __shfl_sync(FULL_WARP, place, 0);
            if (place >= most) return;  // too many: no place is handed out any more
            place += __popc(ballot & ((1u << lane()) - 1));
            if (is_near && place < most) edges[place] = first + e;
        }
    }
}
