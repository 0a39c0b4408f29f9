// Pages of Parquet columns, decoded as they are in the file: Snappy's texts, and the
// values in them, PLAIN, in streams of bytes, as differences, or as places in a
// dictionary.
//
// All of a page that comes from its file may be wrong. Each access is checked against
// the bounds of the page, and each step of a loop takes bytes of it.

#pragma once

#include "grid.h"

#include "../../src/scan.h"

namespace pages {

enum { WARPS = THREADS / target::WARP, LANES = target::WARP };

// A page as AppendTo of Page in pages.go writes it.
enum { FROM, PACKED, TO, UNPACKED, ROW, ROWS, DICTIONARY, ENTRIES, WORDS };

// The flags are the upper half of the word of ENTRIES.
enum : uint32_t { IS_PACKED = 1, HAS_LEVELS = 2, IS_CODED = 4, IS_DELTA = 8, IS_SPLIT = 16 };

// The kinds of values: signed numbers, doubles, and doubles rounded to 32 bits.
enum { NUMBERS, FLOATS, SINGLES };

// The bits of a launch's status.
enum : uint64_t { DAMAGED = 1, OUTSIDE = 2 };

// Sums of 32 rows or sizes fit 32 bits.
enum : uint32_t { MOST_BYTES = 1 << 30, MOST_ROWS = 1 << 26 };

// Text is the bytes of a page. Memory is read by aligned words that have a byte of it.
struct Text {
  const uint32_t *words;
  int32_t skew, length, last; // last is the number of the last word

  RF_MEMBER Text(uint64_t address, int32_t length)
      : words(grid::global<uint32_t>((int64_t)(address & ~(uint64_t)3))), skew((int32_t)(address & 3)), length(length),
        last((skew + length - 1) >> 2) {}

  // word is an aligned word of a text that is not empty, or its last one. A load under a
  // condition would be waited for, as the condition chooses between it and a constant.
  RF_MEMBER uint32_t word(int32_t i) const { return words[i < last ? i : last]; }

  // five is bytes at to at + 4 and perhaps more. Those behind the end are undefined. The
  // text is not empty.
  RF_MEMBER uint64_t five(int32_t at) const { return five(at, around(at)); }

  // around is the words that have those bytes.
  RF_MEMBER uint64_t around(int32_t at) const {
    int32_t i = (at + skew) >> 2;
    return target::wide(word(i), word(i + 1));
  }
  RF_MEMBER uint64_t five(int32_t at, uint64_t around) const { return around >> 8 * ((at + skew) & 3); }

  RF_MEMBER const uint8_t *bytes() const { return (const uint8_t *)words + skew; }
};

// Varint is a number in bytes of 7 bits, the lowest first: up to 5 of them, or 0 if
// there are more.
struct Varint {
  uint64_t value;
  int32_t bytes;

  RF_MEMBER explicit Varint(uint64_t v) {
    uint64_t ends = ~v & 0x8080808080;
    bytes = ends ? __builtin_ctzll(ends) / 8 + 1 : 0;
    v &= ends ^ (ends - 1);
    value = (v & 0x7f) | (v >> 1 & 0x3f80) | (v >> 2 & 0x1fc000) | (v >> 3 & 0xfe00000) | (v >> 4 & 0x7f0000000);
  }
};

// Snappy's elements begin with a tag. Those of a window of bytes are copied together, in
// rounds, but for a literal of more than LITERAL bytes at its end.
enum { LITERAL = 64, WINDOW = LANES, ELEMENTS = WINDOW / 2, HALVES = 2, ROUND = HALVES * LANES };

// Element is an element of a text, or what would be one if it began at some byte.
struct Element {
  uint32_t header, length, distance; // literals have distance 0
  bool literal;

  // Behind the tag are 0 to 4 bytes of a number. Branches would all be taken by some lane.
  RF_MEMBER explicit Element(uint64_t v) {
    uint32_t tag = (uint32_t)v & 255, kind = tag & 3, upper = tag >> 2;
    literal = kind == 0;
    bool near = kind == 1;
    uint32_t extra = (upper > 59 ? upper : 59) - 59, bytes = literal ? extra : kind + (kind == 3);
    uint32_t number = (uint32_t)(v >> 8) & ~0u >> (32 - 8 * bytes & 31);
    uint32_t longer = number < MOST_BYTES ? number : (uint32_t)MOST_BYTES;
    header = 1 + bytes;
    length = (literal && extra > 0 ? longer : near ? (upper & 7) + 3 : upper) + 1;
    distance = literal ? 0 : number + (near ? upper >> 3 << 8 : 0);
  }

