// Peaks that are well apart: `peaks.apart` on a GPU, a warp a peak, in images that lie as in peaks.cu.
//
// Peaks drop their lower rivals from the highest down. Whoever has no higher rival left that is undecided decides for itself, so
// that a few rounds do for all; a state that another thread writes meanwhile is as good as the one before.
#include "device/common.cuh"

enum { NONE, OPEN, STAYS, FALLS };

// One axis more of a squared distance. As a KD-tree measures: positions first, each step rounded, so that the same pairs are rivals
// on the border.
__device__ __forceinline__ double with_axis(double sum, int a, int b, double step) {
    const double away = __dsub_rn(__dmul_rn(a, step), __dmul_rn(b, step));
    return __dadd_rn(sum, __dmul_rn(away, away));
}

// list: places of peaks, `*count` of them, unless it could not hold all. Rivals are at most `reach` voxels away along each axis, and
// as far that the square of their distance is at most `most`. state: of each voxel, OPEN at peaks and NONE elsewhere to begin with.
// left: how many peaks are undecided after this round. `voxels` are those of all images; places from there on are dips.
extern "C" __global__ void apart_round(
    const int64* list, const int* count, int capacity, const float* responses, int64 voxels, int depth, int height, int width,
    double step_z, double step_y, double step_x, int reach_z, int reach_y, int reach_x, double most, unsigned char* state, int* left
) {
    const int n = *count, rows = 2 * reach_y + 1;
    if (n > capacity) return;
    for (int k = global_thread() / 32; k < n; k += all_threads() / 32) {
        const int64 place = list[k];
        if (state[place] != OPEN) continue;
        const float sign = place < voxels ? 1.0f : -1.0f;
        const float* const response = place < voxels ? responses : responses - voxels;
        const int64 row = place / width, plane = row / height;
        const int own_z = plane % depth, own_y = row % height, own_x = place - row * width;
        const float peak = sign * response[place];
        bool waits = false, falls = false;
        for (int around = lane(); around < (2 * reach_z + 1) * rows; around += 32) {
            const int z = own_z - reach_z + around / rows, y = own_y - reach_y + around % rows;
            if (z < 0 || z >= depth || y < 0 || y >= height) continue;
            const double of_row = with_axis(with_axis(0.0, own_z, z, step_z), own_y, y, step_y);
            if (of_row > most) continue;
            for (int x = max(own_x - reach_x, 0); x <= min(own_x + reach_x, width - 1); x++) {
                const int64 other = ((plane + z - own_z) * height + y) * width + x;
                const unsigned char its = ((volatile unsigned char*)state)[other];
                if (its != OPEN && its != STAYS) continue;
                const float height_of_it = sign * response[other];
                const bool is_higher = height_of_it > peak || (height_of_it == peak && other < place);
                if (!is_higher || with_axis(of_row, own_x, x, step_x) > most) continue;
                waits = true, falls |= its == STAYS;
            }
        }
        waits = __any_sync(FULL_WARP, waits), falls = __any_sync(FULL_WARP, falls);
        if (lane() > 0) continue;
        if (waits && !falls) {
            atomicAdd(left, 1);
        } else {
            state[place] = falls ? FALLS : STAYS;
        }
    }
}

// List those that stay, in any order; without those within `margin` voxels of a border along y and x.
extern "C" __global__ void apart_listed(const int64* list, const int* count, int capacity, int height, int width, int margin,
                                        const unsigned char* state, int64* kept, int* n_kept) {
    if (*count > capacity) return;
    for (int k = global_thread(); k < *count; k += all_threads()) {
        const int64 place = list[k], row = place / width;
        const int x = place - row * width, y = row % height;
        const bool is_inside = min(min(x, width - 1 - x), min(y, height - 1 - y)) >= margin;
        if (state[place] == STAYS && is_inside) kept[next_place(n_kept)] = place;
    }
}
