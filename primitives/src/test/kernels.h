// One small kernel for each primitive, so that it can be run and checked alone:
// on a GPU, on a CPU, and on an emulated block.
//
// A kernel takes arguments of 64 bits each, a pointer or a number, works through
// its tiles from the block's index on, and is a template over the threads and
// items of a tile. RF_EACH_KERNEL and RF_EACH_NARROW_KERNEL list them.

#pragma once

#if defined(RF_PROTOTYPES)
#include "../target.h"
#include RF_PROTOTYPES
#else
#include "../all.h"
#endif

// The forms of tables, as package harmony/abi numbers them.
enum : int64_t { NONE, DIRECT, HASH, WIDE };

struct Arguments {
  uint64_t word[12];
};

namespace launch {

#if defined(__CUDA_ARCH__) && defined(__clang__)
RF_HELPER int64_t block() { return __nvvm_read_ptx_sreg_ctaid_x(); }
RF_HELPER int64_t blocks() { return __nvvm_read_ptx_sreg_nctaid_x(); }
#elif defined(__CUDACC__) && !defined(__clang__)
RF_HELPER int64_t block() { return blockIdx.x; }
RF_HELPER int64_t blocks() { return gridDim.x; }
#else
extern thread_local int64_t block_index, block_count;
RF_HELPER int64_t block() { return block_index; }
RF_HELPER int64_t blocks() { return block_count; }
#endif

RF_HELPER int32_t rows(int64_t n, int64_t start, int32_t tile) {
  return n - start < tile ? (int32_t)(n - start) : tile;
}

// pointer returns an argument that points to global memory, and says so to the
// compiler, as generated code does by its types.
template <class T> RF_HELPER T *pointer(const Arguments &a, int32_t i) {
#if defined(__CUDA_ARCH__) && defined(__clang__)
  return (T *)(__attribute__((address_space(1))) T *)a.word[i];
#elif defined(__CUDA_ARCH__)
  __builtin_assume(a.word[i] == 0 || __isGlobal((const void *)a.word[i]));
  return (T *)a.word[i];
#else
  return (T *)a.word[i];
#endif
}
RF_HELPER int64_t number(const Arguments &a, int32_t i) { return (int64_t)a.word[i]; }

} // namespace launch

#if defined(__CUDACC__) || defined(__CUDA__)
#define RF_SHARED(name, bytes) __attribute__((shared)) __attribute__((aligned(16))) static unsigned char name[bytes]
#elif defined(RF_EMULATED)
#define RF_SHARED(name, bytes) alignas(16) static unsigned char name[bytes]
#else
#define RF_SHARED(name, bytes) alignas(16) unsigned char name[bytes]
#endif

// for_tiles opens a loop over the block's tiles of n rows.
#define RF_TILES(n)                                                                                                    \
  enum { TILE = THREADS * ITEMS };                                                                                     \
  for (int64_t start = launch::block() * TILE, rows = 0;                                                               \
       start < (n) && (rows = launch::rows(n, start, TILE), true); start += launch::blocks() * TILE)

// load_tile is rf_tile_load, but later rows become base.
RF_HELPER void load_tile(int64_t *out, const void *column, int32_t width, int64_t base, int64_t step, int64_t start,
                         int32_t rows, int32_t threads, int32_t items) {
  rf_tile_load(out, column, width, base, step, start, rows, threads, items);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    out[i] = rf_tile_row(i, threads) < rows ? out[i] : base;
}

#define RF_KERNEL template <int THREADS, int ITEMS> RF_HELPER void
using launch::number;
using launch::pointer;

