// Peaks that are well apart: `peaks.apart` on a GPU, a warp a peak, in images that lie as in peaks.cu.
//
// Peaks drop their lower rivals from the highest down. A peak that has no undecided higher rival left decides for itself, so
// that a few rounds do for all; a state that another thread writes meanwhile is as good as the one before.
#include "device/common.cuh"

enum { NONE, OPEN, STAYS, FALLS };

// One axis more of a squared distance.
__device__ __forceinline__ double with_axis(double sum, int a, int b, double step) {
    const double away = (a - b) * step;
    return sum + away * away;
}

// Who a peak's rivals are: at most `reach` voxels away along each axis, and as far that the square of their distance is at most
// `most`. `voxels` are those of all images; places from there on are dips.
struct Rivals {
    const float* responses;
    int64 voxels;
    int depth, height, width;
    double step_z, step_y, step_x;
    int reach_z, reach_y, reach_x;
    double most;

    // What becomes of a peak, OPEN where it still waits for a higher one; a warp together.
    __device__ __forceinline__ int decided(int64 place, const volatile unsigned char* state) const {
        const float sign = place < voxels ? 1.0f : -1.0f;
        const float* const response = place < voxels ? responses : responses - voxels;
        const int64 row = place / width, plane = row / height;
        const int own_z = plane % depth, own_y = row % height, own_x = place - row * width, rows = 2 * reach_y + 1;
        const float peak = sign * response[place];
        bool waits = false, falls = false;
        for (int around = lane(); around < (2 * reach_z + 1) * rows; around += 32) {
            const int z = own_z - reach_z + around / rows, y = own_y - reach_y + around % rows;
            if (z < 0 || z >= depth || y < 0 || y >= height) continue;
            const double of_row = with_axis(with_axis(0.0, own_z, z, step_z), own_y, y, step_y);
            if (of_row > most) continue;
            for (int x = max(own_x - reach_x, 0); x <= min(own_x + reach_x, width - 1); x++) {
                const int64 other = ((plane + z - own_z) * height + y) * width + x;
                const unsigned char its = state[other];
                if (its != OPEN && its != STAYS) continue;
                const float rival = sign * response[other];
                const bool is_higher = rival > peak || (rival == peak && other < place);
                if (!is_higher || with_axis(of_row, own_x, x, step_x) > most) continue;
                waits = true, falls |= its == STAYS;
            }
        }
        waits = __any_sync(FULL_WARP, waits), falls = __any_sync(FULL_WARP, falls);
        return falls ? FALLS : waits ? OPEN : STAYS;
    }
};

// list: places of peaks, `*count` of them, unless it could not hold all. state: of each voxel, OPEN at peaks and NONE elsewhere to
// begin with. left: how many peaks are undecided after this round. The lanes of a warp look at `step` peaks side by side, and
// together at those that are open.
extern "C" __global__ void apart_round(const int64* list, const int* count, int capacity, const float* responses, int64 voxels,
                                       int depth, int height, int width, double step_z, double step_y, double step_x, int reach_z,
                                       int reach_y, int reach_x, double most, unsigned char* state, int* left) {
    const Rivals rivals{responses, voxels, depth, height, width, step_z, step_y, step_x, reach_z, reach_y, reach_x, most};
    const int n = *count, warps = all_threads() / 32, step = min(max(n / warps, 1), 32);
    if (n > capacity) return;
    for (int64 first = (int64)(global_thread() / 32) * step; first < n; first += (int64)warps * step) {
        const bool is_open = lane() < step && first + lane() < n && state[list[first + lane()]] == OPEN;
        for (uint32 open = __ballot_sync(FULL_WARP, is_open); open != 0; open &= open - 1) {
            const int64 place = list[first + __ffs(open) - 1];
            const int now = rivals.decided(place, state);
            if (lane() > 0) continue;
            if (now == OPEN) {
                atomicAdd(left, 1);
            } else {
                state[place] = now;
            }
        }
    }
}

// List those that stay, in any order, and the responses there; without those within `margin` voxels of a border along y and x.
extern "C" __global__ void apart_listed(const int64* list, const int* count, int capacity, const float* responses, int64 voxels,
                                        int height, int width, int margin, const unsigned char* state, int64* kept,
                                        float* heights, int* n_kept) {
    if (*count > capacity) return;
    for (int k = global_thread(); k < *count; k += all_threads()) {
        const int64 place = list[k], row = place / width;
        const int x = place - row * width, y = row % height;
        const bool is_inside = min(min(x, width - 1 - x), min(y, height - 1 - y)) >= margin;
        if (state[place] != STAYS || !is_inside) continue;
        const int own = next_place(n_kept);
        kept[own] = place, heights[own] = responses[place < voxels ? place : place - voxels];
    }
}
