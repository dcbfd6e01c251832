// What a bipartite graph in CSR needs before matching: its largest degree, and its transpose.
//
// Source: counting sort; nothing of the papers. Variables: indptr (n + 1), indices (n_edges), both of the rows;
// other_indptr is filled by the caller's prefix sum between the two steps.
// Threads: one per vertex or edge, grid-stride. Bytes: count reads the indices once (4 B an edge, one atomic each);
// scatter reads them again and writes 4 B at a random place. Hazard: the order inside a column is that of the atomics,
// so it differs from run to run; no result of this package depends on it.
// variant: -DINDEX64
#include "device/common.cuh"

extern "C" __global__ void cardinality_graph_largest_degree(const offset_t* indptr, int n, int* largest) {
    int mine = 0;
    for (int i = global_thread(); i < n; i += all_threads()) {
        const offset_t degree = indptr[i + 1] - indptr[i];
        mine = max(mine, static_cast<int>(degree));
    }
    for (int step = 16; step > 0; step >>= 1) mine = max(mine, __shfl_down_sync(FULL_WARP, mine, step));
    if (lane() == 0 && mine > 0) atomicMax(largest, mine);
}

extern "C" __global__ void cardinality_graph_count(const int* indices, int64 n_edges, int* degree) {
    for (int64 k = global_thread(); k < n_edges; k += all_threads()) atomicAdd(&degree[indices[k]], 1);
}

// `remaining` holds each column's degree and counts down to zero.
extern "C" __global__ void cardinality_graph_scatter(const offset_t* indptr, const int* indices, int n,
                                                     const offset_t* other_indptr, int* remaining,
                                                     int* other_indices) {
    constexpr int LANES = 8;
    const int first = global_thread() / LANES;
    for (int i = first; i < n; i += all_threads() / LANES) {
        for (offset_t k = indptr[i] + (threadIdx.x % LANES); k < indptr[i + 1]; k += LANES) {
            const int j = indices[k];
            other_indices[other_indptr[j] + atomicSub(&remaining[j], 1) - 1] = i;
        }
    }
}
