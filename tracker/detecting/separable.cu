// The two chains of `separable.py`, along y and x in one launch or each by itself: the same sums in the same order as on a CPU.
#include "device/common.cuh"

constexpr int RUN = 8;  // voxels along an axis that a thread carries: what it reads serves them all

// Which voxel of an axis stands at a place before its first or after its last: d c b a | a b c d | d c b a.
__device__ __forceinline__ int mirrored(int place, int size) {
    if (place >= 0 && place < size) return place;
    place %= 2 * size;
    if (place < 0) place += 2 * size;
    return min(place, 2 * size - 1 - place);
}

// The voxels of a run, and those at a distance before and after each of them, which grows by one a step. Kernels are applied to
// how far the two differ from the voxel, together.
struct Run {
    const float* axis;
    int64 step;
    int size, first;
    float centre[RUN], before[RUN], after[RUN];

    __device__ __forceinline__ Run(const float* axis, int64 step, int size, int first)
        : axis(axis), step(step), size(size), first(first) {
#pragma unroll
        for (int k = 0; k < RUN; ++k) before[k] = after[k] = centre[k] = at(first + k);
    }

    __device__ __forceinline__ float at(int place) const { return axis[mirrored(place, size) * step]; }

    __device__ __forceinline__ void widen(int distance) {
#pragma unroll
        for (int k = 1; k < RUN; ++k) before[RUN - k] = before[RUN - k - 1], after[k - 1] = after[k];
        before[0] = at(first - distance);
        after[RUN - 1] = at(first + RUN - 1 + distance);
    }

    __device__ __forceinline__ float bend(int k) const { return (before[k] - centre[k]) + (after[k] - centre[k]); }
};

struct __align__(8) Pair {
    float a, b;
};

// Which run a thread has of an array (outer, size, inner): a block has runs side by side.
struct Lines {
    int first, inside;
    int64 origin;  // of the axis

    __device__ __forceinline__ Lines(int size, int inner) {
        const int across = (inner - 1) / (int)blockDim.x + 1, runs = (size - 1) / RUN + 1, row = blockIdx.x / across;
        inside = (blockIdx.x % across) * blockDim.x + threadIdx.x;
        first = row % runs * RUN;
        origin = (int64)(row / runs) * size * inner + inside;
    }
};

__device__ __forceinline__ void write_run(const float* run, int first, int size, int64 step, float* axis) {
#pragma unroll
    for (int k = 0; k < RUN; ++k)
        if (first + k < size) axis[(first + k) * step] = run[k];
}

// Begin both chains along an axis of `size` voxels, `inner` apart. `taps` are three rows of `reach`: own, cross, other.
extern "C" __global__ void separable_begun(const float* image, int size, int inner, const float* taps, int reach, float second,
                                           float* to_a, float* to_b) {
    const Lines line(size, inner);
    if (line.inside >= inner) return;
    Run run(image + line.origin, inner, size, line.first);
    float a[RUN], b[RUN];
#pragma unroll
    for (int k = 0; k < RUN; ++k) a[k] = run.centre[k], b[k] = second * a[k];
    for (int t = 0; t < reach; ++t) {
        const float own = taps[t], cross = fmaf(second, taps[2 * reach + t], taps[reach + t]);
        run.widen(t + 1);
#pragma unroll
        for (int k = 0; k < RUN; ++k) {
            const float bent = run.bend(k);
            a[k] = fmaf(own, bent, a[k]);
            b[k] = fmaf(cross, bent, b[k]);
        }
    }
    write_run(a, line.first, size, inner, to_a + line.origin);
    write_run(b, line.first, size, inner, to_b + line.origin);
}

// Both chains at the voxels of a run, carried along its axis.
struct Carried {
    float a[RUN], b[RUN];

    __device__ __forceinline__ Carried(Run of_a, Run of_b, const float* taps, int reach) {
#pragma unroll
        for (int k = 0; k < RUN; ++k) a[k] = of_a.centre[k], b[k] = of_b.centre[k];
        for (int t = 0; t < reach; ++t) {
            of_a.widen(t + 1), of_b.widen(t + 1);
#pragma unroll
            for (int k = 0; k < RUN; ++k) {
                const float bent = of_a.bend(k);
                a[k] = fmaf(taps[t], bent, a[k]);
                b[k] += fmaf(taps[reach + t], bent, taps[2 * reach + t] * of_b.bend(k));
            }
        }
    }
};

