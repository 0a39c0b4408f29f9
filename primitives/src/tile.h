// Tiles: loads, stores and gathers of a block's rows as 64-bit words.
//
// A tile is threads x items consecutive rows, items a multiple of 4. Item i of
// thread t is row
//
//   (i / 4) * threads * 4 + t * 4 + i % 4
//
// of the tile: each thread owns 4 consecutive rows in each of items / 4 chunks,
// so that a column of any width is read by one access of up to 16 bytes a chunk
// and a warp's accesses are contiguous. With one thread it is row order.
//
// A column is what package store keeps: unsigned offsets of width 0, 1, 2, 4 or
// 8 bytes; word = base + step * offset, modulo 2^64. Width 0 stores nothing. Widths
// above 64 are packed offsets of width - 64 bits, at most 63: offset i begins at bit
// i * bits of a little-endian sequence of 32-bit words, as in GPU-FOR (Shanbhag et al.,
// "Tile-based lightweight integer compression in GPU", 2022). Up to 4 words behind the
// last offset are read.

#pragma once

#include "target.h"

namespace tile {

RF_HELPER int32_t row(int32_t item, int32_t threads) {
  return threads == 1 ? item : (item / 4) * threads * 4 + target::thread() * 4 + item % 4;
}

// aligned says that four entries at p can be stored by accesses of 16 bytes, or
// of 4 * size where that is less.
RF_HELPER bool aligned(const void *p, int32_t size) {
  return ((uintptr_t)p & (uintptr_t)((size >= 4 ? 16 : 4 * size) - 1)) == 0;
}

template <class T> RF_HELPER void load4(const T *p, uint64_t *out) {
  uint32_t w[4];
  if (sizeof(T) == 1) {
    uint32_t v = *(const uint32_t *)p;
    out[0] = v & 0xff, out[1] = v >> 8 & 0xff, out[2] = v >> 16 & 0xff, out[3] = v >> 24;
  } else if (sizeof(T) == 2) {
    target::load8(p, w);
    out[0] = w[0] & 0xffff, out[1] = w[0] >> 16, out[2] = w[1] & 0xffff, out[3] = w[1] >> 16;
  } else if (sizeof(T) == 4) {
    target::load16(p, w);
    out[0] = w[0], out[1] = w[1], out[2] = w[2], out[3] = w[3];
  } else {
    uint32_t x[4];
    target::load16(p, w);
    target::load16((const char *)p + 16, x);
    out[0] = target::wide(w[0], w[1]), out[1] = target::wide(w[2], w[3]);
    out[2] = target::wide(x[0], x[1]), out[3] = target::wide(x[2], x[3]);
  }
}

template <class T> RF_HELPER void store4(T *p, const uint64_t *v) {
  if (sizeof(T) == 1) {
    *(uint32_t *)p = (uint32_t)((v[0] & 0xff) | (v[1] & 0xff) << 8 | (v[2] & 0xff) << 16 | (v[3] & 0xff) << 24);
  } else if (sizeof(T) == 2) {
    uint32_t w[2] = {(uint32_t)((v[0] & 0xffff) | v[1] << 16), (uint32_t)((v[2] & 0xffff) | v[3] << 16)};
    target::store8(p, w);
  } else if (sizeof(T) == 4) {
    uint32_t w[4] = {(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2], (uint32_t)v[3]};
    target::store16(p, w);
  } else {
    uint32_t w[4] = {(uint32_t)v[0], (uint32_t)(v[0] >> 32), (uint32_t)v[1], (uint32_t)(v[1] >> 32)};
    uint32_t x[4] = {(uint32_t)v[2], (uint32_t)(v[2] >> 32), (uint32_t)v[3], (uint32_t)(v[3] >> 32)};
    target::store16(p, w);
    target::store16((char *)p + 16, x);
  }
}

// word_of and offset_of compute modulo 2^64: signed arithmetic would promise the
// compiler that nothing wraps.
RF_HELPER int64_t word_of(int64_t base, int64_t step, uint64_t offset) {
  return (int64_t)((uint64_t)base + (uint64_t)step * offset);
}

// PACKED is added to the number of bits of packed offsets.
enum { PACKED = 64 };

// of_bits returns the lower bits of a number, of 1 to 63.
RF_HELPER uint64_t of_bits(uint64_t v, int32_t bits) { return v & ((uint64_t)-1 >> (64 - bits)); }

// packed returns entry i of packed offsets.
RF_HELPER uint64_t packed(const void *column, int32_t bits, int64_t i) {
  uint64_t bit = (uint64_t)i * (uint64_t)bits;
  const uint32_t *p = (const uint32_t *)column + (bit >> 5);
  uint32_t s = bit & 31, lo = target::funnel(p[0], p[1], s);
  return of_bits(bits <= 32 ? lo : target::wide(lo, target::funnel(p[1], p[2], s)), bits);
}

// packed_if is packed, or anything where the entry is not wanted. A word behind the
// first is read only if the entry reaches into it.
RF_HELPER uint64_t packed_if(const void *column, int32_t bits, int64_t i, bool wanted) {
  uint64_t bit = (uint64_t)i * (uint64_t)bits;
  const uint32_t *p = (const uint32_t *)column + (bit >> 5);
  uint32_t s = bit & 31, end = s + (uint32_t)bits;
  uint32_t v = target::load_if(p, wanted), w = target::load_if(p + 1, wanted && end > 32);
  uint32_t lo = target::funnel(v, w, s);
  if (bits <= 32)
    return of_bits(lo, bits);
  uint32_t x = target::load_if(p + 2, wanted && end > 64);
  return of_bits(target::wide(lo, target::funnel(w, x, s)), bits);
}

RF_HELPER uint64_t offset_of(int64_t word, int64_t base) { return (uint64_t)word - (uint64_t)base; }

// All are the rows of a tile, Live those that flags say.
struct All {
  RF_MEMBER bool chunk(int32_t) const { return true; }
  RF_MEMBER bool item(int32_t) const { return true; }
};

struct Live {
  const uint8_t *flags;

