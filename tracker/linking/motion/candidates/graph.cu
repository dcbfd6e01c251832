// Candidate links by prediction and what is added up at their ends, as in graph.py; nearest neighbours, as in flow.py.
//
//   candidates_within  counts, then writes, the detections near where each is expected, of more than there is room for
//                      the nearest; a thread a detection
//   nearest_others     the nearest others of the same frame, rings of cells outwards; a thread a detection
//   least_at_ends      the least of the edges into each detection, and that of those out of it; a thread a detection
//   sums_at_ends       the same of their sums
//
// Bytes: 12 + 8 NDIM an edge written; 16 an edge summed. No two threads write one place.
// variant: -DNDIM=3
// variant: -DNDIM=3 -DWRITES
// variant: -DNDIM=3 -DOTHERS=2
#include "../tracker/linking/gate/cells.cuh"

#ifndef NDIM
#define NDIM 2
#endif
#ifndef OTHERS
#define OTHERS 8
#endif
#ifndef MOST
#define MOST 32
#endif
#ifndef TIE
#define TIE 1e-6
#endif

// at: (n, NDIM); the missing axis is 0.
__device__ __forceinline__ Position placed(const double* at, int64 i) {
    return Position{NDIM == 3 ? at[NDIM * i] : 0.0, at[NDIM * i + NDIM - 2], at[NDIM * i + NDIM - 1]};
}

// Where a point stands among those of its frame: of many at one place each has others near.
__device__ __forceinline__ double in_turn(int i, int first, int end) {
    return TIE * (i - first) / max(end - first - 1, 1);
}

// predicted: (n, NDIM), NaN where nothing is looked for. is_head: (n,), null where all may be found. With WRITES edges go to head
// and step, (edges, NDIM), from indptr[i] on, where there is room for MOST at most; without counts: (n,).
extern "C" __global__ void candidates_within(
    int n, const double* predicted, const Position* laid, const int* cell, const int* starts, double z0, double y0,
    double x0, double edge, int depth, int height, int width, int slots, int lag, double radius, const bool* is_head,
    int* counts, const int64* indptr, int* head, double* step
) {
    const int i = global_thread();
    if (i >= n) return;
    const Cells grid{z0, y0, x0, edge, depth, height, width, slots};
    const int slot = cell[i] / grid.per_frame() + lag;
    const Position expected = placed(predicted, i);
#ifdef WRITES
    int* const own = head + indptr[i];
    const int room = indptr[i + 1] - indptr[i];
    const int* const frame = starts + (int64)slot * grid.per_frame();
    const int* const before = frame - (int64)lag * grid.per_frame();
    const double turn = in_turn(i, before[0], before[grid.per_frame()]);
    double away[MOST], limit = 1e300;
    int kept = 0, farthest = 0;
    const auto visit = [&](int other, double length) {
        if (is_head != nullptr && !is_head[other]) return;
        const double aside = in_turn(other, frame[0], frame[grid.per_frame()]) - turn;
        const double square = length * length + aside * aside;
        if (!(square < limit)) return;
        if (kept == room) {  // the farthest makes room, and those after it move up: heads go on ascending
            for (int k = farthest + 1; k < room; k++) away[k - 1] = away[k], own[k - 1] = own[k];
            kept--;
        }
        away[kept] = square, own[kept] = other;
        kept++;
        if (kept < room) return;
        farthest = 0;
        for (int k = 1; k < room; k++) {
            if (away[k] > away[farthest]) farthest = k;
        }
        limit = away[farthest];
    };
#else
    int found = 0;
    const auto visit = [&](int other, double) { found += is_head == nullptr || is_head[other]; };
#endif
    if (slot < slots && expected.x == expected.x) walk_near(grid, starts, laid, slot, expected, radius, visit);
#ifdef WRITES
    for (int64 at = indptr[i]; at < indptr[i + 1]; at++) {
        const Position& other = laid[head[at]];
        if (NDIM == 3) step[NDIM * at] = other.z - laid[i].z;
        step[NDIM * at + NDIM - 2] = other.y - laid[i].y;
        step[NDIM * at + NDIM - 1] = other.x - laid[i].x;
    }
#else
    counts[i] = found;
#endif
}

