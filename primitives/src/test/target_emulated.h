// A GPU block on a CPU, for tests: its threads are fibers that take turns, so
// that a missing barrier shows as a wrong result in one of the orders tried.
//
// A fiber runs until it waits at a barrier, a shuffle or a fence. Which fiber is
// next is up to the launch; see emulated.h.

#pragma once

#define RF_PRIMITIVE extern "C" __attribute__((always_inline)) inline
#define RF_HELPER static inline
#define RF_LAMBDA
#define RF_MEMBER
#define RF_UNROLL
#define RF_ROLLED

namespace emulated {

// thread is the index of the running fiber.
int32_t thread();
// yield lets another fiber run.
void yield();
// barrier waits for all fibers of the block, warp_barrier for those of the warp.
void barrier();
void warp_barrier();
// barrier_any is barrier, and says whether a fiber called it with true.
bool barrier_any(bool p);
// barrier_count is barrier, and says how many fibers called it with true.
int32_t barrier_count(bool p);
// exchange returns the values that all lanes of the warp gave.
const uint32_t *exchange(uint32_t value);

} // namespace emulated

namespace target {

enum { WARP = 32 };

RF_HELPER int32_t thread() { return emulated::thread(); }
RF_HELPER void barrier() { emulated::barrier(); }
RF_HELPER bool barrier_any(bool p) { return emulated::barrier_any(p); }
RF_HELPER int32_t barrier_count(bool p) { return emulated::barrier_count(p); }
RF_HELPER void warp_barrier() { emulated::warp_barrier(); }

// The values are read before the next exchange can overwrite them: that begins
// with a wait for all lanes.
RF_HELPER uint32_t shuffle(uint32_t v, int32_t lane) { return emulated::exchange(v)[lane & 31]; }
RF_HELPER uint32_t shuffle_up(uint32_t v, int32_t delta) {
  int32_t lane = thread() % WARP;
  return emulated::exchange(v)[lane < delta ? lane : lane - delta];
}
RF_HELPER uint32_t shuffle_xor(uint32_t v, int32_t mask) { return emulated::exchange(v)[(thread() % WARP) ^ mask]; }
RF_HELPER uint32_t match_any(uint32_t v) {
  const uint32_t *all = emulated::exchange(v);
  uint32_t mask = 0;
  for (int32_t i = 0; i < WARP; i++)
    mask |= (uint32_t)(all[i] == v) << i;
  return mask;
}
RF_HELPER uint32_t match_byte(uint32_t v) { return match_any(v & 255); }
RF_HELPER uint32_t byte(uint32_t v, int32_t number) { return v >> 8 * number & 255; }
RF_HELPER uint32_t match_any64(uint64_t v) { return match_any((uint32_t)v) & match_any((uint32_t)(v >> 32)); }
RF_HELPER uint32_t ballot(bool p) {
  const uint32_t *all = emulated::exchange(p);
  uint32_t mask = 0;
  for (int32_t i = 0; i < WARP; i++)
    mask |= all[i] << i;
  return mask;
}
RF_HELPER uint32_t either_lanes(uint32_t v) {
  const uint32_t *all = emulated::exchange(v);
  uint32_t bits = 0;
  for (int32_t i = 0; i < WARP; i++)
    bits |= all[i];
  return bits;
}
// Lanes never arrive together here, which a GPU also allows.
RF_HELPER uint32_t active() { return 1u << (thread() % WARP); }
RF_HELPER uint64_t from_active(uint32_t, uint64_t v, int32_t) { return v; }

template <class T> RF_HELPER T cas(T *p, T expected, T desired) {
  T old = *p;
  if (old == expected)
    *p = desired;
  return old;
}
template <class T> RF_HELPER T add(T *p, T v) {
  T old = *p;
  *p = old + v;
  return old;
}
RF_HELPER uint32_t fetch_add_shared_if(bool p, uint32_t *at, uint32_t v) { return p ? add(at, v) : 0; }
RF_HELPER void add_shared_if(bool p, uint32_t *at, uint32_t v) {
  if (p)
    add(at, v);
}
template <class T> RF_HELPER T either(T *p, T v) {
  T old = *p;
  *p = old | v;
  return old;
}
template <class T> RF_HELPER T smallest(T *p, T v) {
  T old = *p;
  *p = v < old ? v : old;
  return old;
}
template <class T> RF_HELPER T largest(T *p, T v) {
  T old = *p;
  *p = v > old ? v : old;
  return old;
}
template <class T> RF_HELPER T load(const T *p) { return *(const volatile T *)p; }
template <class T> RF_HELPER void store(T *p, T v) { *(volatile T *)p = v; }
RF_HELPER void fence() { emulated::yield(); }

RF_HELPER void load8(const void *p, uint32_t *out) { __builtin_memcpy(out, p, 8); }
RF_HELPER void load16(const void *p, uint32_t *out) { __builtin_memcpy(out, p, 16); }
RF_HELPER void store8(void *p, const uint32_t *v) { __builtin_memcpy(p, v, 8); }
RF_HELPER void store16(void *p, const uint32_t *v) { __builtin_memcpy(p, v, 16); }

template <class T> RF_HELPER T load_if(const T *p, bool wanted) { return wanted ? *p : 0; }

template <class T> RF_HELPER T *global(T *p) { return p; }

RF_HELPER void prefetch(const void *) {}
RF_HELPER void relax() { emulated::yield(); }
RF_HELPER void pause(uint32_t) { emulated::yield(); }

RF_HELPER uint32_t funnel(uint32_t lo, uint32_t hi, uint32_t s) { return (uint32_t)(((uint64_t)hi << 32 | lo) >> s); }

RF_HELPER uint64_t multiply_high(uint64_t a, uint64_t b) {
  return (uint64_t)((unsigned __int128)a * b >> 64);
}

} // namespace target
