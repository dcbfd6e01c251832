// Shortest augmenting paths from all unmatched rows at once, in one cooperative launch: equal sides, everything
// matched.
//
// Source: the Hungarian forest of Date and Nagi ("GPU-accelerated Hungarian algorithms for the linear assignment
// problem", Parallel Computing 57, 2016), with distances instead of repeated dual updates: a multi-source
// Bellman-Ford search on reduced costs with a queue, whose trees are disjoint, so that every tree augments along
// its own shortest path.
//
// Needs matched edges of zero slack and no bounds: every row must be matched, and a column that stays unassigned keeps its dual. A phase:
//   relax, claim   rounds over the queued rows: lower the distances of their columns; then the smallest row that explains
//                  a lowered distance becomes its parent and the column's row is queued, for the next round if it is
//                  within the threshold, else for later. All rows of a round use the distances of the round before, so
//                  distances, parents and rounds are the same on every run;
//   sift           when no row is queued, all distances up to the threshold are final. It rises by a step, and the rows
//                  within it are queued (delta-stepping: U. Meyer, P. Sanders, J. Algorithms 49, 2003; with two lists:
//                  A. Davidson et al., IPDPS 2014); the step doubles or halves so that there is about a row for each
//                  group of lanes, and for each root (the blocks of a batch go side by side);
//   roots          each free column that was reached walks to its root; each root keeps its nearest, smallest column;
//   augment        L = the longest of the roots' paths; columns nearer than L change dual by dist - L, which makes every
//                  path zero slack, and each root augments along its own.
// Once half as many free columns as there are roots lie within the threshold, the search stops there: it stays where the
// paths are, and roots whose nearest column lies beyond wait for the next phase. A parent never becomes a
// descendant: distances along a path do not fall, also in floating point. Phases shrink the number of unmatched
// rows by about half; a phase without any path is a proof that there is none.
//
// LANES lanes serve one row. Bytes: the edges of each queued row twice a round, 40 per column and phase.
// Hazards: everything here is written by other blocks, hence no __restrict__; barriers stand between all steps.
// variant: -DLANES=32 -DCOST=double
// variant: -DINTEGER -DCOST=int
// variant: -DINTEGER -DCOST=int64 -DLANES=32
// variant: -DDENSE -DLANES=32
// variant: -DDENSE -DLANES=32 -DINTEGER -DCOST=int
#include "paths/graph_forest.cuh"