// Carry both chains along another axis.
extern "C" __global__ void separable_carried(const float* a, const float* b, int size, int inner, const float* taps, int reach,
                                             float* to_a, float* to_b) {
    const Lines line(size, inner);
    if (line.inside >= inner) return;
    const Run of_a(a + line.origin, inner, size, line.first), of_b(b + line.origin, inner, size, line.first);
    const Carried run(of_a, of_b, taps, reach);
    write_run(run.a, line.first, size, inner, to_a + line.origin);
    write_run(run.b, line.first, size, inner, to_b + line.origin);
}

// Carry both chains along y and x, of planes (height, width), and write their weighted sum: what lies between stays in shared
// memory. A thread has a run along y, those within reach of the block's first and last column for the others' sake alone.
extern "C" __global__ void separable_across(const float* a, const float* b, int height, int width, const float* y_taps, int y_reach,
                                            const float* x_taps, int x_reach, float first, float second, float* out) {
    extern __shared__ uint64 room[];
    Pair* const tile = (Pair*)room;
    const int threads = blockDim.x, me = threadIdx.x, columns = threads - 2 * x_reach;
    const int across = (width - 1) / columns + 1, runs = (height - 1) / RUN + 1, row = blockIdx.x / across;
    const int x = (blockIdx.x % across) * columns + me - x_reach, y = row % runs * RUN;
    const int64 plane = (int64)(row / runs) * height * width, origin = plane + mirrored(x, width);
    const Run of_a(a + origin, width, height, y), of_b(b + origin, width, height, y);
    const Carried run(of_a, of_b, y_taps, y_reach);
#pragma unroll
    for (int k = 0; k < RUN; ++k) tile[k * threads + me] = Pair{run.a[k], run.b[k]};
    __syncthreads();
    if (me < x_reach || me >= threads - x_reach || x >= width) return;
    float sum[RUN];
#pragma unroll
    for (int k = 0; k < RUN; ++k) sum[k] = fmaf(first, run.a[k], second * run.b[k]);
    for (int t = 0; t < x_reach; ++t) {
        const float of_first = fmaf(first, x_taps[t], second * x_taps[x_reach + t]), of_second = second * x_taps[2 * x_reach + t];
#pragma unroll
        for (int k = 0; k < RUN; ++k) {
            const Pair before = tile[k * threads + me - 1 - t], after = tile[k * threads + me + 1 + t];
            const float bent_a = (before.a - run.a[k]) + (after.a - run.a[k]), bent_b = (before.b - run.b[k]) + (after.b - run.b[k]);
            sum[k] += fmaf(of_first, bent_a, of_second * bent_b);
        }
    }
    write_run(sum, y, height, width, out + plane + x);
}

// Carry both chains along x, a voxel a thread, and write their weighted sum.
extern "C" __global__ void separable_along_x(const float* a, const float* b, int width, const float* taps, int reach, float first,
                                             float second, float* out) {
    const int across = (width - 1) / (int)blockDim.x + 1, x = (blockIdx.x % across) * blockDim.x + threadIdx.x;
    if (x >= width) return;
    const int64 row = (int64)(blockIdx.x / across) * width;
    a += row, b += row;
    const float here_a = a[x], here_b = b[x];
    const bool is_inside = x >= reach && x + reach < width;
    float sum = fmaf(first, here_a, second * here_b);
    for (int t = 0; t < reach; ++t) {
        const int before = is_inside ? x - 1 - t : mirrored(x - 1 - t, width);
        const int after = is_inside ? x + 1 + t : mirrored(x + 1 + t, width);
        const float of_a = fmaf(first, taps[t], second * taps[reach + t]), of_b = second * taps[2 * reach + t];
        const float bent_a = (a[before] - here_a) + (a[after] - here_a), bent_b = (b[before] - here_b) + (b[after] - here_b);
        sum += fmaf(of_a, bent_a, of_b * bent_b);
    }
    out[row + x] = sum;
}