  RF_MEMBER bool chunk(int32_t i) const { return flags[i] | flags[i + 1] | flags[i + 2] | flags[i + 3]; }
  RF_MEMBER bool item(int32_t i) const { return flags[i]; }
};

// load reads the wanted rows of a tile. A GPU reads whole chunks of four, without a
// branch where all are wanted, so that the accesses of all columns are begun before
// the first is waited for: a chunk beyond the last row reads the tile's first.
template <class T, class W>
RF_HELPER void load(int64_t *out, const T *from, int64_t base, int64_t step, int32_t rows, int32_t threads,
                    int32_t items, W wanted) {
  if (threads == 1) {
    for (int32_t i = 0; i < rows; i++)
      if (wanted.item(i))
        out[i] = word_of(base, step, from[i]);
    for (int32_t i = rows; i < items; i++)
      out[i] = base;
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i += 4) {
    uint64_t v[4] = {0, 0, 0, 0};
    int32_t r = row(i, threads);
    if (wanted.chunk(i))
      load4(from + (r < rows ? r : 0), v);
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++)
      out[i + j] = word_of(base, step, v[j]);
  }
}

// load_each is load for packed offsets of a number of bits that the compiler does not
// know: each entry reads its own words.
template <class W>
RF_HELPER void load_each(int64_t *out, const void *column, int32_t bits, int64_t base, int64_t step, int64_t start,
                         int32_t rows, int32_t threads, int32_t items, W wanted) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    int32_t r = row(i, threads);
    out[i] = base;
    if (threads == 1 ? r < rows && wanted.item(i) : wanted.chunk(i / 4 * 4))
      out[i] = word_of(base, step, packed(column, bits, start + (r < rows ? r : 0)));
  }
}