// column, width, base, step, n, out
RF_KERNEL tile_load(const Arguments &a) {
  RF_TILES(number(a, 4)) {
    int64_t words[ITEMS];
    load_tile(words, pointer<void>(a, 0), (int32_t)number(a, 1), number(a, 2), number(a, 3), start, (int32_t)rows,
                 THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 5), 8, 0, words, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// load_tile_bits is rf_tile_load_bits, or rf_tile_load_bits_live. Of a GPU's block, a
// few numbers of bits are constants as they have to be, and others are left to
// rf_tile_load.
RF_HELPER void load_tile_bits(int64_t *out, const uint8_t *live, const void *column, int32_t bits, int64_t base,
                              int64_t step, int64_t start, int32_t rows, int32_t threads, int32_t items) {
#define RF_LOAD_BITS(BITS)                                                                                             \
  return live ? rf_tile_load_bits_live(out, live, column, BITS, base, step, start, rows, threads, items)               \
              : rf_tile_load_bits(out, column, BITS, base, step, start, rows, threads, items)
#if defined(RF_EMULATED)
  const bool any = true;
#else
  const bool any = threads == 1;
#endif
  if (any)
    RF_LOAD_BITS(bits);
  switch (bits) {
  case 3:
    RF_LOAD_BITS(3);
  case 13:
    RF_LOAD_BITS(13);
  case 24:
    RF_LOAD_BITS(24);
  case 27:
    RF_LOAD_BITS(27);
  case 41:
    RF_LOAD_BITS(41);
  case 63:
    RF_LOAD_BITS(63);
  }
#undef RF_LOAD_BITS
  rf_tile_load(out, column, 64 + bits, base, step, start, rows, threads, items);
}

// column, bits, base, step, n, out, out of every other eight rows, the others -1
RF_KERNEL tile_load_bits(const Arguments &a) {
  RF_TILES(number(a, 4)) {
    int64_t words[ITEMS], some[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      live[i] = live[i] && rf_tile_row(i, THREADS) / 8 % 2 == 0;
    load_tile_bits(words, nullptr, pointer<void>(a, 0), (int32_t)number(a, 1), number(a, 2), number(a, 3), start,
                   (int32_t)rows, THREADS, ITEMS);
    load_tile_bits(some, live, pointer<void>(a, 0), (int32_t)number(a, 1), number(a, 2), number(a, 3), start,
                   (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      some[i] = live[i] ? some[i] : -1;
    rf_tile_store(pointer<void>(a, 5), 8, 0, words, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 6), 8, 0, some, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// in, width, base, n, out column
RF_KERNEL tile_store(const Arguments &a) {
  RF_TILES(number(a, 3)) {
    int64_t words[ITEMS];
    load_tile(words, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 4), (int32_t)number(a, 1), number(a, 2), words, start, (int32_t)rows, THREADS,
                  ITEMS);
  }
}

// column of row numbers, n, column, width, base, step, out, limit: gathers the
// rows below limit, others become -1
RF_KERNEL tile_gather(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t at[ITEMS], words[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    rf_tile_load_live(at, live, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      live[i] = live[i] && at[i] < number(a, 7);
    rf_tile_gather(words, live, at, pointer<void>(a, 2), (int32_t)number(a, 3), number(a, 4), number(a, 5), ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      words[i] = live[i] ? words[i] : -1;
    rf_tile_store(pointer<void>(a, 6), 8, 0, words, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// Reads a column of a constant width as fast as it can: column, n, sum.
template <int WIDTH, int THREADS, int ITEMS> RF_HELPER void sum_of(const Arguments &a) {
  RF_SHARED(scratch, 8 * 32);
  int64_t sum = 0;
  RF_TILES(number(a, 1)) {
    int64_t words[ITEMS];
    load_tile(words, pointer<void>(a, 0), WIDTH, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      sum += words[i];
  }
  sum = rf_block_sum_i64(sum, scratch, THREADS);
  if (target::thread() == 0)
    rf_cell_add(pointer<int64_t>(a, 2), sum, 1);
}

// sum_of for packed offsets of a constant number of bits.
template <int BITS, int THREADS, int ITEMS> RF_HELPER void sum_of_bits(const Arguments &a) {
  RF_SHARED(scratch, 8 * 32);
  int64_t sum = 0;
  RF_TILES(number(a, 1)) {
    int64_t words[ITEMS];
    rf_tile_load_bits(words, pointer<void>(a, 0), BITS, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      sum += rf_tile_row(i, THREADS) < rows ? words[i] : 0;
  }
  sum = rf_block_sum_i64(sum, scratch, THREADS);
  if (target::thread() == 0)
    rf_cell_add(pointer<int64_t>(a, 2), sum, 1);
}

RF_KERNEL sum_b4(const Arguments &a) { sum_of_bits<4, THREADS, ITEMS>(a); }
RF_KERNEL sum_b13(const Arguments &a) { sum_of_bits<13, THREADS, ITEMS>(a); }
RF_KERNEL sum_b24(const Arguments &a) { sum_of_bits<24, THREADS, ITEMS>(a); }
RF_KERNEL sum_b41(const Arguments &a) { sum_of_bits<41, THREADS, ITEMS>(a); }
RF_KERNEL sum_w1(const Arguments &a) { sum_of<1, THREADS, ITEMS>(a); }
RF_KERNEL sum_w2(const Arguments &a) { sum_of<2, THREADS, ITEMS>(a); }
RF_KERNEL sum_w4(const Arguments &a) { sum_of<4, THREADS, ITEMS>(a); }
RF_KERNEL sum_w8(const Arguments &a) { sum_of<8, THREADS, ITEMS>(a); }

// in (one word a thread), n, sums, maxima, totals of each block, sums of 32 bits
RF_KERNEL scan_block(const Arguments &a) {
  RF_SHARED(scratch, 8 * 32);
  int64_t blocks = (number(a, 1) + THREADS - 1) / THREADS;
  for (int64_t b = launch::block(); b < blocks; b += launch::blocks()) {
    int64_t i = b * THREADS + target::thread();
    int64_t v = i < number(a, 1) ? pointer<int64_t>(a, 0)[i] : 0, total, most;
    uint32_t total32;
    int64_t sum = rf_block_scan_i64(v, &total, scratch, THREADS);
    int64_t max = rf_block_scan_max_i64(v, &most, scratch, THREADS);
    uint32_t sum32 = rf_block_scan_u32((uint32_t)v, &total32, scratch, THREADS);
    if (i < number(a, 1)) {
      pointer<int64_t>(a, 2)[i] = sum;
      pointer<int64_t>(a, 3)[i] = max;
      pointer<int64_t>(a, 5)[i] = sum32;
    }
    if (target::thread() == THREADS - 1) {
      pointer<int64_t>(a, 4)[3 * b] = total;
      pointer<int64_t>(a, 4)[3 * b + 1] = most;
      pointer<int64_t>(a, 4)[3 * b + 2] = total32;
    }
  }
}

// in, n, out: for each block of threads sum, min, max, low and high half of the
// sum of squares
RF_KERNEL reduce_block(const Arguments &a) {
  RF_SHARED(scratch, 8 * 32);
  int64_t blocks = (number(a, 1) + THREADS - 1) / THREADS;
  for (int64_t b = launch::block(); b < blocks; b += launch::blocks()) {
    int64_t i = b * THREADS + target::thread();
    int64_t v = pointer<int64_t>(a, 0)[i < number(a, 1) ? i : number(a, 1) - 1];
    int64_t sum = rf_block_sum_i64(i < number(a, 1) ? v : 0, scratch, THREADS);
    int64_t min = rf_block_min_i64(v, scratch, THREADS);
    int64_t max = rf_block_max_i64(v, scratch, THREADS);
    uint64_t lo = 0;
    int64_t hi = 0;
    if (i < number(a, 1))
      rf_i128_multiply(&lo, &hi, v, v);
    rf_block_sum_i128(&lo, &hi, scratch, THREADS);
    // The last thread writes: each one has the result.
    if (target::thread() == THREADS - 1) {
      int64_t *out = pointer<int64_t>(a, 2) + 5 * b;
      out[0] = sum, out[1] = min, out[2] = max, out[3] = (int64_t)lo, out[4] = hi;
    }
  }
}

// in, n, limit, out, status, ticket, total: the words below limit, in order
RF_KERNEL compact_ordered(const Arguments &a) {
  RF_SHARED(scratch, 8 * THREADS * ITEMS);
  enum { TILE = THREADS * ITEMS };
  int64_t n = number(a, 1), tiles = (n + TILE - 1) / TILE;
  for (;;) {
    int64_t tile = rf_block_ticket(pointer<int64_t>(a, 5), scratch, THREADS);
    if (tile >= tiles)
      return;
    int32_t rows = launch::rows(n, tile * TILE, TILE);
    int64_t words[ITEMS];
    int32_t rank[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 0), 8, 0, 1, tile * TILE, rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      live[i] = live[i] && words[i] < number(a, 2);
    int32_t total = rf_block_rank(rank, live, scratch, THREADS, ITEMS);
    rf_block_compact(words, rank, live, total, scratch, THREADS, ITEMS);
    int64_t before = rf_block_lookback(pointer<uint64_t>(a, 4), tile, total, scratch, THREADS);
    rf_tile_store(pointer<void>(a, 3), 8, 0, words, before, total, THREADS, ITEMS);
    if (tile == tiles - 1 && target::thread() == 0)
      *pointer<int64_t>(a, 6) = before + total;
  }
}

// in, n, limit, out, cursor: the words below limit, tiles in any order
RF_KERNEL compact_scatter(const Arguments &a) {
  RF_SHARED(scratch, 8 * 32);
  RF_TILES(number(a, 1)) {
    int64_t words[ITEMS];
    int32_t rank[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      live[i] = live[i] && words[i] < number(a, 2);
    int32_t total = rf_block_rank(rank, live, scratch, THREADS, ITEMS);
    int64_t first = rf_block_reserve(pointer<int64_t>(a, 4), total, scratch, THREADS);
    rf_tile_append(pointer<void>(a, 3), 8, 0, first, words, rank, live, ITEMS);
  }
}

// in, n, limit, out, cursor, by warps: the words below limit, in any order, by their rows in
// a queue
RF_KERNEL queue_scatter(const Arguments &a) {
  enum { BATCH = 2, MOST = THREADS * (ITEMS + BATCH) };
  RF_SHARED(rows_of_all, 4 * MOST);
  RF_SHARED(counts, 12);
  int32_t mates = number(a, 5) ? target::WARP : THREADS, count = 0, turn = 0;
  uint32_t *queue = (uint32_t *)rows_of_all;
  if (mates != THREADS)
    queue += target::thread() / target::WARP * (MOST / (THREADS / target::WARP));
  if (target::thread() < 3)
    ((uint32_t *)counts)[target::thread()] = 0;
  target::barrier();
  auto drain = [&](int32_t least) {
    if (count < least)
      return;
    for (; count >= least; count = count > mates * BATCH ? count - mates * BATCH : 0) {
      int64_t rows[BATCH];
      uint8_t live[BATCH];
      rf_queue_take(rows, live, queue, count, mates, BATCH);
      for (int32_t i = 0; i < BATCH; i++)
        if (live[i])
          pointer<int64_t>(a, 3)[target::add(pointer<uint64_t>(a, 4), (uint64_t)1)] = pointer<int64_t>(a, 0)[rows[i]];
    }
    rf_queue_meet(mates);
  };
  RF_TILES(number(a, 1)) {
    int64_t words[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      live[i] = live[i] && words[i] < number(a, 2);
    count = rf_queue_push(queue, (uint32_t *)counts, turn, count, live, start, mates, THREADS, ITEMS);
    turn = turn == 2 ? 0 : turn + 1;
    drain(mates * BATCH);
  }
  drain(1);
}

// board, outer rounds of each tile and then of all tiles before each, tiles, most inner
// rounds, visits, a tile: blocks visit the inner rounds of the outer rounds of tiles, and
// give each other work. If there is such a tile, all blocks are there when they begin, and
// the one that begins with the tile waits until another wants some. The words of a block's
// work are those of donate::Work.
RF_KERNEL donate_work(const Arguments &a) {
  RF_SHARED(memory, 8 * 24);
  enum { FOUND, NUMBER, UNTIL, STEP, FIRST, OUTPUT_STEP, AT, END = AT + 6, LIMIT = END + 6 };
  int64_t *w = (int64_t *)memory, *board = pointer<int64_t>(a, 0);
  const int64_t *outer = pointer<int64_t>(a, 1);
  int64_t most = number(a, 3), tile = launch::block(), at[2] = {0, 0};
  auto by_one = [&](auto what) RF_LAMBDA {
    target::barrier();
    if (target::thread() == 0)
      what();
    target::barrier();
  };
  auto set_end = [&](int32_t level, int64_t total) RF_LAMBDA {
    by_one([&]() RF_LAMBDA {
      uint64_t limit = ~(uint64_t)w[LIMIT + level];
      w[END + level] = limit < (uint64_t)total ? (int64_t)limit : total;
      w[LIMIT + level] = 0;
    });
  };
  by_one([&]() RF_LAMBDA {
    w[UNTIL] = number(a, 2), w[STEP] = launch::blocks(), w[FIRST] = 0, w[OUTPUT_STEP] = 1;
    w[LIMIT] = w[LIMIT + 1] = 0;
    rf_donate_enter(board);
    while (number(a, 5) >= 0 && target::load(board) >> 48 < launch::blocks())
      target::relax();
  });
  for (;;) {
    for (; tile < w[UNTIL]; tile += w[STEP]) {
      set_end(0, outer[tile]);
      for (; at[0] < w[END]; at[0]++) {
        set_end(1, 1 + at[0] % most);
        for (; at[1] < w[END + 1]; at[1]++) {
          int32_t seen = rf_donate_look(0, board, THREADS);
          while (tile == number(a, 5) && at[0] + at[1] == 0 && !(seen & 2)) {
            target::relax();
            seen = rf_donate_look(0, board, THREADS);
          }
          if (seen & 2)
            by_one([&]() RF_LAMBDA {
              w[NUMBER] = tile, w[AT] = at[0], w[AT + 1] = at[1];
              rf_donate_give(board, w, 2, 1);
            });
          int64_t visit = (outer[number(a, 2) + tile] + at[0]) * most + at[1];
          if (target::thread() == 0)
            target::add(pointer<uint32_t>(a, 4) + visit, 1u);
        }
        at[1] = 0;
      }
      at[0] = w[FIRST];
    }
    by_one([&]() RF_LAMBDA { rf_donate_take(board, w, 2); });
    if (!w[FOUND])
      return;
    tile = w[NUMBER], at[0] = w[AT], at[1] = w[AT + 1];
  }
}

// counts, n, out rows, out nths, cursor
RF_KERNEL expand_tile(const Arguments &a) {
  RF_SHARED(ends, 8 * (THREADS * ITEMS + 1));
  RF_SHARED(scratch, 8 * 32);
  RF_TILES(number(a, 1)) {
    int64_t counts[ITEMS], nth[ITEMS];
    int32_t row[ITEMS];
    uint8_t live[ITEMS];
    load_tile(counts, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    int64_t total = rf_expand_begin((int64_t *)ends, counts, scratch, THREADS, ITEMS);
    int64_t base = rf_block_reserve(pointer<int64_t>(a, 4), total, scratch, THREADS);
    for (int64_t first = 0; first < total; first += TILE) {
      rf_expand_round(row, nth, live, (int64_t *)ends, first, total, THREADS, ITEMS);
      int64_t global[ITEMS];
      RF_UNROLL
      for (int32_t i = 0; i < ITEMS; i++)
        global[i] = start + row[i];
      int32_t now = launch::rows(total, first, TILE);
      rf_tile_store(pointer<void>(a, 2), 8, 0, global, base + first, now, THREADS, ITEMS);
      rf_tile_store(pointer<void>(a, 3), 8, 0, nth, base + first, now, THREADS, ITEMS);
    }
    target::barrier();
  }
}

// keys, n, slots, mask, new keys, cursor, room (set to 0 if full)
RF_KERNEL set64_insert(const Arguments &a) {
  RF_SHARED(scratch, 8 * 32);
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS];
    int32_t rank[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    if (!rf_tile_insert(live, (const uint64_t *)keys, HASH, pointer<uint64_t>(a, 2), (uint64_t)number(a, 3), 1, ITEMS))
      *pointer<int64_t>(a, 6) = 0;
    int32_t total = rf_block_rank(rank, live, scratch, THREADS, ITEMS);
    int64_t first = rf_block_reserve(pointer<int64_t>(a, 5), total, scratch, THREADS);
    rf_tile_append(pointer<void>(a, 4), 8, 0, first, keys, rank, live, ITEMS);
  }
}

// keys, n, slots, mask, out flags: 1 in, by tile; 2 in, one by one; 4 not absent
RF_KERNEL set64_contains(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS], out[ITEMS];
    uint8_t in[ITEMS], absent[ITEMS];
    const uint64_t *slots = pointer<uint64_t>(a, 2);
    uint64_t mask = (uint64_t)number(a, 3);
    rf_tile_live(in, 0, (int32_t)rows, THREADS, ITEMS);
    rf_tile_live(absent, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_find_exists(in, (const uint64_t *)keys, HASH, slots, mask, 0, ITEMS);
    rf_tile_find_exists(absent, (const uint64_t *)keys, HASH, slots, mask, 1, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      out[i] = in[i] + 2 * rf_set64_contains(slots, mask, (uint64_t)keys[i]) + 4 * !absent[i];
    rf_tile_store(pointer<void>(a, 4), 8, 0, out, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// keys, n, slots, mask, out: rf_set64_insert's answers one by one
RF_KERNEL set64_insert_each(const Arguments &a) {
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 1); i += launch::blocks() * THREADS)
    pointer<int64_t>(a, 4)[i] =
        rf_set64_insert(pointer<uint64_t>(a, 2), (uint64_t)number(a, 3), pointer<uint64_t>(a, 0)[i]);
}

// Loads a tile of tuples of three columns, arguments 0 to 2.
#define RF_TUPLES()                                                                                                    \
  int64_t tuples[3 * ITEMS];                                                                                           \
  RF_UNROLL                                                                                                            \
  for (int32_t c = 0; c < 3; c++)                                                                                      \
    load_tile(tuples + c * ITEMS, pointer<void>(a, c), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS)

// three columns in, n, slots, mask, three columns out, cursor, capacity, row of
// each tuple, twice that plus 1 where it was new
RF_KERNEL rowset_insert(const Arguments &a) {
  int64_t *columns[3] = {pointer<int64_t>(a, 6), pointer<int64_t>(a, 7), pointer<int64_t>(a, 8)};
  RF_TILES(number(a, 3)) {
    int64_t out[ITEMS];
    uint64_t keys[ITEMS];
    uint8_t live[ITEMS];
    RF_TUPLES();
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    rf_tile_wide_insert(keys, live, tuples, ITEMS, 3, pointer<uint64_t>(a, 4), (uint64_t)number(a, 5), columns,
                        pointer<int64_t>(a, 9), number(a, 10), THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      out[i] = 2 * (int64_t)keys[i] + live[i];
    rf_tile_store(pointer<void>(a, 11), 8, 0, out, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// three columns of tuples, n, slots, mask, three columns of the set, out rows or -1
RF_KERNEL rowset_find(const Arguments &a) {
  const int64_t *columns[3] = {pointer<int64_t>(a, 6), pointer<int64_t>(a, 7), pointer<int64_t>(a, 8)};
  RF_TILES(number(a, 3)) {
    int64_t out[ITEMS];
    uint64_t keys[ITEMS];
    uint8_t live[ITEMS], absent[ITEMS];
    RF_TUPLES();
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    rf_tile_live(absent, 0, (int32_t)rows, THREADS, ITEMS);
    rf_tile_wide_find(keys, absent, tuples, ITEMS, 3, pointer<uint64_t>(a, 4), (uint64_t)number(a, 5), columns, 1,
                      ITEMS);
    rf_tile_wide_find(keys, live, tuples, ITEMS, 3, pointer<uint64_t>(a, 4), (uint64_t)number(a, 5), columns, 0,
                      ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      out[i] = live[i] == absent[i] ? -2 : live[i] ? (int64_t)keys[i] : -1;
    rf_tile_store(pointer<void>(a, 9), 8, 0, out, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// keys, n, words, seldom, out: was it new
RF_KERNEL bitset_insert(const Arguments &a) {
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 1); i += launch::blocks() * THREADS) {
    uint64_t bit = pointer<uint64_t>(a, 0)[i];
    uint32_t *words = pointer<uint32_t>(a, 2);
    pointer<int64_t>(a, 4)[i] = number(a, 3) ? rf_bitset_insert_seldom(words, bit) : rf_bitset_insert(words, bit);
  }
}

// narrow_keys makes keys of 32 bits, and leaves live those that are below a size.
RF_HELPER void narrow_keys(uint32_t *narrow, uint8_t *live, const uint64_t *keys, uint64_t size, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    narrow[i] = (uint32_t)keys[i];
    live[i] &= keys[i] < size;
  }
}

// keys, n, words, first, size, absent, out bits, which are wrong where narrow keys are
// answered otherwise
RF_KERNEL bitset_contains(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    uint64_t packed[ITEMS];
    rf_tile_pack(packed, live, keys, 0, number(a, 3), 64, 1, ITEMS);
    uint32_t narrow[ITEMS];
    uint8_t there[ITEMS];
    rf_tile_live(there, 0, (int32_t)rows, THREADS, ITEMS);
    narrow_keys(narrow, there, packed, (uint64_t)number(a, 4), ITEMS);
    rf_tile_find_bits(there, narrow, pointer<uint32_t>(a, 2), ITEMS);
    rf_tile_find_exists(live, packed, DIRECT, pointer<uint32_t>(a, 2), (uint64_t)number(a, 4), (int32_t)number(a, 5),
                        ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      live[i] ^= !number(a, 5) && live[i] != there[i];
    rf_tile_bitset_ballot(pointer<uint32_t>(a, 6), start, live, THREADS, ITEMS);
  }
}

// keys, rests, live, rows, seen, width, base, count, items of a round, out: row, word, number
RF_KERNEL bitrows(const Arguments &a) {
  if (launch::block() != 0 || target::thread() != 0)
    return;
  int64_t next = 0, n = 0, width = number(a, 5), count = number(a, 7);
  while (next < count * width)
    n += rf_bitrows_round(pointer<int32_t>(a, 9) + n, pointer<int64_t>(a, 10) + n, &next, pointer<int64_t>(a, 0),
                          pointer<int64_t>(a, 1), pointer<uint8_t>(a, 2), pointer<uint64_t>(a, 3),
                          pointer<uint64_t>(a, 4), width, number(a, 6), count, (int32_t)number(a, 8));
  *pointer<int64_t>(a, 11) = n;
}

// keys, n, table, mask, first, size, kind (0 direct, 1 map64), out
RF_KERNEL map_insert(const Arguments &a) {
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 1); i += launch::blocks() * THREADS) {
    uint64_t key = pointer<uint64_t>(a, 0)[i], mask = (uint64_t)number(a, 3);
    int32_t is;
    if (number(a, 6) == 0)
      is = rf_direct_insert(pointer<uint32_t>(a, 2), number(a, 4), (uint64_t)number(a, 5), (int64_t)key, (uint32_t)i);
    else
      is = rf_map64_insert(pointer<uint64_t>(a, 2), mask, key, (uint64_t)i);
    pointer<int64_t>(a, 7)[i] = is;
  }
}

// keys, n, table, mask, first, size, kind, out rows or -1
RF_KERNEL map_find(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS], found[ITEMS];
    uint64_t packed[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    uint64_t mask = (uint64_t)number(a, 3);
    if (number(a, 6) == 0) {
      rf_tile_pack(packed, live, keys, 0, number(a, 4), 64, 1, ITEMS);
      rf_tile_find_unique(found, live, packed, DIRECT, pointer<uint32_t>(a, 2), (uint64_t)number(a, 5), ITEMS);
    } else {
      rf_tile_find_unique(found, live, (const uint64_t *)keys, HASH, pointer<uint64_t>(a, 2), mask, ITEMS);
    }
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++) {
      if ((found[i] >= 0) != (live[i] != 0))
        found[i] = -2;
      int64_t one = number(a, 6) == 0
                        ? rf_direct_find(pointer<uint32_t>(a, 2), number(a, 4), (uint64_t)number(a, 5), keys[i])
                        : rf_map64_find(pointer<uint64_t>(a, 2), mask, (uint64_t)keys[i]);
      if (rf_tile_row(i, THREADS) < rows && found[i] != one)
        found[i] = -3;
    }
    rf_tile_store(pointer<void>(a, 7), 8, 0, found, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// two columns, n, shift, base and bits of the second, out keys, out live: the
// first has base 100 and 20 bits from bit 0 on
RF_KERNEL tile_pack(const Arguments &a) {
  RF_TILES(number(a, 2)) {
    int64_t first[ITEMS], second[ITEMS], flags[ITEMS];
    uint64_t keys[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(first, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    load_tile(second, pointer<void>(a, 1), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_pack(keys, live, first, 0, 100, 20, 1, ITEMS);
    rf_tile_pack(keys, live, second, number(a, 3), number(a, 4), number(a, 5), 0, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      flags[i] = live[i];
    rf_tile_store(pointer<void>(a, 6), 8, 0, (int64_t *)keys, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 7), 8, 0, flags, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// gauge, out: what each thread of a block learns of it
RF_KERNEL block_room(const Arguments &a) {
  int32_t room = rf_block_room(pointer<int64_t>(a, 0), THREADS);
  pointer<int64_t>(a, 1)[launch::block() * THREADS + target::thread()] = room;
}

// words, n, limit, column, width, base, cursor: appends the words below limit
RF_KERNEL tile_append(const Arguments &a) {
  RF_SHARED(scratch, 8 * 32);
  RF_TILES(number(a, 1)) {
    int64_t words[ITEMS];
    int32_t rank[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      live[i] = live[i] && words[i] < number(a, 2);
    int32_t total = rf_block_rank(rank, live, scratch, THREADS, ITEMS);
    int64_t first = rf_block_reserve(pointer<int64_t>(a, 6), total, scratch, THREADS);
    rf_tile_append(pointer<void>(a, 3), number(a, 4), number(a, 5), first, words, rank, live, ITEMS);
  }
}

// keys, n, form, table, size, out: 1 new, or -1 where a full set voids all; shared
RF_KERNEL set_insert(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS], out[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    int32_t room = rf_tile_insert(live, (const uint64_t *)keys, number(a, 2), pointer<void>(a, 3),
                                  (uint64_t)number(a, 4), (int32_t)number(a, 6), ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      out[i] = room ? live[i] : -1;
    rf_tile_store(pointer<void>(a, 5), 8, 0, out, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// keys, n, form, table, size, out: 1 in, 2 not absent
RF_KERNEL set_contains(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS], out[ITEMS];
    uint8_t in[ITEMS], absent[ITEMS];
    rf_tile_live(in, 0, (int32_t)rows, THREADS, ITEMS);
    rf_tile_live(absent, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_find_exists(in, (const uint64_t *)keys, number(a, 2), pointer<void>(a, 3), (uint64_t)number(a, 4), 0,
                        ITEMS);
    rf_tile_find_exists(absent, (const uint64_t *)keys, number(a, 2), pointer<void>(a, 3), (uint64_t)number(a, 4), 1,
                        ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      out[i] = in[i] + 2 * !absent[i];
    rf_tile_store(pointer<void>(a, 5), 8, 0, out, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// keys, n, form, table, size, begins, rows, step (0 unique, 1 exists, 2 count, 3
// fill, 4 last); key -1 stands for a row that is not live
RF_KERNEL index_build(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS], row[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++) {
      row[i] = start + rf_tile_row(i, THREADS);
      live[i] = live[i] && keys[i] != -1;
    }
    const uint64_t *packed = (const uint64_t *)keys;
    int64_t form = number(a, 2);
    void *table = pointer<void>(a, 3);
    uint64_t size = (uint64_t)number(a, 4);
    switch (number(a, 7)) {
    case 0:
      rf_tile_build_unique(packed, row, live, form, table, size, ITEMS);
      break;
    case 1:
      rf_tile_build_exists(packed, live, form, table, size, ITEMS);
      break;
    case 2:
      rf_tile_build_count(packed, live, form, table, size, pointer<uint64_t>(a, 5), ITEMS);
      break;
    case 3:
      rf_tile_build_fill(packed, row, live, form, table, size, pointer<uint64_t>(a, 5), pointer<uint32_t>(a, 6), 0, 0,
                         THREADS, ITEMS);
      break;
    default:
      rf_tile_build_last(packed, row, live, form, table, size, ITEMS);
    }
  }
}

// keys, n, form, table, size, extents, rows, gauge, the first of the keys; key -1 stands for
// a row that is not live. The first block adds all.
RF_KERNEL index_add(const Arguments &a) {
  enum { TILE = THREADS * ITEMS };
  if (launch::block() != 0)
    return;
  for (int64_t start = number(a, 8); start < number(a, 1); start += TILE) {
    int32_t rows = launch::rows(number(a, 1), start, TILE);
    int64_t keys[ITEMS], row[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++) {
      row[i] = start + rf_tile_row(i, THREADS);
      live[i] = live[i] && keys[i] != -1;
    }
    rf_tile_build_fill((const uint64_t *)keys, row, live, number(a, 2), pointer<void>(a, 3), (uint64_t)number(a, 4),
                       pointer<uint64_t>(a, 5), pointer<uint32_t>(a, 6), 1, pointer<int64_t>(a, 7), THREADS, ITEMS);
  }
}

// keys, n, form, table, size, out rows or -1; less where that is not what narrow keys find
RF_KERNEL unique_find(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS], found[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_find_unique(found, live, (const uint64_t *)keys, number(a, 2), pointer<void>(a, 3), (uint64_t)number(a, 4),
                        ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      if ((found[i] >= 0) != (live[i] != 0))
        found[i] = -2;
    if (number(a, 2) == DIRECT && number(a, 4) > 0) {
      int64_t narrowly[ITEMS];
      uint32_t narrow[ITEMS];
      rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
      narrow_keys(narrow, live, (const uint64_t *)keys, (uint64_t)number(a, 4), ITEMS);
      rf_tile_find_rows(narrowly, live, narrow, pointer<uint32_t>(a, 3), ITEMS);
      RF_UNROLL
      for (int32_t i = 0; i < ITEMS; i++)
        if (live[i] ? found[i] != narrowly[i] : found[i] >= 0)
          found[i] = -3;
    }
    rf_tile_store(pointer<void>(a, 5), 8, 0, found, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// keys, n, form, table, size, begins, rows, out counts, out begins, out the last
// row of each key, or -1, whether the index is spaced
RF_KERNEL multi_find(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t keys[ITEMS], counts[ITEMS], first[ITEMS], last[ITEMS], found[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_find_multi(first, counts, live, (const uint64_t *)keys, number(a, 2), pointer<void>(a, 3),
                       (uint64_t)number(a, 4), pointer<uint64_t>(a, 5), number(a, 10), ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++) {
      live[i] = counts[i] > 0;
      last[i] = first[i] + counts[i] - 1;
    }
    rf_tile_match_rows(found, live, last, pointer<uint32_t>(a, 6), ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      found[i] = live[i] ? found[i] : -1;
    rf_tile_store(pointer<void>(a, 7), 8, 0, counts, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 8), 8, 0, first, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 9), 8, 0, found, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// keys, words, n, form, table, size, cursor and room, records, words, minima and
// maxima, number of groups if they are few, shared. A slot's record is a count, three
// sums of 128 bits (signed words, unsigned words, products of words and -3) and a
// count that starts from its last word; then occupied, minima, maxima. Key -1
// stands for a row that is not live.
RF_KERNEL group_cells(const Arguments &a) {
  enum { RECORD = 8 };
  int64_t form = number(a, 3);
  uint64_t size = (uint64_t)number(a, 5), few = (uint64_t)number(a, 9);
  int32_t shared = (int32_t)number(a, 10);
  int64_t groups = form == HASH ? (int64_t)size + 2 : (int64_t)size;
  int64_t *records = pointer<int64_t>(a, 7), *occupied = pointer<int64_t>(a, 8);
  RF_TILES(number(a, 2)) {
    int64_t keys[ITEMS], words[ITEMS], low[ITEMS], high[ITEMS], slots[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 1), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++) {
      live[i] = live[i] && keys[i] != -1;
      rf_i128_multiply((uint64_t *)low + i, high + i, words[i], -3);
    }
    if (!rf_tile_group_slots(slots, live, (const uint64_t *)keys, form, pointer<uint64_t>(a, 4), size,
                             pointer<int64_t>(a, 6), nullptr, shared, ITEMS))
      pointer<int64_t>(a, 6)[1] = 0;
    // On a GPU the count marks, or the first sum.
    int64_t *by_count = target::WARP > 1 && few % 2 == 0 ? occupied : nullptr;
    int64_t *by_sum = target::WARP > 1 && few % 2 != 0 ? occupied : nullptr;
    rf_tile_cells_count(records, RECORD, slots, live, few, shared, by_count, ITEMS);
    rf_tile_cells_add((uint64_t *)records + 1, RECORD, slots, words, live, 0, few, shared, by_sum, ITEMS);
    rf_tile_cells_add((uint64_t *)records + 3, RECORD, slots, words, live, 1, few, shared, nullptr, ITEMS);
    rf_tile_cells_add_i128((uint64_t *)records + 5, RECORD, slots, low, high, live, shared, ITEMS);
    rf_tile_cells_count(records + 7, RECORD, slots, live, 0, shared, nullptr, ITEMS);
    if (target::WARP == 1)
      rf_tile_cells_mark(occupied, slots, live, ITEMS);
    rf_tile_cells_min(occupied + groups, slots, words, live, shared, ITEMS);
    rf_tile_cells_max(occupied + 2 * groups, slots, words, live, shared, ITEMS);
  }
}

// as group_cells, but in tables of the blocks' own, of 2^(argument 9) places; with 0 there,
// of a place for each of at most 64 groups, and no words
RF_KERNEL own_cells(const Arguments &a) {
  enum { RECORD = 8, MOST = 64 };
  RF_SHARED(memory, 8 * (2 + 9 * MOST));
  int64_t form = number(a, 3);
  uint64_t *table = pointer<uint64_t>(a, 4), size = (uint64_t)number(a, 5);
  int64_t groups = form == HASH ? (int64_t)size + 2 : (int64_t)size;
  int64_t *records = pointer<int64_t>(a, 7), *occupied = pointer<int64_t>(a, 8), *cursor = pointer<int64_t>(a, 6);
  int32_t bits = (int32_t)number(a, 9), misses = 0;
  uint64_t *kept = (uint64_t *)memory, *count = kept + 2 * MOST + 2, *sum = count + MOST, *unsigned_sum = sum + 2 * MOST;
  uint64_t *least = unsigned_sum + MOST + MOST / 2, *most = least + MOST;
  rf_block_clear((int64_t *)memory, 2 + 9 * MOST, 0, THREADS);
  int32_t places_of = bits > 0 ? 1 << bits : (int32_t)size;
  int32_t copies = bits > 0 ? rf_own_copies(form, size, bits) : 0;
  RF_TILES(number(a, 2)) {
    int64_t keys[ITEMS], words[ITEMS], low[ITEMS], high[ITEMS], slots[ITEMS];
    uint8_t live[ITEMS], rest[ITEMS], enter[ITEMS];
    int32_t places[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 1), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++) {
      live[i] = live[i] && keys[i] != -1;
      rest[i] = 0;
    }
    int32_t some = 0;
    if (copies >= 0)
      rf_own_numbered(places, live, (const uint64_t *)keys, nullptr, copies, ITEMS);
    else
      some = rf_own_places(places, rest, enter, live, (const uint64_t *)keys, kept, bits, bits + 1, &misses, ITEMS);
    rf_own_count((uint32_t *)count, places_of, bits == 4 ? 1 : 2, places, ITEMS);
    rf_own_add((uint32_t *)sum, places_of, 4, places, words, 0, ITEMS);
    rf_own_add((uint32_t *)unsigned_sum, places_of, 3, places, words, 1, ITEMS);
    rf_own_extreme(least, places, words, 1, ITEMS);
    rf_own_extreme(most, places, words, 0, ITEMS);
    if (some) {
      rf_tile_group_slots(slots, enter, (const uint64_t *)keys, form, table, size, cursor, nullptr, 1, ITEMS);
      rf_tile_cells_mark(occupied, slots, rest, ITEMS);
      rf_tile_cells_count(records, RECORD, slots, rest, 0, 1, nullptr, ITEMS);
      rf_tile_cells_add((uint64_t *)records + 1, RECORD, slots, words, rest, 0, 0, 1, nullptr, ITEMS);
      rf_tile_cells_add((uint64_t *)records + 3, RECORD, slots, words, rest, 1, 0, 1, nullptr, ITEMS);
      rf_tile_cells_min(occupied + groups, slots, words, rest, 1, ITEMS);
      rf_tile_cells_max(occupied + 2 * groups, slots, words, rest, 1, ITEMS);
    }
    // Products and the second count go the way of all blocks.
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      rf_i128_multiply((uint64_t *)low + i, high + i, words[i], -3);
    rf_tile_group_slots(slots, live, (const uint64_t *)keys, form, table, size, cursor, occupied, 1, ITEMS);
    rf_tile_cells_add_i128((uint64_t *)records + 5, RECORD, slots, low, high, live, 1, ITEMS);
    rf_tile_cells_count(records + 7, RECORD, slots, live, 0, 1, nullptr, ITEMS);
  }
  int32_t slots_of = copies < 0 ? 2 * places_of : places_of;
  auto leave = [=](uint64_t *own) RF_LAMBDA {
    // Where groups have numbers their counts witness that they have rows.
    rf_own_settle(own, slots_of, copies, form, table, size, occupied, (uint32_t *)count, 2, THREADS);
    rf_own_pass_sums((uint64_t *)records, RECORD, (uint32_t *)count, places_of, 2, 1, 1, own, slots_of, copies, THREADS);
    rf_own_pass_sums((uint64_t *)records + 1, RECORD, (uint32_t *)sum, places_of, 4, 0, 0, own, slots_of, copies, THREADS);
    rf_own_pass_sums((uint64_t *)records + 3, RECORD, (uint32_t *)unsigned_sum, places_of, 3, 1, 0, own, slots_of, copies, THREADS);
    rf_own_pass_extremes(occupied + groups, least, 1, own, slots_of, copies, THREADS);
    rf_own_pass_extremes(occupied + 2 * groups, most, 0, own, slots_of, copies, THREADS);
  };
  // A choice of pointers would lose that one points to shared memory.
  if (bits > 0)
    leave(kept);
  else
    leave(nullptr);
}

// keys, words, n, groups (at most 3), records, then occupied, minima and maxima of all
// groups. A slot's record is two sums of 128 bits, of the words and of their low bytes,
// a count, and a word that stays as it is. Key -1 stands for a row that is not live.
RF_KERNEL private_cells(const Arguments &a) {
  enum { RECORD = 6, CELLS = 4, MOST = 3, STRIDE = CELLS * THREADS };
  RF_SHARED(memory, 8 * STRIDE * (MOST + 1));
  uint64_t *kept = (uint64_t *)memory, *own = kept + (THREADS == 1 ? 0 : target::thread());
  int32_t groups = (int32_t)number(a, 3);
  uint64_t *records = pointer<uint64_t>(a, 4);
  int64_t *occupied = pointer<int64_t>(a, 5);
  rf_block_clear((int64_t *)kept, STRIDE * (MOST + 1), 0, THREADS);
  RF_TILES(number(a, 2)) {
    int64_t keys[ITEMS], words[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 1), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++) {
      uint64_t *at = own + (live[i] && keys[i] != -1 ? keys[i] : groups) * STRIDE;
      uint64_t least = (uint64_t)rf_private_extreme_word(words[i], 1), most = (uint64_t)rf_private_extreme_word(words[i], 0);
      at[0] += (uint64_t)words[i];
      at[THREADS] += 1ull << 32 | (words[i] & 0xff);
      at[2 * THREADS] = least > at[2 * THREADS] ? least : at[2 * THREADS];
      at[3 * THREADS] = most > at[3 * THREADS] ? most : at[3 * THREADS];
    }
  }
  rf_private_settle(kept + THREADS, (int64_t)0xffffffff00000000, groups, STRIDE, occupied, THREADS);
  rf_private_pass_sums(records, RECORD, kept, 0, groups, STRIDE, 0, THREADS);
  rf_private_pass_sums(records + 2, RECORD, kept + THREADS, 1, groups, STRIDE, 0, THREADS);
  rf_private_pass_sums(records + 4, RECORD, kept + THREADS, 2, groups, STRIDE, 1, THREADS);
  rf_private_pass_extremes(occupied + groups, kept + 2 * THREADS, groups, STRIDE, 1, THREADS);
  rf_private_pass_extremes(occupied + 2 * groups, kept + 3 * THREADS, groups, STRIDE, 0, THREADS);
}

// first slot, n, form, table, size, shift, base, bits, column, out
RF_KERNEL group_keys(const Arguments &a) {
  RF_TILES(number(a, 1)) {
    int64_t words[ITEMS];
    rf_tile_group_keys(words, number(a, 0) + start, number(a, 2), pointer<uint64_t>(a, 3), (uint64_t)number(a, 4),
                       number(a, 5), number(a, 6), number(a, 7), pointer<int64_t>(a, 8), (int32_t)rows, THREADS,
                       ITEMS);
    rf_tile_store(pointer<void>(a, 9), 8, 0, words, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// slots, doubles, n, cells of 70 words, shared: slot -1 stands for a row that is
// not live
RF_KERNEL float_sum(const Arguments &a) {
  RF_TILES(number(a, 2)) {
    int64_t slots[ITEMS], words[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(slots, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 1), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      live[i] = live[i] && slots[i] >= 0;
    rf_tile_cells_float(pointer<uint64_t>(a, 3), 70, slots, words, live, (int32_t)number(a, 4), ITEMS);
  }
}

// cells of 70 words, n, out
RF_KERNEL float_round(const Arguments &a) {
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 1); i += launch::blocks() * THREADS)
    pointer<int64_t>(a, 2)[i] = rf_fsum_round(pointer<uint64_t>(a, 0) + 70 * i);
}

// groups below 4, words, n, four sums
RF_KERNEL group_registers(const Arguments &a) {
  RF_SHARED(scratch, 8 * 32);
  int64_t sums[4] = {0, 0, 0, 0};
  RF_TILES(number(a, 2)) {
    int64_t group[ITEMS], words[ITEMS];
    uint8_t live[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(group, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 1), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    rf_group_registers_add(sums, 4, group, words, live, ITEMS);
  }
  RF_UNROLL
  for (int32_t g = 0; g < 4; g++) {
    int64_t sum = rf_block_sum_i64(sums[g], scratch, THREADS);
    if (target::thread() == 0)
      rf_cell_add(pointer<int64_t>(a, 3) + g, sum, 1);
  }
}

// keys, words, n, table keys, mask, 128-bit sums, minima, maxima, room
RF_KERNEL group_global(const Arguments &a) {
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 2); i += launch::blocks() * THREADS) {
    int64_t slot = rf_slot_insert(pointer<uint64_t>(a, 3), (uint64_t)number(a, 4), pointer<uint64_t>(a, 0)[i]);
    int64_t word = pointer<int64_t>(a, 1)[i];
    if (slot < 0) {
      *pointer<int64_t>(a, 8) = 0;
      continue;
    }
    rf_cell_add_i128(pointer<uint64_t>(a, 5) + 2 * slot, (uint64_t)word, word >> 63, 1);
    rf_cell_min(pointer<int64_t>(a, 6) + slot, word, 1);
    rf_cell_max(pointer<int64_t>(a, 7) + slot, word, 1);
  }
}

// keys, words, n, table keys, mask, 128-bit sums, room: first into the block's
// own table; a key that does not fit there goes straight to the global one
RF_KERNEL group_block(const Arguments &a) {
  enum { MASK = 1023 };
  RF_SHARED(keys, 8 * (MASK + 2));
  RF_SHARED(sums, 8 * (MASK + 2));
  rf_block_clear((int64_t *)keys, MASK + 2, 0, THREADS);
  rf_block_clear((int64_t *)sums, MASK + 2, 0, THREADS);
  uint64_t *to_keys = pointer<uint64_t>(a, 3), *to_sums = pointer<uint64_t>(a, 5);
  uint64_t to_mask = (uint64_t)number(a, 4);
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 2); i += launch::blocks() * THREADS) {
    uint64_t key = pointer<uint64_t>(a, 0)[i];
    int64_t word = pointer<int64_t>(a, 1)[i];
    int64_t slot = rf_slot_insert((uint64_t *)keys, MASK, key);
    if (slot >= 0) {
      rf_cell_add((int64_t *)sums + slot, word, THREADS != 1);
      continue;
    }
    slot = rf_slot_insert(to_keys, to_mask, key);
    if (slot < 0)
      *pointer<int64_t>(a, 6) = 0;
    else
      rf_cell_add_i128(to_sums + 2 * slot, (uint64_t)word, word >> 63, 1);
  }
  if (!rf_block_group_flush((uint64_t *)keys, (int64_t *)sums, MASK, to_keys, to_sums, to_mask, THREADS))
    *pointer<int64_t>(a, 6) = 0;
}

// column, width, base, step, n, words, count, lower bounds, upper bounds, seeks
RF_KERNEL search_sorted(const Arguments &a) {
  const void *column = pointer<void>(a, 0);
  int32_t width = (int32_t)number(a, 1);
  int64_t base = number(a, 2), step = number(a, 3), n = number(a, 4);
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 6); i += launch::blocks() * THREADS) {
    int64_t word = pointer<int64_t>(a, 5)[i];
    pointer<int64_t>(a, 7)[i] = rf_lower_bound(column, width, base, step, 0, n, word);
    pointer<int64_t>(a, 8)[i] = rf_upper_bound(column, width, base, step, 0, n, word);
    pointer<int64_t>(a, 9)[i] = rf_seek(column, width, base, step, 0, n, word);
  }
}

// a, na, b, nb, out words, out sources
RF_KERNEL merge_block(const Arguments &a) {
  RF_SHARED(scratch, 16 + 8 * THREADS * ITEMS);
  RF_TILES(number(a, 1) + number(a, 3)) {
    int64_t words[ITEMS], sources[ITEMS];
    int32_t now = rf_block_merge(words, sources, pointer<int64_t>(a, 0), number(a, 1), pointer<int64_t>(a, 2),
                                 number(a, 3), start, scratch, THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 4), 8, 0, words, start, now == rows ? now : 0, THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 5), 8, 0, sources, start, now, THREADS, ITEMS);
  }
}

// clustered keys, words, n, out heads, out running sums of each tile's segments
RF_KERNEL segment_block(const Arguments &a) {
  RF_SHARED(scratch, 8 * THREADS * ITEMS);
  RF_TILES(number(a, 2)) {
    int64_t keys[ITEMS], words[ITEMS], flags[ITEMS];
    uint8_t live[ITEMS], heads[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 1), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    int64_t previous = start > 0 ? pointer<int64_t>(a, 0)[start - 1] : 0;
    rf_block_heads(heads, keys, live, previous, start > 0, scratch, THREADS, ITEMS);
    rf_block_segment_sums(words, heads, scratch, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++)
      flags[i] = heads[i];
    rf_tile_store(pointer<void>(a, 3), 8, 0, flags, start, (int32_t)rows, THREADS, ITEMS);
    rf_tile_store(pointer<void>(a, 4), 8, 0, words, start, (int32_t)rows, THREADS, ITEMS);
  }
}

// keys in order, words, n, modulus, table, mask, cursor, out cells of counts, of means of
// words / 2^24, of least and greatest words, and, in blocks of up to 128 threads, of sums whose
// halves are added apart: rows whose words are multiples of modulus are dropped
RF_KERNEL runs_block(const Arguments &a) {
  enum { NARROW = THREADS == 64 };
  RF_SHARED(info, 32 + THREADS * ITEMS / 4);
  // Large blocks have no memory for two areas.
  RF_SHARED(area, 8 * THREADS * ITEMS);
  RF_SHARED(other, THREADS > 128 ? 16 : 8 * THREADS * ITEMS);
  RF_TILES(number(a, 2)) {
    int64_t keys[ITEMS], words[ITEMS], counts[ITEMS], low[ITEMS], high[ITEMS], least[ITEMS], most[ITEMS];
    uint32_t runs[ITEMS];
    uint8_t live[ITEMS], heads[ITEMS], ends[ITEMS];
    rf_tile_live(live, 0, (int32_t)rows, THREADS, ITEMS);
    load_tile(keys, pointer<void>(a, 0), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    load_tile(words, pointer<void>(a, 1), 8, 0, 1, start, (int32_t)rows, THREADS, ITEMS);
    RF_UNROLL
    for (int32_t i = 0; i < ITEMS; i++) {
      live[i] = live[i] && (number(a, 3) == 0 || words[i] % number(a, 3) != 0);
      keys[i] = live[i] ? keys[i] : (int64_t)0x5555;
      counts[i] = live[i];
      low[i] = words[i] & 0xffffffff, high[i] = words[i] >> 32;
      least[i] = words[i] & 0xffff, most[i] = words[i];
      words[i] >>= 24;
    }
    rf_block_runs(runs, heads, ends, live, (uint64_t *)keys, pointer<uint64_t>(a, 4), (uint64_t)number(a, 5),
                  pointer<int64_t>(a, 6), NARROW, info, THREADS, ITEMS);
    auto staged = [&](void *to, int32_t narrow, int32_t how, const int64_t *from) RF_LAMBDA {
      if (THREADS > 1)
        target::barrier();
      rf_tile_run_stage(to, narrow, runs, ends, from, ITEMS);
      if (THREADS > 1)
        target::barrier();
      rf_tile_run_join(to, narrow, how, runs, ends, from, ITEMS);
      if (THREADS > 1)
        target::barrier();
    };
    rf_tile_run_stage(area, NARROW, runs, ends, keys, ITEMS);
    if (THREADS > 1)
      target::barrier();
    rf_block_run_keys(pointer<uint64_t>(a, 4), area, NARROW, info, THREADS);
    rf_tile_run_sums(counts, heads, live, 1, ITEMS);
    staged(area, 1, 0, counts);
    rf_block_run_words(pointer<int64_t>(a, 7), 1, area, 1, 0, info, THREADS);
    rf_block_run_words(pointer<int64_t>(a, 8) + 2, 3, area, 1, 0, info, THREADS);
    rf_tile_run_sums(words, heads, live, 0, ITEMS);
    staged(area, 0, 0, words);
    rf_block_run_sums(pointer<uint64_t>(a, 8), 3, area, nullptr, 0, info, THREADS);
    rf_tile_run_extremes(least, heads, live, 1, 1, ITEMS);
    staged(area, 1, 1, least);
    rf_block_run_words(pointer<int64_t>(a, 9), 1, area, 1, 1, info, THREADS);
    rf_tile_run_extremes(most, heads, live, 0, 0, ITEMS);
    staged(area, 0, 2, most);
    rf_block_run_words(pointer<int64_t>(a, 10), 1, area, 0, 2, info, THREADS);
    rf_tile_run_sums(low, heads, live, 0, ITEMS);
    rf_tile_run_sums(high, heads, live, 0, ITEMS);
    staged(area, 0, 0, low);
    if (THREADS <= 128) {
      staged(other, 0, 0, high);
      rf_block_run_sums(pointer<uint64_t>(a, 11), 2, area, other, 0, info, THREADS);
    }
  }
}

// days, n, out: year, month, day, weekday, day of the year, days again, a year
// and a month later
RF_KERNEL date_parts(const Arguments &a) {
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 1); i += launch::blocks() * THREADS) {
    int64_t days = pointer<int64_t>(a, 0)[i], year, rest;
    int64_t *out = pointer<int64_t>(a, 2) + 9 * i;
    int32_t month, day;
    rf_civil_from_days(&year, &month, &day, days);
    out[0] = rf_date_year(days), out[1] = rf_date_month(days), out[2] = rf_date_day(days);
    out[3] = rf_date_weekday(days), out[4] = rf_date_yearday(days);
    out[5] = rf_days_from_civil(year, month, day);
    out[6] = rf_date_add_months(days, 13), out[7] = rf_date_add_months(days, -1);
    out[8] = rf_datetime_day(&rest, days * 86400000000 + 1000) * 10000 + rest;
  }
}

// pairs of words, n, divisor, out: product, sum of products' halves and fit,
// comparison, quotient by the divisor, quotient by x >> 32 before y, 1,000 times
// the mean of divisor numbers from the product and y before x
RF_KERNEL int128_parts(const Arguments &a) {
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 1); i += launch::blocks() * THREADS) {
    int64_t x = pointer<int64_t>(a, 0)[2 * i], y = pointer<int64_t>(a, 0)[2 * i + 1];
    int64_t *out = pointer<int64_t>(a, 3) + 15 * i;
    uint64_t lo, sum_lo;
    int64_t hi, sum_hi;
    rf_i128_multiply(&lo, &hi, x, y);
    out[0] = (int64_t)lo, out[1] = hi;
    sum_lo = lo, sum_hi = hi;
    out[2] = rf_i128_add(&sum_lo, &sum_hi, lo, hi);
    rf_i128_add_word(&sum_lo, &sum_hi, x);
    out[3] = (int64_t)sum_lo, out[4] = sum_hi;
    out[5] = rf_i128_compare(lo, hi, sum_lo, sum_hi);
    out[6] = rf_i128_fits_word(lo, hi);
    uint64_t quotient_lo = lo;
    int64_t quotient_hi = hi;
    out[9] = rf_i128_quotient(&quotient_lo, &quotient_hi, (uint64_t)y, x >> 32);
    out[10] = (int64_t)quotient_lo, out[11] = quotient_hi;
    uint64_t mean_lo = lo;
    int64_t mean_hi = hi;
    out[12] = rf_i128_mean(&mean_lo, &mean_hi, (uint64_t)x, y, number(a, 2), 1000);
    out[13] = (int64_t)mean_lo, out[14] = mean_hi;
    rf_i128_divide_round(&lo, &hi, (uint64_t)number(a, 2));
    out[7] = (int64_t)lo, out[8] = hi;
  }
}

// bytes, offsets, n, masks, loops, runes, others, length, words, out: matches,
// order against the row before, equality with it, hash
RF_KERNEL string_match(const Arguments &a) {
  const uint8_t *bytes = pointer<uint8_t>(a, 0);
  const int64_t *offsets = pointer<int64_t>(a, 1);
  for (int64_t i = launch::block() * THREADS + target::thread(); i < number(a, 2); i += launch::blocks() * THREADS) {
    int64_t *out = pointer<int64_t>(a, 9) + 5 * i;
    const uint8_t *text = bytes + offsets[i];
    int64_t size = offsets[i + 1] - offsets[i], b = i > 0 ? i - 1 : 0;
    const uint8_t *before = bytes + offsets[b];
    int64_t before_size = offsets[b + 1] - offsets[b];
    out[0] = rf_string_like(text, size, pointer<uint64_t>(a, 3), pointer<uint64_t>(a, 4), pointer<uint32_t>(a, 5),
                            (int32_t)number(a, 6), (int32_t)number(a, 7), (int32_t)number(a, 8));
    out[1] = rf_string_compare(text, size, before, before_size);
    out[2] = rf_string_equal(text, size, before, before_size);
    out[3] = rf_string_starts(text, size, before, before_size);
    out[4] = (int64_t)rf_string_hash(text, size);
  }
}

#define RF_EACH_KERNEL(F)                                                                                              \
  F(tile_load) F(tile_load_bits) F(sum_b4) F(sum_b13) F(sum_b24) F(sum_b41) F(tile_store) F(tile_gather) F(sum_w1) F(sum_w2) F(sum_w4) F(sum_w8) F(scan_block) F(reduce_block)      \
  F(compact_ordered) F(compact_scatter) F(queue_scatter) F(expand_tile) F(donate_work) F(set64_insert) F(set64_contains)              \
  F(set64_insert_each) F(rowset_insert) F(rowset_find) F(bitset_insert) F(bitset_contains) F(bitrows) F(map_insert) F(map_find)   \
  F(tile_pack) F(block_room) F(tile_append) F(set_insert) F(set_contains) F(index_build) F(index_add) F(unique_find) F(multi_find)  \
  F(group_cells) F(own_cells) F(group_keys) F(float_sum) F(float_round) F(group_registers) F(group_global)             \
  F(group_block) F(search_sorted) F(merge_block) F(segment_block) F(runs_block) F(date_parts) F(int128_parts)          \
  F(string_match)

// Kernels for blocks of 256 threads at most, as a thread takes much shared memory.
#define RF_EACH_NARROW_KERNEL(F) F(private_cells)
