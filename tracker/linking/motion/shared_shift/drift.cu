// The shift that all particles of a frame pair share, by vote, as in drift.py; a block a frame pair.
//
// Votes are counted in shared memory, but those in fine bins, which are too many. Those near a winner are kept there, as far as
// there is room, and their median is found by halving the range that it lies in, by a look at all votes for each bit: the kept
// ones or, where they are more, another walk.
// What is added up are whole numbers, so no order of threads shows in the result.
// Bytes: 24 a vote, mostly from cache: 400 voters have some 1,600 votes each.
// variant: -DNDIM=3
#include "../tracker/linking/gate/cells.cuh"

#ifndef NDIM
#define NDIM 2
#endif
#ifndef REACH
#define VOTERS 400
#define REACH 10
#define FINE 4
#define NEAR_WIDTH 26
#define LEAST 0.3
#define KEPT 1984
#endif
constexpr int WIDTH = 2 * REACH + 1, BINS = WIDTH * WIDTH * (NDIM == 3 ? WIDTH : 1);
constexpr int NEAR_BINS = NEAR_WIDTH * NEAR_WIDTH * (NDIM == 3 ? NEAR_WIDTH : 1);
// What the threads of a block count together, three numbers at a time.
struct Tally {
    uint64 at[3];

    // All threads of the block, before counting and after it.
    __device__ __forceinline__ void begin(uint64 value) {
        __syncthreads();
        if (threadIdx.x < 3) at[threadIdx.x] = value;
        __syncthreads();
    }
};

// The numbers whose order as whole ones is that of the real ones.
__device__ __forceinline__ uint64 ranked(double value) {
    const uint64 bits = (uint64)__double_as_longlong(value);
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

__device__ __forceinline__ double unranked(uint64 rank) {
    return __longlong_as_double((int64)(rank >> 63 ? rank ^ 1ull << 63 : ~rank));
}

// Particles of the earlier frame that vote, the later frame, and where it is looked up.
struct Poll {
    Cells cells;
    const int* starts;
    const Position* laid;
    int64 first;
    int step, voters, slot;

    // Calls visit(voter, later) for all that may lie within `reach` of a shift, and more.
    template <typename Visit>
    __device__ __forceinline__ void walk(Position shift, double reach, Visit visit) const {
        const int across = (int)(2 * reach / cells.edge) + 3;
        const int deep = min(across, cells.depth), high = min(across, cells.height);
        for (int task = threadIdx.x; task < voters * deep * high; task += blockDim.x) {
            const Position voter = laid[first + (int64)(task / (deep * high)) * step];
            const Position p{voter.z + shift.z, voter.y + shift.y, voter.x + shift.x};
            const int z = from(p.z, reach, cells.z0, cells.depth) + task / high % deep;
            const int y = from(p.y, reach, cells.y0, cells.height) + task % high;
            if (z > to(p.z, reach, cells.z0, cells.depth) || y > to(p.y, reach, cells.y0, cells.height)) continue;
            const int line = slot * cells.per_frame() + (z * cells.height + y) * cells.width;
            const int end = starts[line + to(p.x, reach, cells.x0, cells.width) + 1];
            for (int j = starts[line + from(p.x, reach, cells.x0, cells.width)]; j < end; j++) visit(voter, laid[j]);
        }
    }

    __device__ __forceinline__ int from(double at, double reach, double corner, int size) const {
        return clipped((at - reach - corner) / cells.edge - 1e-9, size);
    }
    __device__ __forceinline__ int to(double at, double reach, double corner, int size) const {
        return clipped((at + reach - corner) / cells.edge + 1e-9, size);
    }
};

// The median, axis by axis, of the votes at most `reach` from a shift on every axis; false where there are none.
__device__ bool is_refined(const Poll& poll, Position& shift, double reach, double (*kept)[3], Tally& tally) {
    const auto cast = [&](auto&& visit) {
        poll.walk(shift, reach, [&](Position voter, Position later) {
            const double away[3] = {
                __dsub_rn(later.z, voter.z), __dsub_rn(later.y, voter.y), __dsub_rn(later.x, voter.x)
            };
            const bool near = fabs(away[0] - shift.z) <= reach && fabs(away[1] - shift.y) <= reach &&
                              fabs(away[2] - shift.x) <= reach;
            if (near) visit(away);
        });
    };
    tally.begin(0);
    cast([&](const double* away) {
        const uint64 place = atomicAdd(&tally.at[0], (uint64)1);
        for (int axis = 0; axis < 3 && place < KEPT; axis++) kept[place][axis] = away[axis];
    });
    __syncthreads();
    const uint64 all = tally.at[0];
    if (all == 0) return false;
    const auto votes = [&](auto&& visit) {
        if (all > KEPT) {
            cast(visit);
        } else {
            for (int k = threadIdx.x; k < (int)all; k += blockDim.x) visit(kept[k]);
        }
        __syncthreads();
    };
    const double centre[3] = {shift.z, shift.y, shift.x};
    uint64 low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = ranked(centre[axis] - 2 * reach), high[axis] = ranked(centre[axis] + 2 * reach);
    }
    while (low[0] < high[0] || low[1] < high[1] || low[2] < high[2]) {
        uint64 middle[3];
        for (int axis = 0; axis < 3; axis++) middle[axis] = low[axis] + (high[axis] - low[axis]) / 2;
        tally.begin(0);
        votes([&](const double* away) {
            for (int axis = 0; axis < 3; axis++) {
                if (ranked(away[axis]) <= middle[axis]) atomicAdd(&tally.at[axis], (uint64)1);
            }
        });
        for (int axis = 0; axis < 3; axis++) {
            if (tally.at[axis] > (all - 1) / 2) high[axis] = middle[axis];
            else if (low[axis] < high[axis]) low[axis] = middle[axis] + 1;
        }
    }
    // `low` is the lower of the two in the middle. The upper one is the next, unless enough are as low.
    tally.begin(0);
    votes([&](const double* away) {
        for (int axis = 0; axis < 3; axis++) {
            if (ranked(away[axis]) <= low[axis]) atomicAdd(&tally.at[axis], (uint64)1);
        }
    });
    const uint64 as_low[3] = {tally.at[0], tally.at[1], tally.at[2]};
    tally.begin(~0ull);
    votes([&](const double* away) {
        for (int axis = 0; axis < 3; axis++) {
            if (ranked(away[axis]) > low[axis]) atomicMin(&tally.at[axis], ranked(away[axis]));
        }
    });
    double median[3];
    for (int axis = 0; axis < 3; axis++) {
        const uint64 upper = as_low[axis] > all / 2 ? low[axis] : tally.at[axis];
        median[axis] = (unranked(low[axis]) + unranked(upper)) / 2;
    }
    shift = Position{median[0], median[1], median[2]};
    return true;
}