  RF_MEMBER uint32_t size() const { return header + (literal ? length : 0); }
};

// chain is which lanes of a window elements begin at, the first one at lane 0, and no more
// than ELEMENTS: next is the lane at which the element that might begin at the caller's
// would end, WINDOW if that is not in the window.
RF_HELPER uint32_t chain(uint32_t next, int32_t lane) {
  uint32_t lanes = 1u << lane;
  // Elements of Snappy's have at least 2 bytes, so that there are no more.
  RF_UNROLL
  for (int32_t hops = 1; hops < ELEMENTS; hops *= 2) {
    uint32_t more = target::shuffle(lanes, (int32_t)next & (WINDOW - 1));
    uint32_t beyond = target::shuffle(next, (int32_t)next & (WINDOW - 1));
    if (next < WINDOW)
      lanes |= more, next = beyond;
  }
  return target::shuffle(lanes, 0);
}

// copy_literal copies length bytes of a text, which has them, by stores of 16 bytes.
RF_HELPER void copy_literal(const Text &text, int32_t from, uint8_t *to, uint32_t length, int32_t lane) {
  uint32_t head = (uint32_t)-(uintptr_t)to & 15;
  head = head < length ? head : length;
  uint32_t tail = (length - head) & 15, middle = (length - head) / 16;
  const uint8_t *bytes = text.bytes() + from;
  if ((uint32_t)lane < head)
    to[lane] = bytes[lane];
  if ((uint32_t)lane < tail)
    to[length - tail + lane] = bytes[length - tail + lane];
  int32_t first = text.skew + from + (int32_t)head;
  uint32_t shift = 8 * (first & 3);
  for (uint32_t c = lane; c < middle; c += LANES) {
    int32_t i = first / 4 + 4 * (int32_t)c;
    uint32_t in[5], out[4];
    RF_UNROLL
    for (int32_t j = 0; j < 5; j++)
      in[j] = text.word(i + j);
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++)
      out[j] = target::funnel(in[j], in[j + 1], shift);
    target::store16(to + head + 16 * c, out);
  }
}

// Window is elements whose bytes are copied together. plan has for each of them, of which
// there are ELEMENTS at most, how far the bytes are from where they go.
struct Window {
  uint32_t start, until; // where the bytes of the lane's element begin, where those of all end
  uint32_t later;        // the length of a literal that is copied alone, after them
  uint32_t at;           // where the next window begins
  uint64_t ahead;        // the words that the lane is to look at there
  bool good;
};

enum : uint32_t { NOWHERE = ~0u };

// look finds the elements of the window behind one, whose bytes go to done and on.
//
// A lane looks at one byte as if an element began there, and pointer jumping finds out
// where elements do begin.
RF_HELPER Window look(const Text &text, const uint8_t *to, const Window &before, uint32_t done, uint32_t bytes,
                      uint64_t *plan, int32_t lane) {
  uint32_t end = (uint32_t)text.length, at = before.at, p = at + (uint32_t)lane;
  Element e(text.five((int32_t)p, before.ahead));
  uint32_t behind = (uint32_t)lane + e.size(), lanes = chain(behind < WINDOW ? behind : (uint32_t)WINDOW, lane);
  lanes &= end - at < WINDOW ? target::lanes_below((int32_t)(end - at)) : ~0u;
  bool here = lanes >> lane & 1;
  int32_t last = 31 - __builtin_clz(lanes | 1); // the first lane where there is no element
  Window w;
  w.at = target::shuffle(p + e.size(), last);
  w.at = w.at < end ? w.at : end;
  w.ahead = text.around((int32_t)w.at + lane);
  uint32_t upto = scan::inclusive<scan::Sum>(here ? e.length : 0, lane, LANES), start = done + upto - e.length;
  bool bad = here && (p + e.size() > end || done + upto > bytes ||
                      (!e.literal && (e.distance == 0 || e.distance > start)));
  bool alone = here && e.literal && e.length > LITERAL; // it is the last one, as it leaves the window
  w.later = target::shuffle(alone ? e.length : 0, last);
  w.until = done + target::shuffle(upto, LANES - 1) - w.later;
  w.good = target::ballot(bad) == 0;
  w.start = NOWHERE;
  if (here && !alone) {
    w.start = start;
    int64_t literal = text.bytes() - to + (int32_t)(p + e.header - start);
    plan[__builtin_popcount(lanes & target::lanes_below(lane))] = e.literal ? literal : -(int64_t)e.distance;
  }
  target::warp_barrier();
  return w;
}

