// The two chains of `separable.py`, an axis a launch: the same sums in the same order as on a CPU.
#include "device/common.cuh"

// Where a thread is: a block has voxels of one row (z, y), of which there are `depth` times `height`.
struct Voxel {
    int z, y, x;
    int64 row;  // the row's first voxel

    __device__ __forceinline__ Voxel(int height, int width) {
        const int blocks_of_a_row = (width - 1) / (int)blockDim.x + 1;
        const int rows_before = blockIdx.x / blocks_of_a_row;
        z = rows_before / height;
        y = rows_before % height;
        x = (blockIdx.x % blocks_of_a_row) * blockDim.x + threadIdx.x;
        row = (int64)rows_before * width;
    }
};

// Which voxel of an axis stands at a place before its first or after its last: d c b a | a b c d | d c b a.
__device__ __forceinline__ int mirrored(int place, int size) {
    if (place >= 0 && place < size) return place;
    place %= 2 * size;
    if (place < 0) place += 2 * size;
    return min(place, 2 * size - 1 - place);
}

// How far the two voxels at a distance of one voxel differ from it, together. Kernels are applied to this.
__device__ __forceinline__ float bend(const float* axis, int64 step, int before, int here, int after) {
    const float centre = axis[here * step];
    return (axis[before * step] - centre) + (axis[after * step] - centre);
}

// Begin both chains. `taps` are three rows of `reach`: own, cross, other.
extern "C" __global__ void separable_along_z(const float* image, int depth, int height, int width, const float* taps,
                                             int reach, float second, float* to_a, float* to_b) {
    const Voxel at(height, width);
    if (at.x >= width) return;
    const int64 step = (int64)height * width;
    const float* axis = image + (int64)at.y * width + at.x;
    float a = axis[at.z * step], b = second * a;
    for (int t = 0; t < reach; ++t) {
        const float bent = bend(axis, step, mirrored(at.z - 1 - t, depth), at.z, mirrored(at.z + 1 + t, depth));
        a = fmaf(taps[t], bent, a);
        b = fmaf(fmaf(second, taps[2 * reach + t], taps[reach + t]), bent, b);
    }
    to_a[at.row + at.x] = a;
    to_b[at.row + at.x] = b;
}

// Carry both chains along y.
extern "C" __global__ void separable_along_y(const float* a, const float* b, int depth, int height, int width,
                                             const float* taps, int reach, float* to_a, float* to_b) {
    const Voxel at(height, width);
    if (at.x >= width) return;
    const int64 first = (int64)at.z * height * width + at.x;
    float own = a[at.row + at.x], both = b[at.row + at.x];
    for (int t = 0; t < reach; ++t) {
        const int before = mirrored(at.y - 1 - t, height), after = mirrored(at.y + 1 + t, height);
        const float bent = bend(a + first, width, before, at.y, after);
        own = fmaf(taps[t], bent, own);
        both += fmaf(taps[reach + t], bent, taps[2 * reach + t] * bend(b + first, width, before, at.y, after));
    }
    to_a[at.row + at.x] = own;
    to_b[at.row + at.x] = both;
}

// Carry both chains along x and write their weighted sum.
extern "C" __global__ void separable_along_x(const float* a, const float* b, int depth, int height, int width,
                                             const float* taps, int reach, float first, float second, float* out) {
    const Voxel at(height, width);
    if (at.x >= width) return;
    float sum = fmaf(first, a[at.row + at.x], second * b[at.row + at.x]);
    for (int t = 0; t < reach; ++t) {
        const int before = mirrored(at.x - 1 - t, width), after = mirrored(at.x + 1 + t, width);
        const float of_a = fmaf(first, taps[t], second * taps[reach + t]), of_b = second * taps[2 * reach + t];
        const float bent_a = bend(a + at.row, 1, before, at.x, after), bent_b = bend(b + at.row, 1, before, at.x, after);
        sum += fmaf(of_a, bent_a, of_b * bent_b);
    }
    out[at.row + at.x] = sum;
}
