// What is seen around peaks: `around.py` on a GPU, a warp a peak.
#include "device/common.cuh"

constexpr int PLANES = 3, NEAR = 2, COLUMNS = 10 + 6 * PLANES;  // as in around.py

__device__ __forceinline__ int mirrored(int place, int size) {
    if (place >= 0 && place < size) return place;
    place %= 2 * size;
    if (place < 0) place += 2 * size;
    return min(place, 2 * size - 1 - place);
}

struct Image {
    const float* voxels;
    int size[3];

    __device__ __forceinline__ double at(int z, int y, int x) const {
        return voxels[((int64)z * size[1] + y) * size[2] + x];
    }

    // The grey level at an offset from a centre, both (z, y, x); false where it is outside.
    __device__ __forceinline__ bool beside(const int* centre, const int* offset, double& value) const {
        const int z = centre[0] + offset[0], y = centre[1] + offset[1], x = centre[2] + offset[2];
        const bool inside = z >= 0 && z < size[0] && y >= 0 && y < size[1] && x >= 0 && x < size[2];
        if (inside) value = at(z, y, x);
        return inside;
    }
};

// Mean and standard deviation at the offsets that fall into the image, 0 where none does.
__device__ __forceinline__ void summed_up(const Image& grey, const int* centre, const int* offsets, int n, double& mean,
                                          double& deviation) {
    double value, count = 0.0, total = 0.0, squares = 0.0;
    for (int k = lane(); k < n; k += 32)
        if (grey.beside(centre, offsets + 3 * k, value)) count += 1.0, total += value;
    count = sum_of_warp(count);
    mean = count > 0.0 ? sum_of_warp(total) / count : 0.0;
    for (int k = lane(); k < n; k += 32)
        if (grey.beside(centre, offsets + 3 * k, value)) squares += (value - mean) * (value - mean);
    squares = sum_of_warp(squares);
    deviation = count > 0.0 ? sqrt(squares / count) : 0.0;
}

// Minus the Laplacian of the Gaussian along the axes u and v at one voxel. `kernels`: (3, 2, taps), from the centre on.
__device__ __forceinline__ double filtered_across(const Image& grey, const int* voxel, int u, int v, const double* kernels,
                                                  const int* reach, int taps) {
    const int width = 2 * reach[v] + 1;
    double sum = 0.0;
    for (int k = lane(); k < (2 * reach[u] + 1) * width; k += 32) {
        const int i = k / width - reach[u], j = k % width - reach[v];
        const double *of_u = kernels + 2 * u * taps + abs(i), *of_v = kernels + 2 * v * taps + abs(j);
        int at[3] = {voxel[0], voxel[1], voxel[2]};
        at[u] = mirrored(at[u] + i, grey.size[u]), at[v] = mirrored(at[v] + j, grey.size[v]);
        sum -= (of_u[taps] * of_v[0] + of_u[0] * of_v[taps]) * grey.at(at[0], at[1], at[2]);
    }
    return sum_of_warp(sum);
}

// What is seen around one voxel, (z, y, x); a warp together.
__device__ __forceinline__ void look(const Image& answer, const Image& grey, const int* centre, const int* core, int n_core,
                                     const int* shell, int n_shell, const double* kernels, const int* reach, int taps, double* own) {
    double inside, around, spread, unused;
    summed_up(grey, centre, core, n_core, inside, unused);
    summed_up(grey, centre, shell, n_shell, around, spread);
    for (int axis = 0; axis < 3; ++axis) {
        const int size = grey.size[axis], depth_seen = min(PLANES, size), u = axis == 0, v = axis == 2 ? 1 : 2;
        for (int side = 0; side < 2; ++side) {
            const int rank = side == 0 ? centre[axis] : size - 1 - centre[axis];
            int step[3] = {centre[0], centre[1], centre[2]};
            step[axis] = side == 0 ? max(centre[axis] - 1, 0) : min(centre[axis] + 1, size - 1);
            if (lane() == 0) own[1 + 3 * side + axis] = answer.at(step[0], step[1], step[2]);
            for (int plane = 0; size > 1 && rank < NEAR && 2 * rank < size && plane < depth_seen; ++plane) {
                step[axis] = side == 0 ? plane : size - 1 - plane;
                const double value = filtered_across(grey, step, u, v, kernels, reach, taps);
                if (lane() == 0) own[10 + PLANES * (2 * axis + side) + plane] = value;
            }
        }
    }
    if (lane() > 0) return;
    own[0] = answer.at(centre[0], centre[1], centre[2]);
    own[7] = inside, own[8] = around, own[9] = spread;
}

// core, shell: offsets (n, 3). seen: (room, COLUMNS), of the first `*n_places` places, or as many as there is room for.
extern "C" __global__ void seen_around(const float* response, const float* pixels, int depth, int height, int width,
                                       const int64* places, const int* n_places, int room, const int* core, int n_core, const int* shell, int n_shell,
                                       const double* kernels, int taps, int reach_z, int reach_y, int reach_x, double* seen) {
    const Image answer{response, {depth, height, width}}, grey{pixels, {depth, height, width}};
    const int reach[3] = {reach_z, reach_y, reach_x}, n = min(*n_places, room);
    for (int mine = global_thread() / 32; mine < n; mine += all_threads() / 32) {
        const int64 row = places[mine] / width;
        const int centre[3] = {(int)(row / height), (int)(row % height), (int)(places[mine] - row * width)};
        look(answer, grey, centre, core, n_core, shell, n_shell, kernels, reach, taps, seen + (int64)mine * COLUMNS);
    }
}