// Round is up to ROUND bytes that are copied at once. A byte that is a copy of one of them
// is PENDING at first, with the number of that.
struct Round {
  enum : uint32_t { PENDING = 1 << 8, LOADED = 1 << 9 };

  uint32_t base;
  uint32_t kind[HALVES], loaded[HALVES]; // where the kind is LOADED, the byte was loaded

  // read reads the bytes from base on, and adds to seen how many elements begin there.
  // Each step is done for both halves, as one waits for the other. All lanes load a byte,
  // those that need none the text's first one.
  RF_MEMBER void read(const Text &text, const uint8_t *to, const Window &w, const uint64_t *plan, int32_t *seen,
                      int32_t lane) {
    uint32_t starts[HALVES];
    RF_UNROLL
    for (int32_t h = 0; h < HALVES; h++) {
      uint32_t place = w.start - (base + h * LANES);
      starts[h] = target::either_lanes(place < (uint32_t)LANES ? 1u << (place & 31) : 0);
    }
    uint64_t away[HALVES];
    RF_UNROLL
    for (int32_t h = 0; h < HALVES; h++) {
      int32_t element = *seen + __builtin_popcount(starts[h] & ~0u >> (LANES - 1 - lane));
      away[h] = plan[element < 0 ? 0 : element]; // there are none before a literal that is copied alone
      *seen += __builtin_popcount(starts[h]);
    }
    RF_UNROLL
    for (int32_t h = 0; h < HALVES; h++) {
      uint64_t here = (uint64_t)(h * LANES + lane), place = away[h] + here;
      bool wanted = base + (uint32_t)here < w.until;
      // Literals are in other memory: before base, or behind all that is written.
      bool load = wanted && place >= here;
      kind[h] = load ? (uint32_t)LOADED : wanted ? PENDING | (uint32_t)place : 0;
      loaded[h] = *(load ? to + base + (int64_t)place : text.bytes());
    }
  }

  // write finds the pending bytes by pointer jumping, and writes those before until.
  RF_MEMBER void write(uint8_t *to, uint32_t until, int32_t lane) {
    uint32_t byte[HALVES];
    RF_UNROLL
    for (int32_t h = 0; h < HALVES; h++)
      byte[h] = kind[h] == LOADED ? loaded[h] : kind[h];
    RF_UNROLL
    for (int32_t h = 0; h < HALVES; h++)
      while (target::ballot(byte[h] >= PENDING) != 0) {
        int32_t from = (int32_t)byte[h] & (LANES - 1);
        uint32_t other = target::shuffle(byte[0], from);
        if (h > 0) {
          uint32_t same = target::shuffle(byte[h], from);
          other = byte[h] & LANES ? same : other;
        }
        byte[h] = byte[h] >= PENDING ? other : byte[h];
      }
    RF_UNROLL
    for (int32_t h = 0; h < HALVES; h++) {
      uint32_t o = base + h * LANES + (uint32_t)lane;
      if (o < until)
        to[o] = (uint8_t)byte[h];
    }
    target::warp_barrier();
  }
};

// unpack has a warp decompress a text to the given number of bytes. It returns whether
// that was possible. plans is memory for the plans of two windows: a window is looked
// for while bytes of the one before come from memory.
RF_HELPER bool unpack(const Text &text, uint8_t *to, uint32_t bytes, uint64_t *plans, int32_t lane) {
  if (text.length == 0)
    return false;
  Varint size(text.five(0));
  if (size.bytes == 0 || size.bytes > text.length || size.value != bytes)
    return false;
  uint32_t end = (uint32_t)text.length, done = 0;
  Window w = {NOWHERE, 0, 0, (uint32_t)size.bytes, text.around(size.bytes + lane), true};
  for (uint64_t *plan = plans, *other = plans + ELEMENTS;;) {
    int32_t seen = -1;
    Round round;
    round.base = done;
    round.read(text, to, w, plan, &seen, lane);
    // Behind the end there are no elements; a branch would wait for what is read ahead.
    Window next = look(text, to, w, w.until + w.later, bytes, other, lane);
    for (;;) {
      round.write(to, w.until, lane);
      round.base += ROUND;
      if (round.base >= w.until)
        break;
      round.read(text, to, w, plan, &seen, lane);
    }
    if (w.later > 0) {
      copy_literal(text, (int32_t)(w.at - w.later), to + w.until, w.later, lane);
      target::warp_barrier();
    }
    done = w.until + w.later;
    if (w.at == end)
      return done == bytes;
    if (!next.good)
      return false;
    w = next;
    uint64_t *free = plan;
    plan = other, other = free;
  }
}

} // namespace pages

