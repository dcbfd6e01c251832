// How wide responses spread: `threshold._spread` of several images, on a GPU. All blocks are resident and share the images out.
#include "device/common.cuh"

constexpr int BITS = 31, COUNTS = 33;      // of a magnitude; that are taken of each image, one a bit and two more
constexpr uint32 MAGNITUDE = 0x7fffffffu;  // their order is that of their bits

// Of the voxels of an image those of one thread.
struct Share {
    const float* voxels;
    int n, first, stride;

    __device__ __forceinline__ uint32 bits(int i) const { return __float_as_uint(voxels[i]) & MAGNITUDE; }

    // Add to a count of all threads how many magnitudes are lower.
    __device__ __forceinline__ void count_below(uint32 limit, int* count) const {
        int mine = 0;
        for (int i = first; i < n; i += stride) mine += bits(i) < limit;
        mine = sum_of_warp(mine);
        if (lane() == 0) atomicAdd(count, mine);
    }

    // The least bits above a value, as what they are short of the greatest.
    __device__ __forceinline__ void least_above(uint32 value, int* shortfall) const {
        uint32 least = MAGNITUDE;
        for (int i = first; i < n; i += stride) least = bits(i) > value ? min(least, bits(i)) : least;
        atomicMax(shortfall, (int)(MAGNITUDE - least));
    }
};

// responses: images of `n` voxels. counts: COUNTS of each image, 0 to begin with. partials: (clippings, images, 2, warps of an image),
// what each warp sums up. spreads: of each image.
extern "C" __global__ void spreads(const float* responses, int n, int images, double mad_to_sigma, double clip, int clippings,
                                   int* counts, double* partials, uint32* arrived, double* spreads) {
    const int image = blockIdx.x % images, blocks = gridDim.x / images;
    const int first = blockIdx.x / images * blockDim.x + threadIdx.x;
    const Share share{responses + (int64)image * n, n, first, blocks * (int)blockDim.x};
    int* const own = counts + image * COUNTS;
    uint32 lower = 0;  // of the two magnitudes in the middle
    for (int bit = BITS - 1; bit >= 0; --bit) {
        share.count_below(lower | 1u << bit, own + bit);
        grid_barrier(arrived);
        if (load_fresh(own + bit) <= (n - 1) / 2) lower |= 1u << bit;
    }
    share.count_below(lower + 1u, own + BITS);
    share.least_above(lower, own + BITS + 1);
    grid_barrier(arrived);
    const uint32 upper = load_fresh(own + BITS) > n / 2 ? lower : MAGNITUDE - load_fresh(own + BITS + 1);
    const double median = (__uint_as_float(lower) + __uint_as_float(upper)) * 0.5f;
    double variance = (mad_to_sigma * median) * (mad_to_sigma * median);
    for (int round = 0; round < clippings; ++round) {
        double squares = 0.0, within = 0.0;
        const double limit = clip * clip * variance;
        for (int i = first; i < n; i += share.stride) {
            const double magnitude = __uint_as_float(share.bits(i)), square = magnitude * magnitude;
            if (square <= limit) squares += square, within += 1.0;
        }
        squares = sum_of_warp(squares), within = sum_of_warp(within);
        const int warps = share.stride / 32;
        double* const sums = partials + (int64)(round * images + image) * 2 * warps;
        if (lane() == 0) sums[first / 32] = squares, sums[warps + first / 32] = within;
        grid_barrier(arrived);
        squares = within = 0.0;
        for (int k = lane(); k < warps; k += 32) squares += sums[k], within += sums[warps + k];
        squares = sum_of_warp(squares), within = sum_of_warp(within);
        variance = max(variance, squares / max(within, 1.0));
    }
    if (first == 0) spreads[image] = sqrt(variance);
}
