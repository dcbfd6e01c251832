// Local maxima of a response: `peaks.py` on a GPU.
#include "device/common.cuh"

// List the voxels above a threshold that are no lower than any of their 26 neighbours, in any order. What the list cannot
// hold is counted only.
extern "C" __global__ void peaks_listed(const float* response, int depth, int height, int width, float threshold,
                                        int64* list, int capacity, int* count) {
    const int64 voxels = (int64)depth * height * width;
    const int64 at = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= voxels) return;
    const float here = response[at];
    if (!(here > threshold)) return;
    const int64 row = at / width;
    const int x = at - row * width, y = row % height, z = row / height;
    for (int k = max(z - 1, 0); k < min(z + 2, depth); ++k)
        for (int j = max(y - 1, 0); j < min(y + 2, height); ++j)
            for (int i = max(x - 1, 0); i < min(x + 2, width); ++i)
                if (response[((int64)k * height + j) * width + i] > here) return;
    const int place = next_place(count);
    if (place < capacity) list[place] = at;
}