// rf_pages_unpack decompresses the packed ones of n pages. A warp does one. What it
// finds damaged sets the status and is left half done.
RF_KERNEL(rf_pages_unpack, 3)(const uint64_t *pages, int64_t n, uint64_t *status) {
  enum { PLAN = 2 * pages::ELEMENTS }; // of two windows
  RF_SHARED(plans, 8 * PLAN * pages::WARPS);
  int32_t lane = target::lane(THREADS), warp = target::warp(THREADS);
  for (int64_t i = grid::block() * pages::WARPS + warp; i < n; i += grid::blocks() * pages::WARPS) {
    const uint64_t *page = pages + i * pages::WORDS;
    if (!((uint32_t)(page[pages::ENTRIES] >> 32) & pages::IS_PACKED))
      continue;
    uint64_t packed = page[pages::PACKED], unpacked = page[pages::UNPACKED];
    bool good = packed <= pages::MOST_BYTES && unpacked <= pages::MOST_BYTES;
    if (good) {
      pages::Text text(page[pages::FROM], (int32_t)packed);
      uint8_t *to = (uint8_t *)grid::global<uint8_t>((int64_t)page[pages::TO]);
      good = pages::unpack(text, to, (uint32_t)unpacked, (uint64_t *)plans + warp * PLAN, lane);
    }
    if (!good && lane == 0)
      target::either(status, (uint64_t)pages::DAMAGED);
  }
}

namespace pages {

// A block decodes up to PART rows of a page, ITEMS of a thread at a time. It keeps up to
// RUNS runs and a dictionary of up to STAGE bytes in shared memory.
enum { PART = 32768, ITEMS = 4, OF_WARP = LANES * ITEMS, TILE = THREADS * ITEMS, RUNS = 512, NEAR = 8, STAGE = 12288 };

// present returns where the values of a page begin whose definition levels, with their
// size before them, say that it has all rows, or -1. Each warp does the same.
RF_HELPER int32_t present(const Text &text, int32_t rows, int32_t lane) {
  if (text.length < 4)
    return -1;
  uint32_t size = (uint32_t)text.five(0);
  if (size > (uint32_t)text.length - 4)
    return -1;
  int32_t at = 4, end = 4 + (int32_t)size;
  for (int64_t row = 0; row < rows;) {
    Varint header(at < end ? text.five(at) : 0);
    if (at >= end || header.bytes == 0 || header.bytes > end - at)
      return -1;
    at += header.bytes;
    int64_t count = (int64_t)(header.value >> 1);
    if (header.value & 1) {
      int32_t bytes = count < end - at ? (int32_t)count : end - at;
      bool bad = false;
      for (int32_t b = lane; b < bytes && row + 8 * b < rows; b += LANES) {
        int64_t left = rows - row - 8 * b;
        uint32_t want = left < 8 ? (1u << left) - 1 : 255;
        bad |= (text.bytes()[at + b] & want) != want;
      }
      if (target::ballot(bad) != 0)
        return -1;
      at += bytes, row += 8 * (int64_t)bytes;
      continue;
    }
    uint8_t value = at < end ? text.bytes()[at] : 2;
    if (value > 1 || (value == 0 && count > 0))
      return -1;
    at++, row += count;
  }
  return end;
}

// Rows are what a block decodes of a page.
struct Rows {
  int32_t begin, until, all;
};

// Target is the column that pages are decoded into, and the rules for its values.
struct Target {
  uint64_t column, base, least, span;
  int64_t row;                // the first one of the page
  int32_t width, bytes, kind; // of an entry, of a PLAIN value; what values are

  // entry is the entry of a value of BYTES bytes, whose upper ones repeat its sign. Floats
  // become doubles, and are made canonical as the host's are: one NaN, and no negative
  // zero.
  template <int32_t BYTES> RF_MEMBER uint64_t entry(uint64_t value) const {
    if (kind == NUMBERS)
      return value - base;
    double d;
    if (BYTES == 4) {
      uint32_t bits = (uint32_t)value;
      float f;
      __builtin_memcpy(&f, &bits, 4);
      d = f;
    } else
      __builtin_memcpy(&d, &value, 8);
    if (kind == SINGLES)
      d = (float)d;
    uint64_t bits;
    __builtin_memcpy(&bits, &d, 8);
    return d != d ? 0x7ff8000000000001 : bits << 1 == 0 ? 0 : bits;
  }

