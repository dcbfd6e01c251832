// G-PR: push-relabel in its three forms, with global and gap relabelling, as published.
//
// Source: Deveci, Kaya, Ucar, Catalyurek, "A push-relabel-based maximum cardinality bipartite matching algorithm on
// GPUs", ICPP 2013, Algorithms 3-9, in the paper's names; columns are active and push to rows.
// Variables: psi_row, psi_col (labels, m + n = reaches no free row); mu_row (-1 free), mu_col (-1 free, -2 inactive,
// else a row that may since have gone elsewhere: active if mu_row[mu_col[v]] != v); a_c, a_p (active columns, current
// and previous); i_a (loop in which a column was last active).
// Threads: a vertex or list entry each, grid-stride. Bytes: per push and neighbour 4 + 4; per relabelling level
// 4 B a row and 4 + 4 + 4 an edge of the frontier.
// Hazards: no atomics on labels or matches; of two columns that push to one row the last writer holds it, and the
// other finds out. Repairs: Algorithm 6 line 3 tests mu of u for v and reads mu(-1), mu(-2); Algorithm 9's w is the
// row's partner before the push, read once. A late writer can lower a row's label or raise a column's beyond the exact
// distance, so the host ends with a global relabelling and wakes inactive columns that it reaches.
// variant: -DINDEX64
#include "device/common.cuh"

__device__ __forceinline__ bool is_active(int v, const int* mu_row, const int* mu_col) {
    const int u = load_fresh(&mu_col[v]);
    return u == -1 || (u >= 0 && load_fresh(&mu_row[u]) != v);
}

extern "C" __global__ void cardinality_gpr_init_relabel(int m, int n, const int* mu_row, int* psi_row, int* psi_col,
                                                        int infinite) {
    for (int u = global_thread(); u < m; u += all_threads()) psi_row[u] = mu_row[u] == -1 ? 0 : infinite;
    for (int v = global_thread(); v < n; v += all_threads()) psi_col[v] = infinite;
}

// Algorithm 5.
extern "C" __global__ void cardinality_gpr_relabel_level(int m, const offset_t* rxadj, const int* radj,
                                                         const int* mu_row, const int* mu_col, int* psi_row,
                                                         int* psi_col, int level, int infinite, int* u_added) {
    for (int u = global_thread(); u < m; u += all_threads()) {
        if (psi_row[u] != level) continue;
        for (offset_t k = rxadj[u]; k < rxadj[u + 1]; ++k) {
            const int v = radj[k];
            if (load_fresh(&psi_col[v]) != infinite) continue;
            store_fresh(&psi_col[v], level + 1);
            const int partner = mu_col[v];
            if (partner > -1 && mu_row[partner] == v) {
                store_fresh(&psi_row[partner], level + 2);
                *u_added = 1;
            }
        }
    }
}

// Counts rows by label, labels below `n_bins` only.
extern "C" __global__ void cardinality_gpr_count_labels(int m, const int* psi_row, int* bins, int n_bins) {
    for (int u = global_thread(); u < m; u += all_threads()) {
        if (psi_row[u] < n_bins) atomicAdd(&bins[psi_row[u]], 1);
    }
}

// Row labels are even and fall by at most 2 along a path, so an even label without rows cuts off all labels above.
extern "C" __global__ void cardinality_gpr_gap_relabel(int m, int n, int* psi_row, int* psi_col, int gap,
                                                       int infinite) {
    for (int u = global_thread(); u < m; u += all_threads()) {
        if (psi_row[u] > gap) psi_row[u] = infinite;
    }
    for (int v = global_thread(); v < n; v += all_threads()) {
        if (psi_col[v] > gap) psi_col[v] = infinite;
    }
}

