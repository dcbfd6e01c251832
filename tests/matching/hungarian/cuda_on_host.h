// Enough of CUDA C++ to run a kernel file on a host: so that the kernels' logic is tested where there is no GPU.
//
// Every block is a thread of the host, every CUDA thread of it a fiber that runs until it must wait for others: at a barrier,
// a warp's exchange, or a word in memory. Blocks take turns, and go as far as they can: one may be rounds ahead of another
// wherever no barrier keeps it. `__shared__` is a block's own. What is not shown: caches, and late writes.
//
// Where a launch is told so, whose turn it is is drawn, and a turn may end before any word that others read or write; `draw_from`
// takes another seed. A launch that nobody can go on with ends, and says so.
#include <emmintrin.h>
#include <setjmp.h>
#include <ucontext.h>

#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __CUDA_ARCH__ 700

struct Dimension {
    int x, y;
};
struct int2 {
    int x, y;
};
inline int2 make_int2(int x, int y) { return {x, y}; }
inline thread_local Dimension threadIdx, blockIdx, blockDim, gridDim;
template <class A, class B>
auto min(A a, B b) {
    return a < b ? a : b;
}
template <class A, class B>
auto max(A a, B b) {
    return a < b ? b : a;
}

namespace host {

inline int row = 0, rows = 1;  // of a grid of two dimensions, whose rows are launched one after the other

// Lanes that exchange a word; those of one mask meet again and again.
struct Meeting {
    uint32_t arrived = 0;
    long times = 0;
    uint64_t given[32], seen[32];
};

// setjmp instead of swapcontext, which asks the operating system each time.
struct Place {
    jmp_buf jump;
};

inline bool is_drawn = false;
inline uint32_t numbers = 0;  // only who has the turn draws
inline uint32_t drawn(uint32_t below) {
    if (!is_drawn) return 0;
    numbers = numbers * 1664525u + 1013904223u;
    return (numbers >> 10) % below;
}
inline bool ends_turn() { return is_drawn && drawn(6) == 0; }

constexpr long MOST_VAIN_LOOKS = 100000;
inline long vain_looks = 0;  // at words that others are to change, since anything else was done
inline bool is_stuck = false;

// Whose turn it is.
struct Turns {
    explicit Turns(int blocks) : changed(blocks), present(blocks, true) {}
    std::mutex mutex;
    std::deque<std::condition_variable> changed;  // a block's own: the others sleep on
    std::vector<bool> present;
    int whose = 0;