  RF_MEMBER bool inside(uint64_t entry) const { return entry - least <= span; }

  // put sets a row, counted from the first one of the page.
  RF_MEMBER void put(int64_t r, uint64_t entry) const {
    r += row;
    switch (width) {
    case 1:
      ((uint8_t *)grid::global<uint8_t>((int64_t)column))[r] = (uint8_t)entry;
      break;
    case 2:
      ((uint16_t *)grid::global<uint16_t>((int64_t)column))[r] = (uint16_t)entry;
      break;
    case 4:
      ((uint32_t *)grid::global<uint32_t>((int64_t)column))[r] = (uint32_t)entry;
      break;
    default:
      ((uint64_t *)grid::global<uint64_t>((int64_t)column))[r] = entry;
    }
  }
};

// plain decodes values of BYTES bytes from at on, which the text has. The result says
// whether the calling thread saw one that is out of bounds.
template <class T, int32_t BYTES> RF_HELPER bool plain(const Text &text, int32_t at, Rows rows, const Target &to) {
  enum { PARTS = BYTES / 4 };
  T *column = (T *)grid::global<T>((int64_t)to.column) + to.row;
  int32_t first = text.skew + at, lane = target::lane(THREADS), warp = target::warp(THREADS);
  uint32_t shift = 8 * (first & 3);
  bool bad = false;
  for (int32_t start = rows.begin + warp * OF_WARP + lane; start - lane < rows.until; start += TILE) {
    uint32_t word[ITEMS][PARTS + 1];
    RF_UNROLL
    for (int32_t k = 0; k < ITEMS; k++) {
      int32_t r = start + k * LANES, i = first / 4 + r * PARTS;
      RF_UNROLL
      for (int32_t j = 0; j <= PARTS; j++)
        word[k][j] = text.word(i + j);
    }
    RF_UNROLL
    for (int32_t k = 0; k < ITEMS; k++) {
      int32_t r = start + k * LANES;
      uint32_t lo = target::funnel(word[k][0], word[k][1], shift);
      uint64_t value = (uint64_t)(int64_t)(int32_t)lo;
      if (BYTES == 8)
        value = target::wide(lo, target::funnel(word[k][1], word[k][PARTS], shift));
      value = sizeof(T) < 8 ? value - to.base : to.entry<BYTES>(value); // floats have entries of 8 bytes
      bool inside = to.inside(value);
      bad |= r < rows.until && !inside;
      if (r < rows.until && inside)
        column[r] = (T)value;
    }
  }
  return bad;
}

// split decodes values of BYTES bytes whose first bytes come first, from at on, then the
// second ones of all, and so on. The text has all of them. The result is that of plain.
template <int32_t BYTES> RF_HELPER bool split(const Text &text, int32_t at, Rows rows, const Target &to) {
  const uint8_t *bytes = text.bytes() + at;
  bool bad = false;
  for (int32_t r = rows.begin + target::thread(); r < rows.until; r += THREADS) {
    uint32_t halves[2] = {0, 0};
    RF_UNROLL
    for (int32_t b = 0; b < BYTES; b++)
      halves[b / 4] |= (uint32_t)bytes[(int64_t)b * rows.all + r] << 8 * (b & 3);
    uint64_t value = (uint64_t)(int64_t)(int32_t)halves[0];
    if (BYTES == 8)
      value = target::wide(halves[0], halves[1]);
    value = to.entry<BYTES>(value);
    bool inside = to.inside(value);
    bad |= !inside;
    if (inside)
      to.put(r, value);
  }
  return bad;
}

// Runs are the runs of a part of a page that a block knows of. starts has twice the first
// row of each, plus 1 if its places are packed, and a largest number behind the last one;
// values has where those begin, or the place of all its rows.
struct Runs {
  uint32_t *starts, *values;
  int32_t *state; // how many there are, up to which row they go, whether the page is damaged
};

// Walk goes through the headers of runs: that at at is of row.
struct Walk {
  int32_t at, row, stride;
};

// fill has a warp find the next runs of the rows of a block, as many as there is room for.
//
// Each lane looks at a header. Runs of a few bytes are found as elements of Snappy's are.
// Otherwise, where the last run has stride bytes, lanes are that many bytes apart, and as
// many runs are found at once as have as many bytes, and one more.
RF_HELPER void fill(const Text &text, int32_t width, Rows rows, Walk *walk, const Runs &runs, int32_t lane) {
  int32_t count = 0, at = walk->at, row = walk->row, stride = walk->stride, end = text.length;
  bool bad = false;
  while (row < rows.until && count <= RUNS - LANES && !bad) {
    bool near = stride <= NEAR;
    int64_t far = at + (int64_t)(near ? 1 : stride) * lane;
    int32_t p = far < end ? (int32_t)far : end;
    Varint header(text.five(p));
    int32_t data = p + header.bytes, left = end - data;
    bool packed = header.value & 1, good = p < end && header.bytes > 0 && left >= 0;
    uint64_t number = header.value >> 1;
    uint32_t n, value, size;
    if (packed) {
      // Places that are missing at the end are those of no row, or the rows end too early.
      uint64_t there = good ? (uint64_t)left * 8 / (uint32_t)width : 0, most = 8 * number < there ? 8 * number : there;
      n = most < MOST_ROWS ? (uint32_t)most : MOST_ROWS;
      value = (uint32_t)data;
      uint64_t bytes = number * (uint32_t)width;
      size = good && bytes < (uint64_t)left ? (uint32_t)bytes : (uint32_t)left;
    } else {
      n = number < MOST_ROWS ? (uint32_t)number : MOST_ROWS;
      size = ((uint32_t)width + 7) / 8;
      good = good && (int32_t)size <= left;
      value = good ? (uint32_t)text.five(data) & ~0u >> (32 - 8 * size) : 0;
      good = good && (width == 32 || value >> width == 0);
    }
    size += header.bytes;
    uint32_t lanes, behind = (uint32_t)lane + size;
    if (near)
      lanes = chain(good && behind < WINDOW ? behind : (uint32_t)WINDOW, lane);
    else {
      uint32_t others = ~target::ballot(good && size == (uint32_t)stride);
      lanes = others ^ (others - 1); // up to the first other one
    }
    int32_t last = LANES - 1 - __builtin_clz(lanes);
    bool here = lanes >> lane & 1;
    n = here && good ? n : 0;
    uint32_t upto = scan::inclusive<scan::Sum>(n, lane, LANES), before = upto - n;
    bool used = here && before < (uint32_t)(rows.until - row);
    bad = target::ballot(used && !good) != 0;
    int64_t first = (int64_t)row + before;
    bool kept = used && good && n > 0 && first + n > rows.begin;
    uint32_t those = target::ballot(kept);
    if (kept) {
      int32_t k = count + __builtin_popcount(those & target::lanes_below(lane));
      runs.starts[k] = 2 * (uint32_t)first + packed, runs.values[k] = value;
    }
    count += __builtin_popcount(those);
    uint32_t all = target::shuffle(upto, LANES - 1);
    row = all < (uint32_t)(rows.until - row) ? row + (int32_t)all : rows.until;
    at = (int32_t)target::shuffle((uint32_t)p + size, last);
    stride = (int32_t)target::shuffle(size, last);
  }
  if (lane == 0) {
    runs.starts[count] = ~0u;
    runs.state[0] = count, runs.state[1] = row, runs.state[2] = bad;
  }
  *walk = {at, row, stride};
}

// Coded is the places of a page and what they stand for.
struct Coded {
  int32_t width;      // bits of a place
  uint32_t entries;   // of the dictionary
  uint64_t dictionary; // address
};

// coded decodes the rows from begin to until, whose places are in count runs. entries are
// those of the dictionary, which is not empty. The result says whether the calling thread
// saw a place that is not in it.
template <class T>
RF_HELPER bool coded(const Text &text, const Coded &c, int32_t begin, int32_t until, const Target &to,
                     const T *entries, const Runs &runs, int32_t count) {
  T *column = (T *)grid::global<T>((int64_t)to.column) + to.row;
  int32_t lane = target::lane(THREADS), warp = target::warp(THREADS);
  uint32_t width = (uint32_t)c.width, mask = ~0u >> (32 - width & 31); // of 0 bits there are no packed ones
  bool bad = false;
  for (int32_t start = begin + warp * OF_WARP + lane; start - lane < until; start += TILE) {
    uint32_t value[ITEMS], lo[ITEMS], hi[ITEMS], shift[ITEMS];
    bool packed[ITEMS];
    T entry[ITEMS];
    int32_t run = 0;
    RF_UNROLL
    for (int32_t step = RUNS / 2; step > 0; step /= 2)
      if (run + step < count && runs.starts[run + step] <= 2 * (uint32_t)start + 1)
        run += step;
    RF_UNROLL
    for (int32_t k = 0; k < ITEMS; k++) {
      int32_t r = start + k * LANES;
      bool wanted = r < until;
      while (wanted && runs.starts[run + 1] <= 2 * (uint32_t)r + 1)
        run++;
      uint32_t from = runs.starts[run], bit = ((uint32_t)r - from / 2) * width;
      value[k] = runs.values[run];
      packed[k] = wanted && from & 1;
      uint32_t byte = packed[k] ? (uint32_t)text.skew + value[k] + bit / 8 : 0;
      shift[k] = (byte & 3) * 8 + (bit & 7);
      lo[k] = text.word((int32_t)(byte / 4)), hi[k] = text.word((int32_t)(byte / 4) + 1);
    }
    RF_UNROLL
    for (int32_t k = 0; k < ITEMS; k++) {
      int32_t r = start + k * LANES;
      uint32_t place = packed[k] ? target::funnel(lo[k], hi[k], shift[k]) & mask : value[k];
      bool good = place < c.entries;
      bad |= r < until && !good;
      entry[k] = entries[good ? place : 0];
    }
    RF_UNROLL
    for (int32_t k = 0; k < ITEMS; k++)
      if (start + k * LANES < until)
        column[start + k * LANES] = entry[k];
  }
  return bad;
}

// Memory is what a block shares.
struct Memory {
  Runs runs;
  void *stage;
};

// stage copies the dictionary into shared memory if there is room, and returns whether
// it did.
template <class T> RF_HELPER bool stage(const Coded &c, const Memory &memory) {
  if (c.entries > STAGE / sizeof(T))
    return false;
  const T *entries = grid::global<T>((int64_t)c.dictionary);
  for (uint32_t i = target::thread(); i < c.entries; i += THREADS)
    ((T *)memory.stage)[i] = entries[i];
  return true;
}

template <class T>
RF_HELPER bool coded(const Text &text, const Coded &c, int32_t begin, int32_t until, const Target &to,
                     const Memory &memory, bool staged, int32_t count) {
  return staged ? coded<T>(text, c, begin, until, to, (const T *)memory.stage, memory.runs, count)
                : coded<T>(text, c, begin, until, to, grid::global<T>((int64_t)c.dictionary), memory.runs, count);
}

// coded decodes rows of a page whose runs begin at at. The result says whether the page
// is damaged, as far as the calling thread saw.
RF_HELPER bool coded(const Text &text, int32_t at, const Coded &c, Rows rows, const Target &to, const Memory &memory) {
  int32_t warp = target::warp(THREADS), lane = target::lane(THREADS);
  const Runs &runs = memory.runs;
  bool staged = to.width == 1   ? stage<uint8_t>(c, memory)
                : to.width == 2 ? stage<uint16_t>(c, memory)
                : to.width == 4 ? stage<uint32_t>(c, memory)
                                : stage<uint64_t>(c, memory);
  Walk walk = {at, 0, 0};
  bool bad = false;
  for (int32_t done = rows.begin; done < rows.until;) {
    if (warp == 0 && c.width > 0)
      fill(text, c.width, rows, &walk, runs, lane);
    if (warp == 0 && c.width == 0 && lane == 0) { // all places are 0
      runs.starts[0] = 0, runs.starts[1] = ~0u, runs.values[0] = 0;
      runs.state[0] = 1, runs.state[1] = rows.until, runs.state[2] = 0;
    }
    target::barrier();
    int32_t count = runs.state[0], until = runs.state[1];
    bool damaged = runs.state[2] != 0;
    if (!damaged)
      switch (to.width) {
      case 1:
        bad |= coded<uint8_t>(text, c, done, until, to, memory, staged, count);
        break;
      case 2:
        bad |= coded<uint16_t>(text, c, done, until, to, memory, staged, count);
        break;
      case 4:
        bad |= coded<uint32_t>(text, c, done, until, to, memory, staged, count);
        break;
      default:
        bad |= coded<uint64_t>(text, c, done, until, to, memory, staged, count);
      }
    target::barrier();
    if (damaged)
      return true;
    done = until;
  }
  return bad;
}

template <class T> RF_HELPER bool plain(const Text &text, int32_t at, Rows rows, const Target &to) {
  return to.bytes == 8 ? plain<T, 8>(text, at, rows, to) : plain<T, 4>(text, at, rows, to);
}

// decode decodes some rows of a page, whose values begin at at.
RF_HELPER uint64_t decode(const uint64_t *page, const Text &text, int32_t at, Rows rows, const Target &to,
                          const Memory &memory) {
  uint32_t flags = (uint32_t)(page[ENTRIES] >> 32);
  if (flags & IS_CODED) {
    Coded c = {at < text.length ? text.bytes()[at] : 33, (uint32_t)page[ENTRIES], page[DICTIONARY]};
    return c.width > 32 || c.entries == 0 || coded(text, at + 1, c, rows, to, memory) ? (uint64_t)DAMAGED : 0;
  }
  int64_t bytes = (int64_t)rows.all * to.bytes;
  if (bytes > text.length - at)
    return DAMAGED;
  if (flags & IS_SPLIT) {
    if (bytes != text.length - at) // a stream has other values behind it
      return DAMAGED;
    return (to.bytes == 8 ? split<8>(text, at, rows, to) : split<4>(text, at, rows, to)) ? (uint64_t)OUTSIDE : 0;
  }
  bool bad = to.width == 1   ? plain<uint8_t>(text, at, rows, to)
             : to.width == 2 ? plain<uint16_t>(text, at, rows, to)
             : to.width == 4 ? plain<uint32_t>(text, at, rows, to)
                             : plain<uint64_t>(text, at, rows, to);
  return bad ? (uint64_t)OUTSIDE : 0;
}

} // namespace pages

