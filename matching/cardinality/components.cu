// Connected components of a bipartite graph by union-find.
//
// Source: lock-free union-find with pointers halved on the way (Jaiganesh, Burtscher: A high-performance connected
// components implementation for GPUs, HPDC 2018); nothing of the cardinality papers. The CPU's twin is components.py.
// Variables: parent[v] <= v over rows, then columns (column j is vertex n_rows + j); a root is its own parent.
// Threads: eight a row to unite, one a vertex to flatten; grid-stride. Bytes: per edge 4 and two walks to roots.
// Hazards: roots are joined by compare-and-swap, the larger below the smaller, so whatever the order the smallest
// vertex of a component ends as its root; halving writes only ancestors, which are never wrong while uniting.
// variant: -DINDEX64
#include "device/common.cuh"

__device__ int root_of(int* parent, int vertex) {
    int before = vertex, here = load_fresh(&parent[vertex]);
    while (true) {
        const int above = load_fresh(&parent[here]);
        if (above == here) return here;
        store_fresh(&parent[before], above);
        before = here;
        here = above;
    }
}

extern "C" __global__ void cardinality_components_unite(const offset_t* indptr, const int* indices, int n_rows,
                                                        int* parent) {
    constexpr int LANES = 8;
    for (int row = global_thread() / LANES; row < n_rows; row += all_threads() / LANES) {
        for (offset_t k = indptr[row] + (threadIdx.x % LANES); k < indptr[row + 1]; k += LANES) {
            int a = root_of(parent, row), b = root_of(parent, n_rows + indices[k]);
            while (a != b) {
                const int larger = max(a, b), smaller = min(a, b);
                const int held = atomicCAS(&parent[larger], larger, smaller);
                if (held == larger) break;
                a = root_of(parent, held), b = root_of(parent, smaller);
            }
        }
    }
}

// Each thread writes its own vertex only: a pointer halved by another could come late and stand above a root found.
extern "C" __global__ void cardinality_components_flatten(int n_vertices, int* parent) {
    for (int v = global_thread(); v < n_vertices; v += all_threads()) {
        int here = v, above = load_fresh(&parent[v]);
        while (above != here) {
            here = above;
            above = load_fresh(&parent[here]);
        }
        store_fresh(&parent[v], here);
    }
}