// Lines 5-12 of Algorithm 6: the neighbour of lowest label, or -1 with `lowest` = m + n.
__device__ int lowest_neighbor(int v, const offset_t* cxadj, const int* cadj, const int* psi_row, int psi_v,
                               int infinite, int* lowest) {
    int u = -1;
    *lowest = infinite;
    for (offset_t k = cxadj[v]; k < cxadj[v + 1]; ++k) {
        const int label = load_fresh(&psi_row[cadj[k]]);
        if (label < *lowest) {
            *lowest = label;
            u = cadj[k];
            if (label == psi_v - 1) break;
        }
    }
    return u;
}

// Algorithm 6 (form `first`).
extern "C" __global__ void cardinality_gpr_push_all(int n, const offset_t* cxadj, const int* cadj, int* mu_row,
                                                    int* mu_col, int* psi_row, int* psi_col, int infinite,
                                                    int* n_active, int* n_pushes) {
    for (int v = global_thread(); v < n; v += all_threads()) {
        if (!is_active(v, mu_row, mu_col)) continue;
        next_place(n_active);
        int lowest;
        const int u = lowest_neighbor(v, cxadj, cadj, psi_row, psi_col[v], infinite, &lowest);
        if (u < 0) {
            mu_col[v] = -2;
            continue;
        }
        store_fresh(&mu_row[u], v);
        store_fresh(&mu_col[v], u);
        psi_col[v] = lowest + 1;
        store_fresh(&psi_row[u], lowest + 2);
        next_place(n_pushes);
    }
}

// Algorithm 8 (forms `active` and `shrink`): columns whose push was overrun go back into the list.
extern "C" __global__ void cardinality_gpr_init_list(int size, const int* mu_row, const int* mu_col, int* a_c,
                                                     const int* a_p, int* i_a, int loop, int* n_active) {
    for (int i = global_thread(); i < size; i += all_threads()) {
        int v = a_p[i];
        if (v != -1 && is_active(v, mu_row, mu_col)) {
            a_c[i] = v;
        } else {
            v = a_c[i];
        }
        if (v != -1) {
            i_a[v] = loop;
            next_place(n_active);
        }
    }
}

// G-PR-SHRKRNL: the same, and the list closes up (one atomic a warp instead of the paper's prefix sums).
extern "C" __global__ void cardinality_gpr_shrink_list(int size, const int* mu_row, const int* mu_col, const int* a_c,
                                                       const int* a_p, int* i_a, int loop, int* shrunk,
                                                       int* new_size) {
    for (int i = global_thread(); i < size; i += all_threads()) {
        int v = a_p[i];
        if (v == -1 || !is_active(v, mu_row, mu_col)) v = a_c[i];
        if (v != -1) {
            i_a[v] = loop;
            shrunk[next_place(new_size)] = v;
        }
    }
}

// Algorithm 9.
extern "C" __global__ void cardinality_gpr_push_list(int size, const offset_t* cxadj, const int* cadj, int* mu_row,
                                                     int* mu_col, int* psi_row, int* psi_col, int infinite, int* a_c,
                                                     int* a_p, const int* i_a, int loop, int* n_pushes) {
    for (int i = global_thread(); i < size; i += all_threads()) {
        const int v = a_c[i];
        a_p[i] = -1;
        if (v == -1) continue;
        int lowest;
        const int u = lowest_neighbor(v, cxadj, cadj, psi_row, psi_col[v], infinite, &lowest);
        if (u < 0) {
            mu_col[v] = -2;
            a_c[i] = -1;
            continue;
        }
        const int w = load_fresh(&mu_row[u]);
        if (w != -1 && i_a[w] == loop) continue;
        store_fresh(&mu_row[u], v);
        store_fresh(&mu_col[v], u);
        psi_col[v] = lowest + 1;
        store_fresh(&psi_row[u], lowest + 2);
        a_p[i] = w;
        next_place(n_pushes);
    }
}

extern "C" __global__ void cardinality_gpr_fix_matching(int n, const int* mu_row, int* mu_col) {
    for (int v = global_thread(); v < n; v += all_threads()) {
        const int u = mu_col[v];
        if (u < 0 || mu_row[u] != v) mu_col[v] = -1;
    }
}
