// The alternating-tree kernel: the exchange between all blocks that makes a step, in words that carry their step's number. See
// paths/matrix_forest.cu.
#pragma once
#include "paths/matrix_forest_scan.cuh"

struct Shared {
    Step of_warp[WARPS], of_readers[MAX_BLOCKS / 32];
    dual_t key_of_block[MAX_BLOCKS];
    Entry entry_of_block[MAX_BLOCKS];  // its only row, when it has one; more are in its list
    int count_of_block[MAX_BLOCKS];
    int source[CHUNK];  // block and number in its list of each row of a level
    int n_listed[2], n_level[2];  // by parity of the step
};

constexpr int MESSAGE_WORDS = 6, LISTED = 4;  // words

__device__ __forceinline__ uint64 packed(int low, uint32 high) { return (uint64)(uint32)low | (uint64)high << 32; }
__device__ __forceinline__ int low_of(uint64 word) { return (int)(uint32)word; }
__device__ __forceinline__ uint32 high_of(uint64 word) { return (uint32)(word >> 32); }

// The words of what is exchanged in a step.
struct Messages {
    uint64* slots;
    uint64* lists;

    __device__ __forceinline__ uint64* slot(uint32 step, int block) const {
        return slots + ((step & 1) * gridDim.x + block) * MESSAGE_WORDS;
    }
    __device__ __forceinline__ uint64* listed(uint32 step, int block, int k) const {
        return lists + (((int64)(step & 1) * gridDim.x + block) * (THREADS * GROUPS) + k) * LISTED;
    }
    __device__ __forceinline__ Entry receive(uint32 step, int block, int k) const {
        const uint64* const at = listed(step, block, k);
        uint64 r, row, is_sink, tag;
        do {
            load_words(at, r, row);
            load_words(at + 2, is_sink, tag);
        } while (high_of(row) != step || high_of(tag) != step);
        return Entry{low_of(row), low_of(is_sink), (int)high_of(is_sink), from_bits(r)};
    }
    __device__ __forceinline__ void list(uint32 step, int k, const Entry& e) const {
        uint64* const at = listed(step, blockIdx.x, k);
        store_words(at, bits_of(e.r), packed(e.row, step));
        store_words(at + 2, packed(e.col, (uint32)e.root), packed(0, step));
    }
    __device__ __forceinline__ void send(uint32 step, const Step& s) const {
        uint64* const at = slot(step, blockIdx.x);
        store_words(at, bits_of(s.key), packed(2 * s.count + s.is_sink, step));
        store_words(at + 2, bits_of(s.entry.r), packed(s.entry.row, step));
        store_words(at + 4, packed(s.entry.col, (uint32)s.entry.root), packed(0, step));
    }
    __device__ __forceinline__ Step receive(uint32 step, int block) const {
        const uint64* const at = slot(step, block);
        uint64 key, count, r, row, is_sink, tag;
        do {
            load_words(at, key, count);
            load_words(at + 2, r, row);
            load_words(at + 4, is_sink, tag);
        } while (high_of(count) != step || high_of(row) != step || high_of(tag) != step);
        return Step{from_bits(key), Entry{low_of(row), low_of(is_sink), (int)high_of(is_sink), from_bits(r)}, low_of(count) / 2, low_of(count) & 1};
    }
};

// Every block says what its columns and rows offer at the least key of all; all blocks return the same.
__device__ __forceinline__ Step exchange(const Columns& own, const AtBound& at_bound, const Strip& strip, uint32 step, const Messages& messages,
                                         Shared& shared) {
    const Step nothing{none(), no_entry(), 0, 0};
    Step mine = nothing;
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        if (own.covered[g] || own.key[g] > mine.key || own.key[g] >= none()) continue;
        if (own.key[g] < mine.key) mine = nothing, mine.key = own.key[g];
        const int col = strip.first + threadIdx.x + g * THREADS;
        if (own.row[g] == FREE) mine.is_sink = 1;
        else mine.entry = Entry{own.row[g], col, own.from[g].root, own.r[g]}, mine.count += 1;
    }
    if (at_bound.bound != nullptr)
        for (int k = threadIdx.x; k < strip.height; k += THREADS) {
            const dual_t key = fresh_dual(&at_bound.key[strip.first_row + k]);
            if (key < mine.key) mine = nothing, mine.key = key;
            if (key == mine.key && key < none()) mine.is_sink = 1;
        }
    const Step of_warp = together(mine);
    if (lane() == 0) shared.of_warp[threadIdx.x / 32] = of_warp;
    __syncthreads();
    const Step block = together(lane() < WARPS ? shared.of_warp[lane()] : nothing);
    if (threadIdx.x == 0) messages.send(step, block);
    if (threadIdx.x == 0) shared.n_listed[~step & 1] = shared.n_level[~step & 1] = 0;
    if (block.count > 1) {
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            if (!own.covered[g] && own.row[g] != FREE && own.key[g] == block.key)
                messages.list(step, atomicAdd(&shared.n_listed[step & 1], 1),
                          Entry{own.row[g], (int)(strip.first + threadIdx.x + g * THREADS), own.from[g].root, own.r[g]});
    }
    const int n_blocks = gridDim.x, readers = (n_blocks + 31) / 32;
    if ((int)threadIdx.x / 32 < readers) {
        Step there = nothing;
        if ((int)threadIdx.x < n_blocks) {
            there = messages.receive(step, threadIdx.x);
            shared.key_of_block[threadIdx.x] = there.key;
            shared.count_of_block[threadIdx.x] = there.count;
            shared.entry_of_block[threadIdx.x] = there.entry;
        }
        const Step of_readers = together(there);
        if (lane() == 0) shared.of_readers[threadIdx.x / 32] = of_readers;
    }
    __syncthreads();
    return together(lane() < readers ? shared.of_readers[lane()] : nothing);
}
