// Pages of Parquet columns whose values are differences, in DELTA_BINARY_PACKED.
//
// What pages.h says of damaged pages holds here, too.

#pragma once

#include "pages.h"

namespace pages {

// A block decodes all differences of a page, STEPS of a lane at a time. It keeps up to
// PIECES widths of them in shared memory.
enum { PIECES = 512, STEPS = 4, STRETCH = LANES * STEPS, SWEEP = THREADS * STEPS };

// Long is a number in up to 10 bytes of 7 bits, the lowest first; there are 0 bytes of it if
// it is longer than 64 bits.
struct Long {
  uint64_t value;
  int32_t bytes;

  // The number is at at, before end, of a text that is not empty.
  RF_MEMBER Long(const Text &text, int32_t at, int32_t end) {
    uint64_t five = 0xffffffffff;
    Varint low(text.five(at) & five), high(text.five(at + 5) & five);
    value = low.value, bytes = low.bytes;
    if (bytes == 0) {
      value |= high.value << 35;
      bytes = high.bytes > 0 && high.value >> 29 == 0 ? 5 + high.bytes : 0;
    }
    bytes = bytes <= end - at ? bytes : 0;
  }

  RF_MEMBER uint64_t unzigzag() const { return value >> 1 ^ -(value & 1); }
};

// Differences is what the header of such a page says. Blocks of differences have parts of
// size each, one bit width for each part.
struct Differences {
  int32_t parts, size, at; // at is where the first block begins, or -1 if the header is damaged
  uint64_t first;          // value

  RF_MEMBER Differences(const Text &text, int32_t at, int32_t rows) : at(-1) {
    uint64_t header[3];
    RF_UNROLL
    for (int32_t i = 0; i < 3; i++) {
      Long n(text, at, text.length);
      if (n.bytes == 0)
        return;
      header[i] = n.value, at += n.bytes;
    }
    Long n(text, at, text.length);
    uint64_t block = header[0], of = header[1];
    if (n.bytes == 0 || of == 0 || of > block || block > 1 << 24 || (uint32_t)block % (8 * (uint32_t)of) != 0 ||
        header[2] != (uint64_t)rows)
      return;
    first = n.unzigzag(), parts = (int32_t)of, size = (int32_t)((uint32_t)block / (uint32_t)of);
    this->at = at + n.bytes;
  }
};

// Pieces are the next parts of a page that a block knows of: where their bits begin, how
// many a difference has, and what is added to each.
struct Pieces {
  uint32_t *starts, *widths;
  uint64_t *lows;
  int32_t *state; // how many there are, whether the page is damaged
};

// Blocks goes through the parts of a page: the next one is part of a block whose widths are
// at widths, and has its bits at at.
struct Blocks {
  int32_t part, widths, at;
  uint64_t low;
};

// find has a warp find the next parts, wanted of them or as many as there is room for.
RF_HELPER void find(const Text &text, const Differences &d, int32_t wanted, Blocks *walk, const Pieces &pieces,
                    int32_t lane) {
  int32_t count = 0;
  bool bad = false;
  wanted = wanted < PIECES ? wanted : (int32_t)PIECES;
  while (count < wanted && !bad) {
    if (walk->part == d.parts) {
      Long low(text, walk->at, text.length);
      walk->low = low.unzigzag(), walk->part = 0;
      walk->widths = walk->at + low.bytes;
      walk->at = walk->widths + d.parts;
      if (low.bytes == 0 || walk->at > text.length) {
        bad = true;
        break;
      }
    }
    int32_t n = d.parts - walk->part;
    n = n < wanted - count ? n : wanted - count;
    n = n < LANES ? n : (int32_t)LANES;
    bool here = lane < n;
    uint32_t width = here ? text.bytes()[walk->widths + walk->part + lane] : 0;
    uint64_t bytes = (uint64_t)((uint32_t)d.size / 8) * width;
    uint64_t upto = scan::inclusive<scan::Sum>(bytes, lane, LANES);
    uint64_t left = (uint64_t)(text.length - walk->at);
    bad = target::ballot(here && (width > 64 || upto > left)) != 0;
    if (here) {
      pieces.starts[count + lane] = (uint32_t)walk->at + (uint32_t)(upto - bytes);
      pieces.widths[count + lane] = width;
      pieces.lows[count + lane] = walk->low;
    }
    walk->at += bad ? 0 : (int32_t)target::from_lane(upto, LANES - 1);
    walk->part += n, count += n;
  }
  if (lane == 0)
    pieces.state[0] = count, pieces.state[1] = bad;
}

// bits is a number of width bits, 64 at most, all of which the text has.
RF_HELPER uint64_t bits(const Text &text, uint32_t byte, uint32_t bit, uint32_t width) {
  uint32_t from = (uint32_t)text.skew + byte + bit / 8, shift = (from & 3) * 8 + (bit & 7);
  int32_t i = (int32_t)(from / 4);
  uint32_t a = text.word(i), b = text.word(i + 1), c = text.word(i + 2);
  uint64_t v = target::wide(target::funnel(a, b, shift), target::funnel(b, c, shift));
  return width == 0 ? 0 : v & ~(uint64_t)0 >> (64 - width);
}

// deltas decodes a page whose differences begin at at, which is in the text. sums is
// memory for a word of each warp. The result says what is wrong, as far as the calling
// thread saw.
RF_HELPER uint64_t deltas(const Text &text, int32_t at, int32_t rows, const Target &to, const Pieces &pieces,
                          uint64_t *sums) {
  int32_t warp = target::warp(THREADS), lane = target::lane(THREADS);
  Differences d(text, at, rows);
  if (d.at < 0)
    return DAMAGED;
  bool bad = false;
  auto take = [&](int32_t row, uint64_t value) RF_LAMBDA {
    uint64_t entry = (to.bytes == 4 ? (uint64_t)(int64_t)(int32_t)(uint32_t)value : value) - to.base;
    bool inside = to.inside(entry);
    bad |= !inside;
    if (inside)
      to.put(row, entry);
  };
  if (target::thread() == 0)
    take(0, d.first);
  Blocks walk = {d.parts, 0, d.at, 0};
  uint64_t value = d.first; // of the row before
  for (int32_t done = 0; done < rows - 1;) {
    if (warp == 0)
      find(text, d, (rows - 1 - done + d.size - 1) / d.size, &walk, pieces, lane);
    target::barrier();
    int32_t count = pieces.state[0], most = rows - 1 - done;
    if (pieces.state[1] != 0)
      return DAMAGED;
    int32_t here = count * d.size < most ? count * d.size : most;
    for (int32_t start = 0; start < here; start += SWEEP) {
      uint64_t sum[STEPS], total = 0;
      RF_UNROLL
      for (int32_t k = 0; k < STEPS; k++) {
        int32_t i = start + warp * STRETCH + k * LANES + lane;
        sum[k] = 0;
        if (i < here) {
          int32_t piece = (int32_t)((uint32_t)i / (uint32_t)d.size);
          uint32_t width = pieces.widths[piece], bit = (uint32_t)(i - piece * d.size) * width;
          sum[k] = pieces.lows[piece] + bits(text, pieces.starts[piece], bit, width);
        }
      }
      RF_UNROLL
      for (int32_t k = 0; k < STEPS; k++) {
        sum[k] = total + scan::inclusive<scan::Sum>(sum[k], lane, LANES);
        total = target::from_lane(sum[k], LANES - 1);
      }
      if (lane == 0)
        sums[warp] = total;
      target::barrier();
      uint64_t before = value;
      RF_UNROLL
      for (int32_t w = 0; w < WARPS; w++) {
        before += w < warp ? sums[w] : 0;
        value += sums[w];
      }
      RF_UNROLL
      for (int32_t k = 0; k < STEPS; k++) {
        int32_t i = start + warp * STRETCH + k * LANES + lane;
        if (i < here)
          take(1 + done + i, before + sum[k]);
      }
      target::barrier(); // sums and pieces are written again
    }
    done += here;
  }
  return bad ? (uint64_t)OUTSIDE : 0;
}

} // namespace pages

