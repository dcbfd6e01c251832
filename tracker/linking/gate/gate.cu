// Candidate links of a movie on a GPU, and the tracks that links make: `candidates.py` and `chains.py` for all frames at once.
//
//   points_in_cells  the cell of each point, and how many points each cell has
//   points_laid      positions in the order of cells
//   pairs_within     counts, then writes, the pairs of each point with those of the next frame; a thread a point
//   links_laid       which detection follows which, by rows of the table, and how far
//
// Bytes: 60 a point for the order; 24 for each point of nine lines of cells, mostly from cache; 12 a pair. No two threads write
// one place but for counts.
// variant: -DWRITES
// variant: -DWRITES -DSQUARED
#include "../tracker/linking/gate/cells.cuh"

__device__ __forceinline__ Position position_of(const double* z, const double* y, const double* x, Position step, int i) {
    return Position{z == nullptr ? 0.0 : __dmul_rn(z[i], step.z), __dmul_rn(y[i], step.y), __dmul_rn(x[i], step.x)};
}

// z may be null (2D). slot: (points,) which frame, counted from the first in steps. counts: (slots · cells,), 0 at the start.
extern "C" __global__ void points_in_cells(
    int n, const double* z, const double* y, const double* x, double step_z, double step_y, double step_x,
    const int64* frame, int64 first, int64 frame_step, double z0, double y0, double x0, double edge, int depth,
    int height, int width, int* cell, int* counts
) {
    const int i = global_thread();
    if (i >= n) return;
    const Position p = position_of(z, y, x, Position{step_z, step_y, step_x}, i);
    const int slot = (int)((frame[i] - first) / frame_step);
    const int line = clipped((p.z - z0) / edge, depth) * height + clipped((p.y - y0) / edge, height);
    cell[i] = slot * depth * height * width + line * width + clipped((p.x - x0) / edge, width);
    atomicAdd(&counts[cell[i]], 1);
}

// order: (points,) rows of the table by cell.
extern "C" __global__ void points_laid(
    int n, const double* z, const double* y, const double* x, double step_z, double step_y, double step_x,
    const int* order, Position* laid
) {
    const int k = global_thread();
    if (k < n) laid[k] = position_of(z, y, x, Position{step_z, step_y, step_x}, order[k]);
}

// The rows are the points from `first` on, n of them; starts: (slots · cells + 1,). Without WRITES counts: (n,) of pairs; with,
// pairs go to indices and costs from indptr[row] - indptr[0] on, columns counted from `first_column`.
extern "C" __global__ void pairs_within(
    int first, int n, const Position* laid, const int* cell, const int* starts, double z0, double y0, double x0,
    double edge, int depth, int height, int width, int slots, double radius, int* counts, const int64* indptr,
    int first_column, int* indices, double* costs
) {
    const int k = global_thread();
    if (k >= n) return;
    const Cells grid{z0, y0, x0, edge, depth, height, width, slots};
    const int next = cell[first + k] / grid.per_frame() + 1;
#ifdef WRITES
    int64 at = indptr[k] - indptr[0];
    const auto visit = [&](int other, double length) {
        indices[at] = other - first_column;
#ifdef SQUARED
        costs[at++] = __dmul_rn(length, length);
#else
        costs[at++] = length;
#endif
    };
#else
    int found = 0;
    const auto visit = [&](int, double) { found++; };
#endif
    if (next < slots) walk_near(grid, starts, laid, next, laid[first + k], radius, visit);
#ifndef WRITES
    counts[k] = found;
#endif
}

// col_of_row: (n,) of points from `first` on, columns counted from `first_column`. after, before, length: by rows of the table.
extern "C" __global__ void links_laid(
    int first, int n, int first_column, const Position* laid, const int* order, const int* col_of_row, int* after,
    int* before, double* length
) {
    const int k = global_thread();
    if (k >= n || col_of_row[k] < 0) return;
    const int source = order[first + k], target = order[first_column + col_of_row[k]];
    after[source] = target;
    before[target] = source;
    length[source] = length_of(laid[first + k], laid[first_column + col_of_row[k]]);
}
