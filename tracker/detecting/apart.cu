// Peaks that are well apart: `peaks.apart` on a GPU, a thread a peak.
//
// Peaks drop their lower rivals from the highest down. Whoever has no higher rival left that is undecided decides for itself, so
// that a few rounds do for all; a state that another thread writes meanwhile is as good as the one before.
#include "device/common.cuh"

enum { NONE, OPEN, STAYS, FALLS };

// As a KD-tree measures: positions first, each step rounded, so that the same pairs are rivals on the border.
__device__ __forceinline__ double square_between(const int* a, const int* b, const double* step) {
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        const double away = __dsub_rn(__dmul_rn(a[axis], step[axis]), __dmul_rn(b[axis], step[axis]));
        sum = __dadd_rn(sum, __dmul_rn(away, away));
    }
    return sum;
}

// list: (n,) places of peaks in the flattened response. Rivals are at most `reach` voxels away along each axis, and as far that the
// square of their distance is at most `most`. state: (voxels,), OPEN at peaks and NONE elsewhere to begin with. left: how many
// peaks are undecided after this round.
extern "C" __global__ void apart_round(
    const int64* list, int n, const float* response, int depth, int height, int width, double step_z, double step_y,
    double step_x, int reach_z, int reach_y, int reach_x, double most, unsigned char* state, int* left
) {
    const int k = global_thread();
    if (k >= n || state[list[k]] != OPEN) return;
    const double step[3] = {step_z, step_y, step_x};
    const int64 place = list[k], row = place / width;
    const int own[3] = {(int)(row / height), (int)(row % height), (int)(place - row * width)};
    const float peak = response[place];
    bool waits = false, falls = false;
    for (int z = max(own[0] - reach_z, 0); z <= min(own[0] + reach_z, depth - 1) && !falls; z++) {
        for (int y = max(own[1] - reach_y, 0); y <= min(own[1] + reach_y, height - 1) && !falls; y++) {
            for (int x = max(own[2] - reach_x, 0); x <= min(own[2] + reach_x, width - 1); x++) {
                const int64 other = ((int64)z * height + y) * width + x;
                const unsigned char its = ((volatile unsigned char*)state)[other];
                if (its != OPEN && its != STAYS) continue;
                const int there[3] = {z, y, x};
                const bool is_higher = response[other] > peak || (response[other] == peak && other < place);
                if (!is_higher || square_between(own, there, step) > most) continue;
                waits = true, falls |= its == STAYS;
            }
        }
    }
    if (waits && !falls) {
        atomicAdd(left, 1);
    } else {
        state[place] = falls ? FALLS : STAYS;
    }
}