// rf_pages_deltas decodes those of n pages whose values are differences, as
// rf_pages_decode does others. Values are numbers.
//
// Phases: a block decodes a page. 1 one warp finds where the next parts of blocks are;
// 2 all threads read differences of these, and add them up in warps; 3 the sums of the warps
// before are added; again until there are no more rows.
RF_KERNEL(rf_pages_deltas, 3)(const uint64_t *pages, int64_t n, uint64_t column, int64_t width, int64_t bytes,
                              uint64_t base, uint64_t least, uint64_t span, uint64_t *status) {
  RF_SHARED(starts, 4 * pages::PIECES);
  RF_SHARED(widths, 4 * pages::PIECES);
  RF_SHARED(lows, 8 * pages::PIECES);
  RF_SHARED(state, 4 * 2);
  RF_SHARED(sums, 8 * pages::WARPS);
  pages::Pieces pieces = {(uint32_t *)starts, (uint32_t *)widths, (uint64_t *)lows, (int32_t *)state};
  int32_t lane = target::lane(THREADS);
  for (int64_t i = grid::block(); i < n; i += grid::blocks()) {
    const uint64_t *page = pages + i * pages::WORDS;
    uint32_t flags = (uint32_t)(page[pages::ENTRIES] >> 32);
    uint64_t all = page[pages::ROWS], length = page[pages::UNPACKED];
    if (!(flags & pages::IS_DELTA) || all == 0)
      continue;
    uint64_t wrong = pages::DAMAGED;
    if (all <= pages::MOST_ROWS && length <= pages::MOST_BYTES && length > 0) {
      pages::Text text(page[pages::TO], (int32_t)length);
      int32_t at = flags & pages::HAS_LEVELS ? pages::present(text, (int32_t)all, lane) : 0;
      pages::Target to = {column,         base,           least, span, (int64_t)page[pages::ROW],
                          (int32_t)width, (int32_t)bytes, pages::NUMBERS};
      if (at >= 0)
        wrong = pages::deltas(text, at, (int32_t)all, to, pieces, (uint64_t *)sums);
    }
    if (wrong)
      target::either(status, wrong);
    target::barrier(); // the next page has the same memory
  }
}
