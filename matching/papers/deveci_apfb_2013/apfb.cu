// APFB and APsB with GPUBFS or GPUBFS-WR, as published.
//
// Source: Deveci, Kaya, Ucar, Catalyurek, "GPU accelerated maximum cardinality matching algorithms for bipartite
// graphs", Euro-Par 2013, Algorithms 1-4, in the paper's names; searches start at free columns.
// Variables: bfs_array (L0 - 1 unvisited, L0 + level visited, below: root done), predecessor (column that found a row),
// root (free column a column was reached from), rmatch (-1 free, -2 end of a path found), cmatch (-1 free); found =
// (vertex inserted, augmenting path found, columns of this level).
// Threads: a column or row each, grid-stride (the paper's getProcessCount): 256 x 256 (CT) or one a column (MT).
// Bytes: each BFS level reads bfs_array whole (4 B a column) and, per edge of its frontier, 4 + 4 + 4.
// Hazards: no atomics; concurrent writers of one place write values that are equally good, and paths that cross leave
// half-made matches behind, which the fix steps undo. Repairs: ALTERNATE's line 8 reads predecessor[-1] when the root
// is reached, so that is tested first, and a walk is bounded by the number of levels; FIXMATCHING reads cmatch[-1] and
// cmatch[-2], and leaves cmatch pointing at rows that went elsewhere, so columns are fixed after rows. APsB with root
// improvement checks, before anything is written, that a path leads to the root that claims it.
// variant: -DINDEX64
#include "device/common.cuh"

constexpr int L0 = 2;

extern "C" __global__ void cardinality_apfb_init(int nc, const int* cmatch, int* bfs_array, int* root) {
    for (int c = global_thread(); c < nc; c += all_threads()) {
        const bool is_free = cmatch[c] == -1;
        bfs_array[c] = is_free ? L0 : L0 - 1;
        root[c] = is_free ? c : 0;
    }
}

// Algorithm 2, or with_root Algorithm 4. With name_end, bfs_array of the root holds -row of the path's end (L0 = 2 keeps
// that apart).
extern "C" __global__ void cardinality_apfb_bfs(int bfs_level, int* bfs_array, const offset_t* cxadj, const int* cadj,
                                                int nc, int* rmatch, int* predecessor, int* root, int with_root,
                                                int name_end, int* found) {
    for (int c = global_thread(); c < nc; c += all_threads()) {
        if (bfs_array[c] != bfs_level) continue;
        next_place(&found[2]);
        const int my_root = with_root ? root[c] : c;
        if (with_root && load_fresh(&bfs_array[my_root]) < L0 - 1) continue;
        for (offset_t j = cxadj[c]; j < cxadj[c + 1]; ++j) {
            const int neighbor_row = cadj[j];
            const int col_match = load_fresh(&rmatch[neighbor_row]);
            if (col_match > -1) {
                if (load_fresh(&bfs_array[col_match]) == L0 - 1) {
                    found[0] = 1;
                    store_fresh(&bfs_array[col_match], bfs_level + 1);
                    if (with_root) root[col_match] = my_root;
                    predecessor[neighbor_row] = c;
                }
            } else if (col_match == -1) {
                if (with_root) store_fresh(&bfs_array[my_root], name_end ? -neighbor_row : L0 - 2);
                store_fresh(&rmatch[neighbor_row], -2);
                predecessor[neighbor_row] = c;
                found[1] = 1;
            }
        }
    }
}

__device__ void alternate_from(int row_vertex, int* cmatch, int* rmatch, const int* predecessor, int most_steps) {
    for (int step = 0; step < most_steps && row_vertex != -1; ++step) {
        const int matched_col = predecessor[row_vertex];
        const int matched_row = load_fresh(&cmatch[matched_col]);
        if (matched_row != -1 && predecessor[matched_row] == matched_col) break;
        store_fresh(&cmatch[matched_col], row_vertex);
        store_fresh(&rmatch[row_vertex], matched_col);
        row_vertex = matched_row;
    }
}

// Algorithm 3.
extern "C" __global__ void cardinality_apfb_alternate(int nr, int* cmatch, int* rmatch, const int* predecessor,
                                                      int most_steps) {
    for (int r = global_thread(); r < nr; r += all_threads()) {
        if (load_fresh(&rmatch[r]) == -2) alternate_from(r, cmatch, rmatch, predecessor, most_steps);
    }
}

// Root improvement, first half: forget the ends whose path does not lead back to the root that names them.
extern "C" __global__ void cardinality_apfb_check_ends(int nc, int* bfs_array, const int* cmatch,
                                                       const int* predecessor, int most_steps) {
    for (int c = global_thread(); c < nc; c += all_threads()) {
        if (cmatch[c] != -1 || bfs_array[c] >= L0 - 1) continue;
        int row = -bfs_array[c], column = -1;
        for (int step = 0; step < most_steps && row != -1; ++step) {
            column = predecessor[row];
            row = cmatch[column];
        }
        if (row != -1 || column != c) bfs_array[c] = L0;
    }
}

// Root improvement, second half: each root alternates the one path that is its own; such paths are disjoint.
extern "C" __global__ void cardinality_apfb_alternate_roots(int nc, const int* bfs_array, int* cmatch, int* rmatch,
                                                            const int* predecessor, int most_steps) {
    for (int c = global_thread(); c < nc; c += all_threads()) {
        if (bfs_array[c] >= L0 - 1) continue;
        int row = -bfs_array[c];
        for (int step = 0; step < most_steps && row != -1; ++step) {
            const int column = predecessor[row];
            const int next = cmatch[column];
            cmatch[column] = row;
            rmatch[row] = column;
            row = next;
        }
    }
}

extern "C" __global__ void cardinality_apfb_fix_rows(int nr, const int* cmatch, int* rmatch) {
    for (int r = global_thread(); r < nr; r += all_threads()) {
        const int c = rmatch[r];
        if (c == -2 || (c >= 0 && cmatch[c] != r)) rmatch[r] = -1;
    }
}

extern "C" __global__ void cardinality_apfb_fix_columns(int nc, int* cmatch, const int* rmatch, int* n_matched) {
    for (int c = global_thread(); c < nc; c += all_threads()) {
        const int r = cmatch[c];
        if (r >= 0 && rmatch[r] != c) cmatch[c] = -1;
        if (cmatch[c] >= 0) next_place(n_matched);
    }
}