// rf_pages_decode decodes n pages of up to parts * PART rows into a column of entries of
// width bytes, but for pages of differences. Dictionaries have entries of the same width. A
// PLAIN value of bytes bytes, a signed number, becomes the entry value - base, which is from
// least to least + span; a float, as kind says, becomes a canonical double. What is damaged
// or out of bounds sets the status, and its rows get any entries of the dictionary or none.
//
// Phases: a block decodes a part of a page. 1 one warp finds runs; 2 all threads decode
// the rows of these; again until there are no more rows.
RF_KERNEL(rf_pages_decode, 5)(const uint64_t *pages, int64_t n, int64_t parts, uint64_t column, int64_t width,
                              int64_t bytes, int64_t kind, uint64_t base, uint64_t least, uint64_t span,
                              uint64_t *status) {
  RF_SHARED(starts, 4 * (pages::RUNS + 1));
  RF_SHARED(values, 4 * pages::RUNS);
  RF_SHARED(state, 4 * 3);
  RF_SHARED(stage, pages::STAGE);
  pages::Memory memory = {{(uint32_t *)starts, (uint32_t *)values, (int32_t *)state}, stage};
  int32_t lane = target::lane(THREADS);
  for (int64_t i = grid::block(); i < n * parts; i += grid::blocks()) {
    const uint64_t *page = pages + i / parts * pages::WORDS;
    uint64_t all = page[pages::ROWS], length = page[pages::UNPACKED];
    if ((uint32_t)(page[pages::ENTRIES] >> 32) & pages::IS_DELTA)
      continue;
    if (all > pages::MOST_ROWS || length > pages::MOST_BYTES) {
      target::either(status, (uint64_t)pages::DAMAGED);
      continue;
    }
    // The parts of a page have about the same number of rows, in whole tiles.
    int32_t of_page = ((int32_t)all + pages::PART - 1) / pages::PART, part = (int32_t)(i % parts);
    if (part >= of_page)
      continue;
    if (of_page > parts) { // the launch covers fewer rows
      target::either(status, (uint64_t)pages::DAMAGED);
      continue;
    }
    int32_t each = (((int32_t)all + of_page - 1) / of_page + pages::TILE - 1) / pages::TILE * pages::TILE;
    pages::Rows rows = {part * each, (part + 1) * each, (int32_t)all};
    rows.until = rows.until < rows.all ? rows.until : rows.all;
    if (rows.begin >= rows.until)
      continue;
    pages::Text text(page[pages::TO], (int32_t)length);
    int32_t at = 0;
    if ((uint32_t)(page[pages::ENTRIES] >> 32) & pages::HAS_LEVELS)
      at = pages::present(text, rows.all, lane);
    pages::Target to = {column,         base,           least, span, (int64_t)page[pages::ROW],
                        (int32_t)width, (int32_t)bytes, (int32_t)kind};
    uint64_t wrong = at < 0 ? (uint64_t)pages::DAMAGED : pages::decode(page, text, at, rows, to, memory);
    if (wrong)
      target::either(status, wrong);
  }
}
