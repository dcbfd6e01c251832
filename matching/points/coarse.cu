// Coarse initial prices of columns (matching/points/gpu_coarse.py says what they are and where they come from):
// the potential of a coarse grid, and its value at each column.
//
//   auction_coarse_potential  one cooperative launch: `looks` times the faces' conductance is renewed from the slopes, and
//                             `sweeps` sweeps of over-relaxation follow, the even cells and then the odd ones
//   auction_coarse_prices     a thread a column: minus the potential, linear between the cells' middles
//
// Cells are padded in front and behind by a layer of the first axis, where all faces are closed.
//
// Bytes: about 120 per cell and sweep, from the L2 cache. Hazards: phi, steps and faces are written by other blocks, hence
// read past the L1 cache and never through __restrict__; barriers stand between colours.
#include "device/common.cuh"

struct Cells {
    int shape[3];
    __device__ __forceinline__ int stride(int axis) const {
        return axis == 0 ? shape[1] * shape[2] : axis == 1 ? shape[2] : 1;
    }
};

__device__ __forceinline__ double fresh(const double* address) { return *(volatile const double*)address; }

// flat, steps, faces: (3, size), size = cells + 2 layers; source, phi: (size,). steps and phi are 0 at the start.
extern "C" __global__ void __launch_bounds__(256) auction_coarse_potential(
    int nz, int ny, int nx, const double* source, const double* flat, double* steps, double* faces, double* phi,
    double per_step, double omega, double least, int looks, int sweeps, uint32* barrier
) {
    const Cells cells{{nz, ny, nx}};
    const int pad = cells.stride(0), n = nz * pad, size = n + 2 * pad;
    for (int look = 0; look < looks; look++) {
        for (int c = pad + global_thread(); c < n + pad; c += all_threads())
            for (int axis = 0; axis < 3; axis++) {
                const int64 face = axis * (int64)size + c;
                double step = 0;
                if (flat[face] > 0) step = fabs(fresh(phi + c) - fresh(phi + c + cells.stride(axis))) * per_step;
                steps[face] = step = (steps[face] + step) / 2;
                const double square = step * step, wider = 1 + square * square;
                faces[face] = flat[face] * (wider * wider);
            }
        grid_barrier(barrier);
        for (int half = 0; half < 2 * sweeps; half++) {
            for (int at = global_thread(); at < n; at += all_threads()) {
                if (((at / pad + at / nx % ny + at % nx) & 1) != (half & 1)) continue;
                const int c = pad + at;
                double inflow = source[c], total = 0;
                for (int axis = 0; axis < 3; axis++) {
                    const int stride = cells.stride(axis);
                    const int64 face = axis * (int64)size + c;
                    const double ahead = fresh(faces + face), behind = fresh(faces + face - stride);
                    inflow += ahead * fresh(phi + c + stride) + behind * fresh(phi + c - stride);
                    total += ahead + behind;
                }
                if (total > 0) phi[c] = fmax(phi[c] + omega * (inflow / total - phi[c]), least);
            }
            grid_barrier(barrier);
        }
    }
}

// points: (n, 3); phi: (nz, ny, nx), without its padding.
extern "C" __global__ void auction_coarse_prices(
    int n, const double* points, const double* lower, double side, int nz, int ny, int nx, const double* phi, double* v
) {
    const int i = global_thread();
    if (i >= n) return;
    const Cells cells{{nz, ny, nx}};
    int before[3], ahead[3];
    double part[3];
    for (int axis = 0; axis < 3; axis++) {
        const int last = cells.shape[axis] - 1;
        const double place = fmin(fmax((points[3 * (int64)i + axis] - lower[axis]) / side - 0.5, 0.0), (double)last);
        before[axis] = (int)place;
        ahead[axis] = before[axis] < last ? before[axis] + 1 : last;
        part[axis] = place - before[axis];
    }
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int cell = 0;
        for (int axis = 0; axis < 3; axis++) {
            const bool beyond = corner >> axis & 1;
            weight *= beyond ? part[axis] : 1 - part[axis];
            cell += (beyond ? ahead[axis] : before[axis]) * cells.stride(axis);
        }
        sum += weight * phi[cell];
    }
    v[i] = -sum;
}