    void pass_on(bool leave) {
        std::unique_lock<std::mutex> lock(mutex);
        const int me = whose, n = (int)present.size();
        if (leave) present[me] = false;
        const int first = me + 1 + (int)drawn(n);
        for (int k = first; k < first + n; ++k)
            if (present[k % n]) {
                whose = k % n;
                break;
            }
        changed[whose].notify_one();
        if (!leave) await(lock, me);
    }
    void await(std::unique_lock<std::mutex>& lock, int me) {
        changed[me].wait(lock, [&] { return whose == me; });
    }
};

// Kept from launch to launch, and never cleared: fresh pages were nine tenths of a launch. Only who has the turn looks here.
constexpr size_t STACK_BYTES = 1 << 16;
using Stack = std::unique_ptr<char[]>;
inline std::vector<Stack> spare_stacks;

inline Stack take_stack() {
    if (spare_stacks.empty()) return Stack(new char[STACK_BYTES]);
    Stack stack = std::move(spare_stacks.back());
    spare_stacks.pop_back();
    return stack;
}

struct Block {
    Turns* turns;
    int alive, waiting = 0, current = 0;
    bool awaits = false;
    long barriers = 0;
    bool any = false, any_seen = false;
    std::vector<ucontext_t> fibers;  // to begin with
    std::vector<Place> places;       // where each waits
    std::vector<bool> begun, done;
    std::vector<std::pair<const long*, long>> until;  // what must change before a fiber goes on
    std::vector<std::map<uint32_t, Meeting>> warps;
    std::vector<uint64_t> room;  // dynamic shared memory
    ucontext_t start;
    Place home;
};
inline thread_local Block* block;

inline void wait() {
    if (_setjmp(block->places[block->current].jump) == 0) _longjmp(block->home.jump, 1);
}

inline void wait_for_change(const long& times, long seen) {
    block->until[block->current] = {&times, seen};
    while (times == seen) wait();
    block->until[block->current] = {nullptr, 0};
}

// Lets a fiber run until it waits.
inline void go_on(int t) {
    Block& here = *block;
    here.current = threadIdx.x = t;
    if (_setjmp(here.home.jump) != 0) return;
    if (here.begun[t]) _longjmp(here.places[t].jump, 1);
    here.begun[t] = true;
    swapcontext(&here.start, &here.fibers[t]);
}

inline void open_barrier() {
    block->waiting = 0, block->any_seen = block->any, block->any = false;
    ++block->barriers;
}

inline bool barrier(bool say) {
    vain_looks = 0;
    block->any |= say;
    const long mine = block->barriers;
    if (++block->waiting == block->alive) open_barrier();
    wait_for_change(block->barriers, mine);
    return block->any_seen;
}

template <class T>
uint64_t word(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
T from_word(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// What the lanes of the mask give, once all have come.
template <class T>
const uint64_t* exchanged(uint32_t mask, T value) {
    vain_looks = 0;
    Meeting& here = block->warps[threadIdx.x / 32][mask];
    const long mine = here.times;
    here.given[threadIdx.x % 32] = word(value), here.arrived |= 1u << threadIdx.x % 32;
    if (here.arrived == mask) {
        memcpy(here.seen, here.given, sizeof here.seen);
        here.arrived = 0, ++here.times;
    }
    wait_for_change(here.times, mine);
    return here.seen;
}

inline void pause() {
    vain_looks = 0;
    if (!ends_turn()) return;
    block->awaits = true;
    wait();
}

template <class T>
T load(const T* at) {
    pause();
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
template <class T, class U>
void store(T* at, U value) {
    pause();
    __atomic_store_n(at, (T)value, __ATOMIC_SEQ_CST);
}
template <class T>
T awaited(const T* at) {
    is_stuck |= ++vain_looks > MOST_VAIN_LOOKS;
    block->awaits = true;
    wait();
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}
inline void load_words(const uint64_t* at, uint64_t& a, uint64_t& b) {
    block->awaits = true;
    wait();
    const __m128i both = _mm_load_si128((const __m128i*)at);
    a = (uint64_t)_mm_cvtsi128_si64(both), b = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(both, both));
}
inline void store_words(uint64_t* at, uint64_t a, uint64_t b) {
    pause();
    _mm_store_si128((__m128i*)at, _mm_set_epi64x((long long)b, (long long)a));
}

template <class Kernel>
struct Fiber {
    static inline thread_local Kernel* kernel;
    static void run() {
        (*kernel)();
        vain_looks = 0;
        block->done[block->current] = true;
        if (--block->alive > 0 && block->waiting == block->alive) open_barrier();
        wait();
    }
};

template <class Kernel>
void run_block(Turns* turns, int number, int blocks, int threads, int shared_bytes, Kernel kernel) {
    {
        std::unique_lock<std::mutex> lock(turns->mutex);
        turns->await(lock, number);
    }
    Block here{turns, threads};
    here.fibers.resize(threads), here.places.resize(threads), here.begun.assign(threads, false), here.done.assign(threads, false), here.until.resize(threads), here.warps.resize((threads + 31) / 32);
    here.room.resize(shared_bytes / 8 + 1);
    block = &here, Fiber<Kernel>::kernel = &kernel;
    blockIdx = {number, row}, gridDim = {blocks, rows}, blockDim = {threads, 1};
    std::vector<Stack> stacks(threads);
    for (int t = 0; t < threads; ++t) {
        stacks[t] = take_stack();
        getcontext(&here.fibers[t]);
        here.fibers[t].uc_stack.ss_sp = stacks[t].get(), here.fibers[t].uc_stack.ss_size = STACK_BYTES;
        makecontext(&here.fibers[t], Fiber<Kernel>::run, 0);
    }
    while (here.alive > 0 && !is_stuck) {
        const int first = (int)drawn(threads);
        bool any_went_on = false;
        for (int k = 0; k < threads; ++k)
            if (const int t = (first + k) % threads; !here.done[t] && (here.until[t].first == nullptr || *here.until[t].first != here.until[t].second)) any_went_on = true, go_on(t);
        is_stuck |= !any_went_on;  // some wait at a barrier, or for a warp, that others do not come to
        if (here.awaits && here.alive > 0) turns->pass_on(false);
        here.awaits = false;
    }
    for (Stack& stack : stacks) spare_stacks.push_back(std::move(stack));
    turns->pass_on(true);
}

template <class... A, size_t... I>
void call(void (*kernel)(A...), void** arguments, std::index_sequence<I...>) {
    kernel(*(A*)arguments[I]...);
}

// `arguments` as the CUDA driver takes them: where each of them lies. False: all that were left waited for one another.
template <class... A>
bool launch(void (*kernel)(A...), int blocks, int threads, int shared_bytes, void** arguments) {
    const auto run = [=] { call(kernel, arguments, std::index_sequence_for<A...>{}); };
    is_stuck = false, vain_looks = 0;
    Turns turns(blocks);
    std::vector<std::thread> all;
    for (int k = 0; k < blocks; ++k) all.emplace_back([&, k] { run_block(&turns, k, blocks, threads, shared_bytes, run); });
    for (auto& one : all) one.join();
    return !is_stuck;
}

}  // namespace host

extern "C" inline __attribute__((used)) void draw_from(uint32_t seed) { host::numbers = seed; }

constexpr uint32_t ALL_LANES = 0xffffffffu;
inline void __syncthreads() { host::barrier(false); }
inline int __syncthreads_or(int say) { return host::barrier(say != 0); }
inline void __syncwarp(uint32_t mask = ALL_LANES) { host::exchanged(mask, 0); }
template <class T>
T __shfl_sync(uint32_t mask, T value, int from) {
    return host::from_word<T>(host::exchanged(mask, value)[from]);
}
template <class T>
T __shfl_sync(uint32_t mask, T value, int from, int width) {
    return __shfl_sync(mask, value, (int)(threadIdx.x % 32 & ~(width - 1)) + from % width);
}
template <class T>
T __shfl_xor_sync(uint32_t mask, T value, int step) {
    return host::from_word<T>(host::exchanged(mask, value)[threadIdx.x % 32 ^ step]);
}
template <class T>
T __shfl_down_sync(uint32_t mask, T value, int step) {
    const uint64_t* const given = host::exchanged(mask, value);
    const int from = threadIdx.x % 32 + step;
    return from < 32 ? host::from_word<T>(given[from]) : value;
}
inline uint32_t __ballot_sync(uint32_t mask, bool say) {
    const uint64_t* const said = host::exchanged(mask, say);
    uint32_t who = 0;
    for (int k = 0; k < 32; ++k) who |= (uint32_t)(mask >> k & said[k] & 1) << k;
    return who;
}
inline int __any_sync(uint32_t mask, bool say) { return __ballot_sync(mask, say) != 0; }
inline uint32_t __activemask() { return 1u << threadIdx.x % 32; }  // a lane by itself is always right
inline int __popc(uint32_t x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __threadfence(); }
inline void __trap() { abort(); }
inline long long __double_as_longlong(double x) { return host::from_word<long long>(host::word(x)); }
inline double __longlong_as_double(long long x) { return host::from_word<double>(host::word(x)); }
inline uint32_t __float_as_uint(float x) { return host::from_word<uint32_t>(host::word(x)); }
inline float __uint_as_float(uint32_t x) { return host::from_word<float>(x); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
template <class T>
T __ldcg(const T* at) {
    return *(const volatile T*)at;
}
inline int2 __ldcg(const int2* at) { return host::from_word<int2>(host::load((const uint64_t*)at)); }
template <class T>
T __ldcs(const T* at) {
    return *at;
}
template <class T, class U>
T atomicAdd(T* at, U value) {
    host::pause();
    return __atomic_fetch_add(at, (T)value, __ATOMIC_SEQ_CST);
}
template <class T, class U>
T atomicSub(T* at, U value) {
    return __atomic_fetch_sub(at, (T)value, __ATOMIC_SEQ_CST);
}
template <class T, class U>
T atomicExch(T* at, U value) {
    host::pause();
    return __atomic_exchange_n(at, (T)value, __ATOMIC_SEQ_CST);
}
template <class T, class U, class V>
T atomicCAS(T* at, U expected, V value) {
    host::pause();
    T before = (T)expected;
    __atomic_compare_exchange_n(at, &before, (T)value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return before;
}
namespace host {
template <class T, class Better>
T replace_if(T* at, T value, Better better) {
    T before = load(at);
    while (better(value, before) && !__atomic_compare_exchange_n(at, &before, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return before;
}
}  // namespace host
template <class T, class U>
T atomicMin(T* at, U value) {
    return host::replace_if(at, (T)value, [](T a, T b) { return a < b; });
}
template <class T, class U>
T atomicMax(T* at, U value) {
    return host::replace_if(at, (T)value, [](T a, T b) { return b < a; });
}
