// The scheduler of target_emulated.h's fibers.

#pragma once

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

namespace emulated {

enum { MOST_THREADS = 1024, STACK = 64 * 1024, PATIENCE = 100000000 };

struct Gate {
  int32_t arrived, generation;
};

// A fiber starts as a ucontext and then switches by jumps, which make no system
// call.
struct Fiber {
  ucontext_t start;
  jmp_buf at;
  bool started, done;
};

static Fiber fibers[MOST_THREADS];
static jmp_buf scheduler;
static char *stacks;
static int32_t current, threads_of_block;
static Gate block_gate, warp_gates[MOST_THREADS / 32];
static uint32_t slots[MOST_THREADS];
static void (*body)(const void *);
static const void *body_arguments;
static int64_t yields;

int32_t thread() { return current; }

void yield() {
  if (++yields > PATIENCE) {
    fprintf(stderr, "emulated block: thread %d waits for ever\n", current);
    abort();
  }
  if (_setjmp(fibers[current].at) == 0)
    _longjmp(scheduler, 1);
}

static void wait(Gate *gate, int32_t all) {
  int32_t generation = gate->generation;
  if (++gate->arrived == all) {
    gate->arrived = 0;
    gate->generation++;
    return;
  }
  while (gate->generation == generation)
    yield();
}

void barrier() { wait(&block_gate, threads_of_block); }
void warp_barrier() { wait(&warp_gates[current / 32], 32); }

int32_t barrier_count(bool p) {
  static int32_t count;
  barrier();
  count = 0;
  barrier();
  count += p;
  barrier();
  return count;
}

bool barrier_any(bool p) { return barrier_count(p) != 0; }

const uint32_t *exchange(uint32_t value) {
  warp_barrier();
  slots[current] = value;
  warp_barrier();
  return slots + current / 32 * 32;
}

static void enter() {
  body(body_arguments);
  fibers[current].done = true;
  _longjmp(scheduler, 1);
}

static void resume(Fiber *f) {
  if (_setjmp(scheduler) != 0)
    return;
  if (f->started)
    _longjmp(f->at, 1);
  f->started = true;
  setcontext(&f->start);
}

// run executes body once for each thread of a block. Fibers take turns in
// ascending order for order 0, in descending order for 1, and in an order that
// changes with every turn, from the seed order, otherwise.
static void run(void (*what)(const void *), const void *arguments, int32_t threads, uint64_t order) {
  if (!stacks)
    stacks = (char *)malloc((size_t)MOST_THREADS * STACK);
  body = what, body_arguments = arguments, threads_of_block = threads, yields = 0;
  block_gate = Gate{0, 0};
  for (int32_t w = 0; w < MOST_THREADS / 32; w++)
    warp_gates[w] = Gate{0, 0};
  for (int32_t t = 0; t < threads; t++) {
    Fiber *f = &fibers[t];
    f->started = f->done = false;
    getcontext(&f->start);
    f->start.uc_stack.ss_sp = stacks + (size_t)t * STACK;
    f->start.uc_stack.ss_size = STACK;
    f->start.uc_link = nullptr;
    makecontext(&f->start, enter, 0);
  }
  for (int32_t left = threads; left > 0;) {
    order = order < 2 ? order : order * 6364136223846793005u + 1442695040888963407u;
    for (int32_t i = 0; i < threads; i++) {
      current = order == 0 ? i : order == 1 ? threads - 1 - i : (int32_t)(i ^ (order >> 33 & (threads - 1)));
      if (fibers[current].done)
        continue;
      resume(&fibers[current]);
      left -= fibers[current].done;
    }
  }
}

} // namespace emulated