// asked: (n,), null for all. near: (n, OTHERS), the nearest first, -1 where there are fewer; of equals the first point.
extern "C" __global__ void nearest_others(
    int n, const Position* laid, const int* cell, const int* starts, double z0, double y0, double x0, double edge,
    int depth, int height, int width, int slots, const bool* asked, int* near
) {
    const int i = global_thread();
    if (i >= n) return;
    int nearest[OTHERS];
    double length[OTHERS];
    for (int k = 0; k < OTHERS; k++) nearest[k] = -1, length[k] = 1e300;
    const int cells = depth * height * width, own = cell[i] % cells, first_line = cell[i] - own;
    const int own_z = own / (height * width), own_y = own / width % height, own_x = own % width;
    const int last = max(max(max(own_z, depth - 1 - own_z), max(own_y, height - 1 - own_y)), max(own_x, width - 1 - own_x));
    const auto look = [&](int z, int y, int from, int to) {
        const int line = first_line + (z * height + y) * width;
        const int end = starts[line + min(to, width - 1) + 1];
        for (int other = starts[line + max(from, 0)]; other < end; other++) {
            if (other == i) continue;
            double far = length_of(laid[i], laid[other]);
            int who = other;
            for (int k = 0; k < OTHERS; k++) {
                if (far < length[k]) {
                    const double farther = length[k];
                    const int pushed = nearest[k];
                    length[k] = far, nearest[k] = who;
                    far = farther, who = pushed;
                }
            }
        }
    };
    // Between a cell and one `ring` cells further on there are ring - 1 whole ones.
    const int rings = asked == nullptr || asked[i] ? last : -1;
    for (int ring = 0; ring <= rings && !(length[OTHERS - 1] < (ring - 1) * edge); ring++) {
        for (int z = max(own_z - ring, 0); z <= min(own_z + ring, depth - 1); z++) {
            for (int y = max(own_y - ring, 0); y <= min(own_y + ring, height - 1); y++) {
                if (abs(z - own_z) == ring || abs(y - own_y) == ring) {
                    look(z, y, own_x - ring, own_x + ring);
                } else {
                    if (own_x - ring >= 0) look(z, y, own_x - ring, own_x - ring);
                    if (own_x + ring < width) look(z, y, own_x + ring, own_x + ring);
                }
            }
        }
    }
    for (int k = 0; k < OTHERS; k++) near[(int64)OTHERS * i + k] = nearest[k];
}

// in_edge: (edges,), those into j from in_ptr[j] on. into, out_of: (edges,). came, went: (n,).
extern "C" __global__ void sums_at_ends(
    int n, const int64* indptr, const int64* in_ptr, const int* in_edge, const double* into, const double* out_of,
    double* came, double* went
) {
    const int i = global_thread();
    if (i >= n) return;
    double coming = 0.0, going = 0.0;
    for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) coming += into[in_edge[at]];
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) going += out_of[e];
    came[i] = coming, went[i] = going;
}

// as sums_at_ends, of one value an edge; infinite where there is none.
extern "C" __global__ void least_at_ends(
    int n, const int64* indptr, const int64* in_ptr, const int* in_edge, const double* value, double* came, double* went
) {
    const int i = global_thread();
    if (i >= n) return;
    double coming = 1.0 / 0.0, going = 1.0 / 0.0;
    for (int64 at = in_ptr[i]; at < in_ptr[i + 1]; at++) coming = fmin(coming, value[in_edge[at]]);
    for (int64 e = indptr[i]; e < indptr[i + 1]; e++) going = fmin(going, value[e]);
    came[i] = coming, went[i] = going;
}