// sources: (rows,) the unmatched rows, n_sources of them; free_cols: (columns,) scratch. queues, bases, waiting: two halves
// of (rows,); root, root_dist, root_col: root by column, nearest distance and column by row. sizes: three queue sizes,
// then sources kept, paths found, free columns, three counts of those within the threshold, three of rows that wait.
// lengths: the longest path, the nearest row that waited. infeasible_row: 0, or 1 + a row that cannot be matched. counts: phases,
// rounds, rows queued, paths. After `most_scans` rows queued the phase is the last; n_left: sources that are left then.
extern "C" __global__ void __launch_bounds__(512) auction_forest(
    int n_rows, int n_cols, const int64* indptr, const int* indices, const cost_t* cost, const unsigned char* forbidden,
    int width, int block_rows, dual_t* v, int* col_of_row, int* row_of_col, int* sources, int n_sources,
    int* free_cols, int* queues, dual_t* bases, int* waiting, unsigned char* is_waiting, dual_t* duals, dual_t* dist,
    uint64* parent, int* lowered, int* root, dual_t* root_dist, int* root_col, int* sizes, dual_t* lengths, int* infeasible_row,
    uint64* counts, uint32* barrier, uint64 most_scans, int* n_left
) {
    const Forest f{Graph{indptr, indices, cost, forbidden, width, block_rows},
                   v,
                   col_of_row,
                   row_of_col,
                   dist,
                   parent,
                   lowered,
                   duals};
    const int thread = dealt_thread(), threads = all_threads();
    int round = 0, sifted = 0;
    dual_t step = 0;
    int* n_kept = sizes + 3;
    int* n_paths = sizes + 4;
    int* n_free = sizes + 5;
    int* n_within = sizes + 6;
    int* n_waiting = sizes + 9;
    dual_t* longest = lengths;
    dual_t* nearest = lengths + 1;
    while (n_sources > 0) {
        for (int col = thread; col < n_cols; col += threads) {
            dist[col] = none(), parent[col] = ~0ull, lowered[col] = -1;
            if (row_of_col[col] == NO_MEMBER) free_cols[atomicAdd(n_free, 1)] = col;
        }
        const int padded = (n_rows * (int64)LANES + 31) / 32 * 32 / LANES;  // whole warps
        for (int row = thread / LANES; row < padded; row += threads / LANES) {
            const dual_t least = least_value<LANES>(f.graph, f.v, row < n_rows ? row : NO_MEMBER, none());
            if (row < n_rows && threadIdx.x % LANES == 0) duals[row] = least, is_waiting[row] = 0;
        }
        for (int at = thread; at < n_sources; at += threads) {
            const int row = sources[at];
            queues[(round & 1) * (int64)n_rows + at] = row;
            bases[(round & 1) * (int64)n_rows + at] = 0;
            root_dist[row] = none();
            root_col[row] = NO_EDGE;
        }
        if (thread == 0) {
            sizes[round % 3] = n_sources;
            sizes[(round + 1) % 3] = 0;
            *n_kept = *n_paths = 0;
            *longest = 0, *nearest = none();
            for (int k = 0; k < 3; k++) n_within[k] = n_waiting[k] = 0;
        }
        grid_barrier(barrier);
        const int free_columns = *(volatile int*)n_free;
        const int many = threads / LANES > n_sources ? threads / LANES : n_sources;
        dual_t threshold = step, limit = none();
        while (true) {
            const int size = *(volatile int*)&sizes[round % 3];
            const int64 here = (round & 1) * (int64)n_rows, there = ((round + 1) & 1) * (int64)n_rows;
            int* n_next = &sizes[(round + 1) % 3];
            const Later later{
                waiting + (sifted & 1) * (int64)n_rows, &n_waiting[sifted % 3], is_waiting, nearest
            };
            if (thread == 0) sizes[(round + 2) % 3] = 0;
            if (size > 0) {
                if (thread == 0) counts[1]++, counts[2] += size;
                for (int at = thread / LANES; at < size; at += threads / LANES)
                    relax(f, queues[here + at], bases[here + at], round);
                grid_barrier(barrier);
                for (int at = thread / LANES; at < size; at += threads / LANES)
                    claim(
                        f, queues[here + at], bases[here + at], threshold, round, queues + there, bases + there, n_next,
                        later
                    );
                grid_barrier(barrier);
                round++;
                continue;
            }
            const int waits = *(volatile int*)later.size;
            if (waits == 0) break;
            if (step == 0) step = *(volatile dual_t*)nearest;
            const dual_t done = threshold;
            threshold += step;
            const int after = sifted + 1;
            const Later still{waiting + (after & 1) * (int64)n_rows, &n_waiting[after % 3], is_waiting, nearest};
            sift(f, later, still, done, threshold, queues + there, bases + there, n_next, thread, threads);
            for (int at = thread; at < free_columns; at += threads)
                if (dist[free_cols[at]] <= done) atomicAdd(&n_within[sifted % 3], 1);
            if (thread == 0) n_waiting[(sifted + 2) % 3] = n_within[(sifted + 1) % 3] = 0;
            grid_barrier(barrier);
            if (2 * *(volatile int*)&n_within[sifted % 3] >= n_sources) {
                limit = done;
                break;
            }
            const int queued = *(volatile int*)n_next;
            if (queued < many) step = larger_step(step);
            for (int excess = queued; excess > 2 * many; excess /= 2) step = smaller_step(step);
            sifted++;
            round++;
        }
        sifted++;
        for (int col = thread; col < n_cols; col += threads) {
            if (row_of_col[col] != NO_MEMBER || dist[col] >= none() || dist[col] > limit) continue;
            int row = parent_row(parent[col]);
            while (col_of_row[row] != NO_MEMBER) row = parent_row(parent[col_of_row[row]]);
            root[col] = row;
            lower(&root_dist[row], dist[col]);
        }
        grid_barrier(barrier);
        for (int col = thread; col < n_cols; col += threads)
            if (row_of_col[col] == NO_MEMBER && dist[col] < none() && dist[col] <= limit &&
                dist[col] == root_dist[root[col]])
                atomicMin(&root_col[root[col]], col);
        for (int at = thread; at < n_sources; at += threads)
            if (root_dist[sources[at]] < none()) raise(longest, root_dist[sources[at]]);
        grid_barrier(barrier);
        const dual_t length = *(volatile dual_t*)longest;
        for (int col = thread; col < n_cols; col += threads)
            if (dist[col] < length) v[col] += dist[col] - length;
        int* kept = queues + ((round + 1) & 1) * (int64)n_rows;
        for (int at = thread; at < n_sources; at += threads) {
            const int start = sources[at];
            int col = root_col[start];
            if (col == NO_EDGE) {
                kept[atomicAdd(n_kept, 1)] = start;
                continue;
            }
            atomicAdd(n_paths, 1);
            while (true) {
                const int row = parent_row(parent[col]);
                const int before = col_of_row[row];
                row_of_col[col] = row;
                col_of_row[row] = col;
                if (row == start) break;
                col = before;
            }
        }
        grid_barrier(barrier);
        n_sources = *(volatile int*)n_kept;
        for (int at = thread; at < n_sources; at += threads) sources[at] = kept[at];
        const int paths = *(volatile int*)n_paths;
        if (thread == 0) {
            *n_free = 0;
            counts[0]++;
            counts[3] += paths;
        }
        round++;
        grid_barrier(barrier);
        if (paths == 0) {
            for (int at = thread; at < n_sources; at += threads) atomicMax(infeasible_row, 1 + sources[at]);
            break;
        }
        if (*(volatile uint64*)&counts[2] >= most_scans) break;
    }
    if (thread == 0) *n_left = n_sources;
}