// load_bits is load for packed offsets of a constant number of bits. The words of a
// chunk of four entries are read once and shifted to where the first entry begins, so
// that the entries are at constant places.
template <class W>
RF_HELPER void load_bits(int64_t *out, const void *column, int32_t bits, int64_t base, int64_t step, int64_t start,
                         int32_t rows, int32_t threads, int32_t items, W wanted) {
  if (threads == 1)
    return load_each(out, column, bits, base, step, start, rows, threads, items, wanted);
  enum { MOST = 9 }; // words that a chunk is part of
  // A chunk begins at a multiple of the largest power of two that divides its bits.
  const int32_t chunk = 4 * bits, align = chunk & -chunk;
  const int32_t most_shift = align < 32 ? 32 - align : 0;
  const int32_t length = (chunk + 31) / 32, count = (most_shift + chunk + 31) / 32;
  int64_t first = start * bits;
  const uint32_t *from = (const uint32_t *)column + (first >> 5);
  uint32_t skip = first & 31;
  RF_UNROLL
  for (int32_t i = 0; i < items; i += 4) {
    uint32_t v[MOST + 1] = {0};
    int32_t r = row(i, threads);
    uint32_t bit = skip + (uint32_t)(r < rows ? r : 0) * (uint32_t)bits;
    const uint32_t *p = from + (bit >> 5);
    if (wanted.chunk(i)) {
      RF_UNROLL
      for (int32_t k = 0; k < MOST; k++)
        if (k < count)
          v[k] = p[k];
    }
    if (most_shift > 0) {
      RF_UNROLL
      for (int32_t k = 0; k < MOST; k++)
        if (k < length)
          v[k] = target::funnel(v[k], v[k + 1], bit & 31);
    }
    RF_UNROLL
    for (int32_t j = 0; j < 4; j++) {
      int32_t at = j * bits / 32, s = j * bits % 32;
      uint64_t offset = v[at] >> s;
      if (s + bits > 32 && bits <= 32)
        offset = (uint32_t)offset | v[at + 1] << (32 - s);
      if (s + bits > 32 && bits > 32)
        offset |= (uint64_t)v[at + 1] << (32 - s);
      if (s + bits > 64)
        offset |= (uint64_t)v[at + 2] << (64 - s);
      out[i + j] = word_of(base, step, of_bits(offset, bits));
    }
  }
}

template <class W>
RF_HELPER void load_width(int64_t *out, const void *column, int32_t width, int64_t base, int64_t step, int64_t start,
                          int32_t rows, int32_t threads, int32_t items, W wanted) {
  switch (width) {
  case 1:
    return load(out, (const uint8_t *)column + start, base, step, rows, threads, items, wanted);
  case 2:
    return load(out, (const uint16_t *)column + start, base, step, rows, threads, items, wanted);
  case 4:
    return load(out, (const uint32_t *)column + start, base, step, rows, threads, items, wanted);
  case 8:
    return load(out, (const uint64_t *)column + start, base, step, rows, threads, items, wanted);
  }
  if (width > PACKED)
    return load_each(out, column, width - PACKED, base, step, start, rows, threads, items, wanted);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    out[i] = base;
}

template <class T>
RF_HELPER void store(T *to, int64_t base, const int64_t *words, int32_t rows, int32_t threads, int32_t items) {
  if (threads == 1) {
    for (int32_t i = 0; i < rows; i++)
      to[i] = (T)offset_of(words[i], base);
    return;
  }
  if (rows == threads * items && aligned(to, sizeof(T))) {
    RF_UNROLL
    for (int32_t i = 0; i < items; i += 4) {
      uint64_t v[4];
      RF_UNROLL
      for (int32_t j = 0; j < 4; j++)
        v[j] = offset_of(words[i + j], base);
      store4(to + row(i, threads), v);
    }
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    int32_t r = row(i, threads);
    if (r < rows)
      to[r] = (T)offset_of(words[i], base);
  }
}

// entry returns table[at], or 0 where it is not wanted. A CPU reads entry 0 then,
// which must be there: that is cheaper than a branch nobody can predict.
template <class T> RF_HELPER T entry(const T *table, uint64_t at, bool wanted) {
  if (target::WARP > 1)
    return wanted ? table[at] : 0;
  T v = table[wanted ? at : 0];
  return wanted ? v : 0;
}

template <class T>
RF_HELPER void gather(int64_t *out, const uint8_t *live, const int64_t *rows, const T *from, int64_t base,
                      int64_t step, int32_t items) {
  if (target::WARP == 1) {
    // The first live item's row stands in for those of the others.
    int32_t first = 0;
    while (first < items && !live[first])
      first++;
    if (first == items)
      return;
    int64_t safe = rows[first];
    for (int32_t i = first; i < items; i++)
      out[i] = word_of(base, step, from[live[i] ? rows[i] : safe]);
    return;
  }
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    out[i] = word_of(base, step, target::load_if(from + rows[i], live[i]));
}

