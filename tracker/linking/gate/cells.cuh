// Points of a movie in the cells of one grid that serves all its frames, and a walk over those near a place.
//
// Points come in the order of (frame, cell), x fastest, so that those of neighbouring cells along x lie side by side, and a
// walk meets them in ascending order. Lengths are those of matching/points/grid.py to the last bit: differences first, axes
// summed in order, each step rounded.
#pragma once
#include "device/common.cuh"

struct Position {
    double z, y, x;
};

// The cells of one frame, `slots` frames one after the other.
struct Cells {
    double z0, y0, x0, edge;
    int depth, height, width, slots;

    __device__ __forceinline__ int per_frame() const { return depth * height * width; }
};

__device__ __forceinline__ int clipped(double at, int size) {
    if (at <= 0) return 0;
    return at < size ? (int)at : size - 1;
}

__device__ __forceinline__ double length_of(Position a, Position b) {
    const double z = __dsub_rn(a.z, b.z), y = __dsub_rn(a.y, b.y), x = __dsub_rn(a.x, b.x);
    return __dsqrt_rn(__dadd_rn(__dadd_rn(__dmul_rn(z, z), __dmul_rn(y, y)), __dmul_rn(x, x)));
}

// Calls visit(point, length) for each point of a frame that is at most `radius` from a place.
// starts: (slots · cells + 1,), cell c owns the points starts[c] to starts[c + 1] - 1.
template <typename Visit>
__device__ __forceinline__ void walk_near(
    const Cells& cells, const int* starts, const Position* laid, int slot, Position p, double radius, Visit visit
) {
    const double reach = radius * (1 + 1e-9);
    const int x_from = clipped((p.x - reach - cells.x0) / cells.edge - 1e-9, cells.width);
    const int x_to = clipped((p.x + reach - cells.x0) / cells.edge + 1e-9, cells.width);
    const int y_from = clipped((p.y - reach - cells.y0) / cells.edge - 1e-9, cells.height);
    const int y_to = clipped((p.y + reach - cells.y0) / cells.edge + 1e-9, cells.height);
    const int z_to = clipped((p.z + reach - cells.z0) / cells.edge + 1e-9, cells.depth);
    for (int cz = clipped((p.z - reach - cells.z0) / cells.edge - 1e-9, cells.depth); cz <= z_to; cz++) {
        for (int cy = y_from; cy <= y_to; cy++) {
            const int line = slot * cells.per_frame() + (cz * cells.height + cy) * cells.width;
            const int end = starts[line + x_to + 1];
            for (int other = starts[line + x_from]; other < end; other++) {
                const double length = length_of(p, laid[other]);
                if (length <= radius) visit(other, length);
            }
        }
    }
}