// The poll of a frame pair, from the first point of each frame and of the next.
__device__ __forceinline__ Poll poll_of(
    int64 f, const int64* first, const int* slot, const Position* laid, const int* starts, Cells cells
) {
    const int64 earlier = first[f + 1] - first[f];
    const int step = (int)max(earlier / VOTERS, (int64)1);
    return Poll{cells, starts, laid, first[f], step, (int)((earlier + step - 1) / step), slot[f + 1]};
}

// Adds the votes to bins of 1 / fine spacings, zero in the middle; the first axis has one in 2D.
__device__ __forceinline__ void count_into(int* counts, const Poll& poll, int fine, int width) {
    const double edge = width / (2.0 * fine);
    poll.walk(Position{0.0, 0.0, 0.0}, edge, [&](Position voter, Position other) {
        const double z = fine * (other.z - (voter.z - edge)), y = fine * (other.y - (voter.y - edge));
        const double x = fine * (other.x - (voter.x - edge));
        if (fmin(z, fmin(y, x)) < 0 || fmax(z, fmax(y, x)) >= width) return;
        atomicAdd(&counts[((NDIM == 3 ? (int)z : 0) * width + (int)y) * width + (int)x], 1);
    });
}

// first: (frames + 1,) the first point of each frame, and their number; slot: (frames,). of_pairs: (pairs,) which are
// counted, a block each; all: (pairs, BINS).
extern "C" __global__ void count_votes(
    const int64* first, const int* slot, const Position* laid, const int* starts, double z0, double y0, double x0,
    double edge, int depth, int height, int width, int slots, const int64* of_pairs, int* all
) {
    __shared__ int counts[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) counts[bin] = 0;
    __syncthreads();
    const Cells cells{z0, y0, x0, edge, depth, height, width, slots};
    count_into(counts, poll_of(of_pairs[blockIdx.x], first, slot, laid, starts, cells), 1, WIDTH);
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) all[(int64)blockIdx.x * BINS + bin] = counts[bin];
}

// The same in fine bins, near; all: zeros.
extern "C" __global__ void count_near_votes(
    const int64* first, const int* slot, const Position* laid, const int* starts, double z0, double y0, double x0,
    double edge, int depth, int height, int width, int slots, const int64* of_pairs, int* all
) {
    const Cells cells{z0, y0, x0, edge, depth, height, width, slots};
    const Poll poll = poll_of(of_pairs[blockIdx.x], first, slot, laid, starts, cells);
    count_into(all + (int64)blockIdx.x * NEAR_BINS, poll, FINE, NEAR_WIDTH);
}

// shift: (pairs, 3) what has been elected; what it comes to by the votes within so far of it, or 0 where none is or it
// is too short.
extern "C" __global__ void refine_shifts(
    const int64* first, const int* slot, const Position* laid, const int* starts, double z0, double y0, double x0,
    double edge, int depth, int height, int width, int slots, const double* within, double* shift
) {
    __shared__ double kept[KEPT][3];
    __shared__ Tally tally;
    double* const own = shift + 3 * (int64)blockIdx.x;
    Position found{own[0], own[1], own[2]};
    const Cells cells{z0, y0, x0, edge, depth, height, width, slots};
    const Poll poll = poll_of(blockIdx.x, first, slot, laid, starts, cells);
    const double most = within[blockIdx.x], reach[] = {most, 2 * most / 3, most / 2};
    bool is_shared = most > 0;
#pragma unroll 1  // unrolled, it takes NVRTC a second more
    for (int k = 0; is_shared && k < 3; k++) is_shared = is_refined(poll, found, reach[k], kept, tally);
    is_shared = is_shared && sqrt(found.z * found.z + found.y * found.y + found.x * found.x) > LEAST;
    __syncthreads();
    if (threadIdx.x > 0) return;
    own[0] = is_shared ? found.z : 0.0;
    own[1] = is_shared ? found.y : 0.0;
    own[2] = is_shared ? found.x : 0.0;
}