RF_HELPER void gather_packed(int64_t *out, const uint8_t *live, const int64_t *rows, const void *column,
                             int32_t bits, int64_t base, int64_t step, int32_t items) {
  RF_UNROLL
  for (int32_t i = 0; i < items; i++) {
    if (target::WARP > 1)
      out[i] = word_of(base, step, packed_if(column, bits, rows[i], live[i]));
    else if (live[i])
      out[i] = word_of(base, step, packed(column, bits, rows[i]));
  }
}

// MOST_ITEMS is what a thread of a GPU has at most: arrays of that many are made of
// registers, as far as they are used.
enum { MOST_ITEMS = 32 };

// GROUP items have their accesses begun before the first of them is finished; on
// a CPU items are whole groups.
enum { GROUP = target::WARP == 1 ? 32 : 16 };

// early and late read a word of a table in two steps: a GPU loads it early, a CPU
// only asks for its line and loads it late. STABLE says that nobody writes the
// table meanwhile.
template <bool STABLE, class T> RF_HELPER T early(const T *p, bool wanted) {
  if (target::WARP == 1) {
    target::prefetch(p);
    return 0;
  }
  return !wanted ? 0 : STABLE ? *p : target::load(p);
}

template <bool STABLE, class T> RF_HELPER T late(const T *p, T seen) {
  return target::WARP > 1 ? seen : STABLE ? *p : target::load(p);
}

// in_groups calls begin for each item of a group, to ask for what the item needs.
// Then settle, with what begin returned, says whether that was enough, and
// go_on does the rest for the others: few, if the common case settles. A CPU
// finds them without a branch an item.
template <class S, class B, class T, class G>
RF_HELPER void in_groups(int32_t items, B begin, T settle, G go_on) {
  RF_UNROLL
  for (int32_t from = 0; from < items; from += GROUP) {
    S state[GROUP];
    if (target::WARP == 1) {
      uint32_t open = 0;
      for (int32_t j = 0; j < GROUP; j++)
        state[j] = begin(from + j);
      for (int32_t j = 0; j < GROUP; j++)
        open |= (uint32_t)!settle(from + j, state[j]) << j;
      for (; open != 0; open &= open - 1) {
        int32_t j = __builtin_ctz(open);
        go_on(from + j, state[j]);
      }
      continue;
    }
    RF_UNROLL
    for (int32_t j = 0; j < GROUP; j++)
      if (from + j < items)
        state[j] = begin(from + j);
    RF_UNROLL
    for (int32_t j = 0; j < GROUP; j++)
      if (from + j < items && !settle(from + j, state[j]))
        go_on(from + j, state[j]);
  }
}

} // namespace tile

// rf_tile_row returns the row of the tile that is the calling thread's item.
//
// Cost: 2 integer operations
RF_PRIMITIVE int32_t rf_tile_row(int32_t item, int32_t threads) { return tile::row(item, threads); }

// rf_tile_live marks the items whose row is one of the tile's rows from the given
// first one to the one before the last, rows.
//
// Cost: an addition and a comparison an item
RF_PRIMITIVE void rf_tile_live(uint8_t *live, int32_t first, int32_t rows, int32_t threads, int32_t items) {
  uint32_t count = rows > first ? (uint32_t)rows - (uint32_t)first : 0;
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    live[i] = (uint32_t)tile::row(i, threads) - (uint32_t)first < count;
}

// rf_tile_load reads rows start to start + rows of a column into items, rows at
// least 1; those of later rows are unspecified. On a GPU start is a multiple of 4, the
// column one of 16 bytes, and up to three rows behind the last are read.
//
// Cost: items / 4 accesses of 4, 8 or 16 bytes (twice as many for width 8)
RF_PRIMITIVE void rf_tile_load(int64_t *out, const void *column, int32_t width, int64_t base, int64_t step,
                               int64_t start, int32_t rows, int32_t threads, int32_t items) {
  tile::load_width(out, column, width, base, step, start, rows, threads, items,
                   tile::All{});
}

