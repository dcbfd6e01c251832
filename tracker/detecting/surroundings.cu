// Mean and standard deviation of the grey levels around particles: `surroundings.py` on a GPU.
#include "device/common.cuh"

// The same number in all lanes of a warp.
__device__ __forceinline__ double sum_of_warp(double value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(FULL_WARP, value, step);
    return value;
}

struct Image {
    const float* grey;
    int depth, height, width;

    // The grey level at an offset from a centre, both (z, y, x); false where it is outside.
    __device__ __forceinline__ bool at(const int* centre, const int* offset, double& value) const {
        const int z = centre[0] + offset[0], y = centre[1] + offset[1], x = centre[2] + offset[2];
        const bool inside = z >= 0 && z < depth && y >= 0 && y < height && x >= 0 && x < width;
        if (inside) value = grey[((int64)z * height + y) * width + x];
        return inside;
    }
};

// A warp a centre. Of a centre around which no offset falls into the image, both are 0.
extern "C" __global__ void surroundings_measured(const float* grey, int depth, int height, int width,
                                                 const int* centres, int n_centres, const int* offsets, int n_offsets,
                                                 double* mean, double* deviation) {
    const int mine = global_thread() / 32;
    if (mine >= n_centres) return;
    const Image image{grey, depth, height, width};
    const int* centre = centres + 3 * (int64)mine;
    double value, count = 0.0, total = 0.0, squares = 0.0;
    for (int k = lane(); k < n_offsets; k += 32)
        if (image.at(centre, offsets + 3 * k, value)) count += 1.0, total += value;
    count = sum_of_warp(count);
    const double middle = count > 0.0 ? sum_of_warp(total) / count : 0.0;
    for (int k = lane(); k < n_offsets; k += 32)
        if (image.at(centre, offsets + 3 * k, value)) squares += (value - middle) * (value - middle);
    squares = sum_of_warp(squares);
    if (lane() > 0) return;
    mean[mine] = middle;
    deviation[mine] = count > 0.0 ? sqrt(squares / count) : 0.0;
}
