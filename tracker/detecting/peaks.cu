// Local maxima of responses: `peaks.py` on a GPU. Images of one shape lie one after the other; behind them, where their dips are
// asked for too, the same negated.
#include "device/common.cuh"

__device__ __forceinline__ bool is_highest(const float* response, float sign, int depth, int height, int width, int64 at) {
    const float here = sign * response[at];
    const int64 row = at / width;
    const int x = at - row * width, y = row % height, z = row / height;
    for (int k = max(z - 1, 0); k < min(z + 2, depth); ++k)
        for (int j = max(y - 1, 0); j < min(y + 2, height); ++j)
            for (int i = max(x - 1, 0); i < min(x + 2, width); ++i)
                if (sign * response[((int64)k * height + j) * width + i] > here) return false;
    return true;
}

constexpr int VOXELS = 4;  // that a thread looks at, its block's width apart

// List the voxels above an image's threshold that are no lower than any of their 26 neighbours, in any order, and mark them OPEN
// (apart.cu) in a state of zeros. What the list cannot hold is counted only. A row of blocks an image, and one for its dips.
extern "C" __global__ void peaks_listed(const float* responses, int images, int depth, int height, int width,
                                        const float* thresholds, unsigned char* state, int64* list, int capacity, int* count) {
    const int64 voxels = (int64)depth * height * width;
    const int image = (int)blockIdx.y % images;
    const float sign = (int)blockIdx.y < images ? 1.0f : -1.0f, threshold = thresholds[image];
    const float* const response = responses + image * voxels;
    const int64 first = (int64)blockIdx.x * VOXELS * blockDim.x + threadIdx.x;
    float here[VOXELS];
#pragma unroll
    for (int k = 0; k < VOXELS; ++k) {
        const int64 at = first + k * (int)blockDim.x;
        here[k] = at < voxels ? sign * response[at] : threshold;
    }
#pragma unroll
    for (int k = 0; k < VOXELS; ++k) {
        const int64 at = first + k * (int)blockDim.x, place = blockIdx.y * voxels + at;
        if (!(here[k] > threshold) || !is_highest(response, sign, depth, height, width, at)) continue;
        state[place] = 1;
        const int own = next_place(count);
        if (own < capacity) list[own] = place;
    }
}