// rf_tile_load_live is rf_tile_load for the live items alone; the others' words
// are unspecified. A chunk of four without a live row is not fetched.
//
// Cost: as rf_tile_load, less the chunks that are skipped
RF_PRIMITIVE void rf_tile_load_live(int64_t *out, const uint8_t *live, const void *column, int32_t width,
                                    int64_t base, int64_t step, int64_t start, int32_t rows, int32_t threads,
                                    int32_t items) {
  tile::load_width(out, column, width, base, step, start, rows, threads, items,
                   tile::Live{live});
}

// rf_tile_load_bits is rf_tile_load for packed offsets of a constant number of bits. On a
// GPU start is a multiple of 4.
//
// Cost: bits / 8 + 1 accesses of 4 bytes for four items, and 3 integer operations an item
RF_PRIMITIVE void rf_tile_load_bits(int64_t *out, const void *column, int32_t bits, int64_t base, int64_t step,
                                    int64_t start, int32_t rows, int32_t threads, int32_t items) {
  tile::load_bits(out, column, bits, base, step, start, rows, threads, items, tile::All{});
}

// rf_tile_load_bits_live is rf_tile_load_bits for the live items alone; the others' words
// are unspecified. A chunk of four without a live row is not fetched.
//
// Cost: as rf_tile_load_bits, less the chunks that are skipped
RF_PRIMITIVE void rf_tile_load_bits_live(int64_t *out, const uint8_t *live, const void *column, int32_t bits,
                                         int64_t base, int64_t step, int64_t start, int32_t rows, int32_t threads,
                                         int32_t items) {
  tile::load_bits(out, column, bits, base, step, start, rows, threads, items, tile::Live{live});
}

// rf_tile_store writes items to rows start to start + rows of a column, as
// offsets from base, which must fit the width. It is rf_tile_load's inverse for
// step 1; width 0 writes nothing.
//
// Cost: as rf_tile_load
RF_PRIMITIVE void rf_tile_store(void *column, int32_t width, int64_t base, const int64_t *words, int64_t start,
                                int32_t rows, int32_t threads, int32_t items) {
  switch (width) {
  case 1:
    return tile::store((uint8_t *)column + start, base, words, rows, threads, items);
  case 2:
    return tile::store((uint16_t *)column + start, base, words, rows, threads, items);
  case 4:
    return tile::store((uint32_t *)column + start, base, words, rows, threads, items);
  case 8:
    return tile::store((uint64_t *)column + start, base, words, rows, threads, items);
  }
}

// rf_column_word returns one entry of a column.
//
// Cost: one access, two or three nearby ones for packed offsets
RF_PRIMITIVE int64_t rf_column_word(const void *column, int32_t width, int64_t base, int64_t step, int64_t row) {
  uint64_t offset = 0;
  switch (width) {
  case 1:
    offset = ((const uint8_t *)column)[row];
    break;
  case 2:
    offset = ((const uint16_t *)column)[row];
    break;
  case 4:
    offset = ((const uint32_t *)column)[row];
    break;
  case 8:
    offset = ((const uint64_t *)column)[row];
    break;
  default:
    if (width > tile::PACKED)
      offset = tile::packed(column, width - tile::PACKED, row);
  }
  return tile::word_of(base, step, offset);
}

// rf_tile_gather reads the entries of a column at the given rows, for live
// items; the others' words are unspecified.
//
// Cost: one random access a live item, all independent
RF_PRIMITIVE void rf_tile_gather(int64_t *out, const uint8_t *live, const int64_t *rows, const void *column,
                                 int32_t width, int64_t base, int64_t step, int32_t items) {
  switch (width) {
  case 1:
    return tile::gather(out, live, rows, (const uint8_t *)column, base, step, items);
  case 2:
    return tile::gather(out, live, rows, (const uint16_t *)column, base, step, items);
  case 4:
    return tile::gather(out, live, rows, (const uint32_t *)column, base, step, items);
  case 8:
    return tile::gather(out, live, rows, (const uint64_t *)column, base, step, items);
  }
  if (width > tile::PACKED)
    return tile::gather_packed(out, live, rows, column, width - tile::PACKED, base, step, items);
  RF_UNROLL
  for (int32_t i = 0; i < items; i++)
    out[i] = base;
}
