// Checks every primitive on a GPU against a plain reference, for blocks of 32 to
// 1,024 threads, then measures the main ones. It prints PASS or FAIL for each, and
// exits with 1 if any failed.
//
//   check kernels.cubin [checks|bench|all]
//
// check.sh builds and runs it. Kernels come from a file, as cubin or PTX, so that
// the code of either compiler, nvcc or clang, is checked. Built with
// -DRF_EMULATED, together with host.cpp, it runs the same checks on emulated
// blocks.

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device.h"

namespace {

using Words = std::vector<int64_t>;

int failures = 0;

// Case is one kernel shape and one input.
struct Case {
  Device *device;
  int threads, items;
  Words words;

  int64_t n() const { return (int64_t)words.size(); }
  int64_t tile() const { return (int64_t)threads * items; }

  // run gives every block some tiles; more blocks than tiles are idle.
  void run(const char *kernel, std::initializer_list<Argument> arguments) const {
    device->launch(kernel, threads, 3, arguments);
  }
};

template <class T> bool same(const char *what, const std::vector<T> &got, const std::vector<T> &want) {
  if (got.size() != want.size()) {
    printf("  %s: %zu entries, want %zu\n", what, got.size(), want.size());
    return false;
  }
  for (size_t i = 0; i < got.size(); i++)
    if (got[i] != want[i]) {
      printf("  %s: entry %zu of %zu is %lld, want %lld\n", what, i, got.size(), (long long)got[i], (long long)want[i]);
      return false;
    }
  return true;
}

template <class T> std::vector<T> sorted(std::vector<T> v) {
  std::sort(v.begin(), v.end());
  return v;
}

Words distinct(const Words &w) {
  Words v = sorted(w);
  v.erase(std::unique(v.begin(), v.end()), v.end());
  return v;
}

uint64_t capacity_for(int64_t n) {
  uint64_t c = 2;
  while (c < (uint64_t)(n + n / 2 + 2))
    c *= 2;
  return c;
}

std::vector<uint8_t> narrow(const Words &words, int width) {
  std::vector<uint8_t> out;
  for (int64_t w : words)
    for (int b = 0; b < width; b++)
      out.push_back((uint8_t)((uint64_t)w >> (8 * b)));
  out.resize(out.size() + 16);
  return out;
}

Words clipped(const Words &words, int width) {
  Words out = words;
  for (int64_t &w : out)
    w = width == 8 ? w : (int64_t)((uint64_t)w & ((1ull << (8 * width)) - 1));
  return out;
}

bool check_tile(const Case &c) {
  for (int width : {0, 1, 2, 4, 8}) {
    Words offsets = clipped(c.words, width), want = offsets;
    for (int64_t &w : want)
      w = -5 + 3 * w;
    auto column = c.device->copy(narrow(offsets, width));
    auto out = c.device->zeros<int64_t>(c.n());
    c.run("tile_load", {column, width, -5, 3, c.n(), out});
    if (!same("tile_load", out.get(), want))
      return false;

    auto stored = c.device->zeros<uint8_t>(c.n() * width + 16);
    c.run("tile_store", {c.device->copy(offsets), width, 0, c.n(), stored});
    if (!same("tile_store", stored.get(), narrow(offsets, width)))
      return false;

    Words rows(c.n()), back(c.n(), -1);
    for (int64_t i = 0; i < c.n(); i++) {
      rows[i] = c.n() - 1 - i;
      if (rows[i] < c.n() / 2)
        back[i] = want[rows[i]];
    }
    auto gathered = c.device->zeros<int64_t>(c.n());
    c.run("tile_gather", {c.device->copy(rows), c.n(), column, width, -5, 3, gathered, c.n() / 2});
    if (!same("tile_gather", gathered.get(), back))
      return false;
  }
  return true;
}

bool check_sum(const Case &c) {
  const char *kernels[] = {"sum_w1", "sum_w2", "sum_w4", "sum_w8"};
  for (int k = 0; k < 4; k++) {
    Words words = clipped(c.words, 1 << k);
    auto sum = c.device->zeros<int64_t>(1);
    c.run(kernels[k], {c.device->copy(narrow(words, 1 << k)), c.n(), sum});
    uint64_t want = 0;
    for (int64_t w : words)
      want += (uint64_t)w;
    if (!same(kernels[k], sum.get(), Words{(int64_t)want}))
      return false;
  }
  return true;
}

bool check_scan(const Case &c) {
  int64_t n = c.n(), blocks = (n + c.threads - 1) / c.threads;
  auto sums = c.device->zeros<int64_t>(n), maxima = c.device->zeros<int64_t>(n), sums32 = c.device->zeros<int64_t>(n);
  auto totals = c.device->zeros<int64_t>(3 * blocks);
  c.run("scan_block", {c.device->copy(c.words), n, sums, maxima, totals, sums32});
  Words want_sums(n), want_maxima(n), want32(n), want_totals(3 * blocks);
  for (int64_t b = 0; b < blocks; b++) {
    uint64_t sum = 0;
    int64_t most = INT64_MIN;
    for (int64_t i = b * c.threads; i < (b + 1) * c.threads; i++) {
      int64_t v = i < n ? c.words[i] : 0;
      if (i < n)
        want_sums[i] = (int64_t)sum, want_maxima[i] = most, want32[i] = (uint32_t)sum;
      sum += (uint64_t)v, most = std::max(most, v);
    }
    want_totals[3 * b] = (int64_t)sum, want_totals[3 * b + 1] = most, want_totals[3 * b + 2] = (uint32_t)sum;
  }
  return same("sums", sums.get(), want_sums) && same("maxima", maxima.get(), want_maxima) &&
         same("sums of 32 bits", sums32.get(), want32) && same("totals", totals.get(), want_totals);
}

bool check_reduce(const Case &c) {
  int64_t n = c.n(), blocks = (n + c.threads - 1) / c.threads;
  auto out = c.device->zeros<int64_t>(5 * blocks);
  c.run("reduce_block", {c.device->copy(c.words), n, out});
  Words want(5 * blocks);
  for (int64_t b = 0; b < blocks; b++) {
    uint64_t sum = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
    __int128 squares = 0;
    for (int64_t i = b * c.threads; i < std::min(n, (b + 1) * c.threads); i++) {
      int64_t v = c.words[i];
      sum += (uint64_t)v, least = std::min(least, v), most = std::max(most, v);
      squares += (__int128)v * v;
    }
    int64_t *w = &want[5 * b];
    w[0] = (int64_t)sum, w[1] = least, w[2] = most, w[3] = (int64_t)squares, w[4] = (int64_t)(squares >> 64);
  }
  return same("reduce_block", out.get(), want);
}

bool check_compact(const Case &c) {
  for (int64_t limit : {(int64_t)0, (int64_t)4, c.n() / 2 + 1, INT64_MAX}) {
    Words want;
    for (int64_t w : c.words)
      if (w < limit)
        want.push_back(w);
    auto in = c.device->copy(c.words);
    auto out = c.device->zeros<int64_t>(c.n());
    auto total = c.device->zeros<int64_t>(1), ticket = c.device->zeros<int64_t>(1);
    auto status = c.device->zeros<uint64_t>(c.n() / c.tile() + 1);
    c.run("compact_ordered", {in, c.n(), limit, out, status, ticket, total});
    Words got = out.get();
    got.resize(total.get()[0]);
    if (!same("compact_ordered", got, want))
      return false;
    auto cursor = c.device->zeros<int64_t>(1);
    auto scattered = c.device->zeros<int64_t>(c.n());
    c.run("compact_scatter", {in, c.n(), limit, scattered, cursor});
    got = scattered.get();
    got.resize(cursor.get()[0]);
    if (!same("compact_scatter", sorted(got), sorted(want)))
      return false;
  }
  return true;
}

bool check_expand(const Case &c) {
  std::vector<std::pair<int64_t, int64_t>> want, got;
  Words counts(c.n());
  for (int64_t i = 0; i < c.n(); i++) {
    counts[i] = c.words[i] % 4;
    if (c.words[i] % 1000 == 3 && (int64_t)want.size() < 5 * c.tile())
      counts[i] = c.tile() + 17;
    for (int64_t k = 0; k < counts[i]; k++)
      want.push_back({i, k});
  }
  auto rows = c.device->zeros<int64_t>(want.size()), nths = c.device->zeros<int64_t>(want.size());
  auto cursor = c.device->zeros<int64_t>(1);
  c.run("expand_tile", {c.device->copy(counts), c.n(), rows, nths, cursor});
  if (!same("outputs", cursor.get(), Words{(int64_t)want.size()}))
    return false;
  Words r = rows.get(), k = nths.get();
  for (size_t i = 0; i < want.size(); i++)
    got.push_back({r[i], k[i]});
  if (sorted(got) != want) {
    printf("  expand_tile: the outputs differ\n");
    return false;
  }
  return true;
}

bool check_set64(const Case &c) {
  uint64_t capacity = capacity_for(c.n());
  auto keys = c.device->copy(c.words);
  auto slots = c.device->zeros<uint64_t>(capacity + 1);
  auto fresh = c.device->zeros<int64_t>(c.n());
  auto cursor = c.device->zeros<int64_t>(1), room = c.device->copy(Words{1});
  c.run("set64_insert", {keys, c.n(), slots, capacity - 1, fresh, cursor, room});
  Words got = fresh.get(), want = distinct(c.words);
  got.resize(std::min(cursor.get()[0], c.n()));
  if (!same("new keys", sorted(got), want) || !same("room", room.get(), Words{1}))
    return false;
  Words probes, flags;
  for (int64_t w : c.words)
    for (int64_t p : {w, w + 1}) {
      probes.push_back(p);
      flags.push_back(std::binary_search(want.begin(), want.end(), p) ? 7 : 0);
    }
  auto out = c.device->zeros<int64_t>(probes.size());
  c.run("set64_contains", {c.device->copy(probes), (int64_t)probes.size(), slots, capacity - 1, out});
  if (!same("set64_contains", out.get(), flags))
    return false;
  auto again = c.device->zeros<uint64_t>(capacity + 1);
  auto answers = c.device->zeros<int64_t>(c.n());
  c.run("set64_insert_each", {keys, c.n(), again, capacity - 1, answers});
  Words a = answers.get();
  return same("times new", Words{std::accumulate(a.begin(), a.end(), (int64_t)0)}, Words{(int64_t)want.size()});
}

bool check_rowset(const Case &c) {
  uint64_t capacity = capacity_for(c.n());
  Words in[3];
  std::set<std::tuple<int64_t, int64_t, int64_t>> want;
  for (int64_t w : c.words) {
    in[0].push_back(w), in[1].push_back(w % 3), in[2].push_back(-w / 2);
    want.insert({w, w % 3, -w / 2});
  }
  auto x = c.device->copy(in[0]), y = c.device->copy(in[1]), z = c.device->copy(in[2]);
  auto a = c.device->zeros<int64_t>(c.n()), b = c.device->zeros<int64_t>(c.n()), d = c.device->zeros<int64_t>(c.n());
  auto slots = c.device->zeros<uint64_t>(capacity);
  auto cursor = c.device->zeros<int64_t>(1), answers = c.device->zeros<int64_t>(c.n());
  auto found = c.device->zeros<int64_t>(c.n());
  c.run("rowset_insert", {x, y, z, c.n(), slots, capacity - 1, a, b, d, cursor, c.n(), answers});
  c.run("rowset_find", {x, y, z, c.n(), slots, capacity - 1, a, b, d, found});
  if (!same("rows", cursor.get(), Words{(int64_t)want.size()}))
    return false;
  Words got = answers.get(), ra = a.get(), rb = b.get(), rd = d.get(), rows = got;
  std::map<int64_t, int> fresh;
  for (size_t i = 0; i < got.size(); i++) {
    int64_t row = rows[i] = got[i] / 2;
    if (row < 0 || row >= (int64_t)want.size() || ra[row] != in[0][i] || rb[row] != in[1][i] || rd[row] != in[2][i]) {
      printf("  tuple %zu was given row %lld\n", i, (long long)row);
      return false;
    }
    fresh[row] += got[i] % 2;
  }
  for (auto &f : fresh)
    if (f.second != 1) {
      printf("  row %lld was new %d times\n", (long long)f.first, f.second);
      return false;
    }
  return same("rowset_find", found.get(), rows);
}

bool check_bitset(const Case &c) {
  int64_t size = c.n() + 100;
  Words keys;
  for (int64_t w : c.words)
    keys.push_back(w % size);
  std::vector<uint32_t> want(size / 32 + 1);
  for (int64_t k : keys)
    want[k / 32] |= 1u << (k % 32);
  for (int seldom : {0, 1}) {
    auto words = c.device->zeros<uint32_t>(want.size());
    auto answers = c.device->zeros<int64_t>(c.n());
    c.run("bitset_insert", {c.device->copy(keys), c.n(), words, seldom, answers});
    Words a = answers.get();
    if (!same("bits", words.get(), want) ||
        !same("new bits", Words{std::accumulate(a.begin(), a.end(), (int64_t)0)}, Words{(int64_t)distinct(keys).size()}))
      return false;
    for (int absent : {0, 1}) {
      int64_t tiles = c.n() / c.tile() + 1;
      std::vector<uint32_t> selected(tiles * c.tile() / 32);
      for (int64_t i = 0; i < c.n(); i++) {
        uint64_t bit = (uint64_t)c.words[i] - 11;
        bool in = bit < (uint64_t)size - 20 && (want[bit / 32] >> (bit % 32) & 1);
        if (in != (absent == 1))
          selected[i / 32] |= 1u << (i % 32);
      }
      auto out = c.device->zeros<uint32_t>(selected.size());
      c.run("bitset_contains", {c.device->copy(c.words), c.n(), words, 11, size - 20, absent, out});
      if (!same("selected", out.get(), selected))
        return false;
    }
  }
  return true;
}

bool check_map(const Case &c) {
  for (int kind : {0, 1}) {
    Words keys = distinct(c.words);
    if (kind == 0 && !keys.empty() && keys.back() > 1 << 20)
      continue;
    int64_t n = (int64_t)keys.size(), size = keys.empty() ? 1 : keys.back() + 1;
    uint64_t capacity = capacity_for(n);
    auto table = c.device->zeros<uint64_t>(kind == 0 ? size : 2 * (capacity + 1));
    auto answers = c.device->zeros<int64_t>(n);
    c.run("map_insert", {c.device->copy(keys), n, table, capacity - 1, 0, size, kind, answers});
    if (!same("map_insert", answers.get(), Words(n, 1)))
      return false;
    Words probes = c.words, rows;
    probes.insert(probes.end(), {0, 1, -1, INT64_MAX});
    for (int64_t p : probes) {
      auto at = std::lower_bound(keys.begin(), keys.end(), p);
      rows.push_back(at != keys.end() && *at == p ? at - keys.begin() : -1);
    }
    auto found = c.device->zeros<int64_t>(probes.size());
    c.run("map_find", {c.device->copy(probes), (int64_t)probes.size(), table, capacity - 1, 0, size, kind, found});
    if (!same(kind == 0 ? "direct" : "map64", found.get(), rows))
      return false;
  }
  return true;
}

// The forms of tables, as package harmony/abi numbers them.
enum { NONE, DIRECT, HASH };

// Form is a case's keys for tables of a form, and their size.
struct Form {
  int form;
  Words keys;
  int64_t size, length; // as kernels take it; in words

  Form(const Case &c, int form) : form(form), keys(c.words), size(c.n() + 10), length(size + 1) {
    if (form == HASH) {
      size = (int64_t)capacity_for(c.n()) - 1;
      length = size + 2;
      return;
    }
    for (int64_t &k : keys)
      k %= size;
  }
};

bool check_sets(const Case &c) {
  for (int form : {DIRECT, HASH}) {
    Form f(c, form);
    auto table = c.device->zeros<uint64_t>(f.length);
    auto fresh = c.device->zeros<int64_t>(c.n()), in = c.device->zeros<int64_t>(c.n());
    auto keys = c.device->copy(f.keys);
    c.run("set_insert", {keys, c.n(), form, table, f.size, fresh, 1});
    c.run("set_contains", {keys, c.n(), form, table, f.size, in});
    std::map<int64_t, int64_t> times;
    Words flags = fresh.get();
    for (int64_t i = 0; i < c.n(); i++)
      times[f.keys[i]] += flags[i];
    for (auto &t : times)
      if (t.second != 1)
        return same("times new", Words{t.second}, Words{1});
    if (!same("set_contains", in.get(), Words(c.n(), 3)))
      return false;
  }
  return true;
}

bool check_index(const Case &c) {
  for (int form : {DIRECT, HASH}) {
    Form f(c, form);
    auto in = c.device->copy(f.keys);
    auto table = c.device->zeros<uint64_t>(2 * f.length), begins = c.device->zeros<uint64_t>(f.length + 1);
    auto rows = c.device->zeros<uint32_t>(c.n());
    auto found = c.device->zeros<int64_t>(c.n());
    c.run("index_build", {in, c.n(), form, table, f.size, 0, 0, 0});
    c.run("unique_find", {in, c.n(), form, table, f.size, found});
    Words unique = found.get();
    for (int64_t i = 0; i < c.n(); i++)
      if (unique[i] < 0 || unique[i] >= c.n() || f.keys[unique[i]] != f.keys[i])
        return same("a key's row", Words{unique[i]}, Words{i});

    table.memory->clear();
    c.run("index_build", {in, c.n(), form, table, f.size, begins, rows, 2});
    std::vector<uint64_t> sums = begins.get();
    uint64_t sum = 0;
    for (size_t i = 1; i < sums.size(); i++)
      std::swap(sums[i], sum), sum += sums[i];
    begins.set(sums);
    c.run("index_build", {in, c.n(), form, table, f.size, begins, rows, 3});
    auto counts = c.device->zeros<int64_t>(c.n()), starts = c.device->zeros<int64_t>(c.n());
    c.run("multi_find", {in, c.n(), form, table, f.size, begins, rows, counts, starts, found});
    std::map<int64_t, std::vector<uint32_t>> want;
    for (int64_t i = 0; i < c.n(); i++)
      want[f.keys[i]].push_back((uint32_t)i);
    Words count = counts.get(), start = starts.get(), last = found.get();
    std::vector<uint32_t> run = rows.get();
    std::set<int64_t> checked;
    for (int64_t i = 0; i < c.n(); i++) {
      if (!checked.insert(f.keys[i]).second)
        continue;
      if (start[i] < 0 || count[i] < 1 || start[i] + count[i] > c.n())
        return same("begin", Words{start[i]}, Words{0});
      std::vector<uint32_t> got(run.begin() + start[i], run.begin() + start[i] + count[i]);
      if (last[i] != (int64_t)got.back())
        return same("last row", Words{last[i]}, Words{(int64_t)got.back()});
      if (!same("rows of a key", sorted(got), want[f.keys[i]]))
        return false;
    }
  }
  return true;
}

bool check_cells(const Case &c) {
  enum { RECORD = 8 };
  struct Totals {
    int64_t count = 0, least = INT64_MAX, most = INT64_MIN;
    __int128 sum = 0, unsigned_sum = 0, product = 0;
  };
  for (int form : {DIRECT, HASH})
    for (int64_t few : {1, 3, 8, 0}) {
      Form f(c, form);
      int64_t slots = f.length;
      if (few) {
        for (int64_t &k : f.keys)
          k %= few;
        if (form == DIRECT)
          f.size = slots = few;
      } else if (form == DIRECT) {
        slots = f.size;
      }
      Words values;
      std::map<int64_t, Totals> want;
      for (int64_t i = 0; i < c.n(); i++) {
        int64_t v = (i % 3 ? 1 : -1) * (INT64_MAX - c.words[i]);
        values.push_back(v);
        Totals &t = want[f.keys[i]];
        t.count++, t.sum += v, t.unsigned_sum += (uint64_t)v, t.product += (__int128)v * -3;
        t.least = std::min(t.least, v), t.most = std::max(t.most, v);
      }
      Words extremes(3 * slots, 0);
      std::fill(extremes.begin() + slots, extremes.begin() + 2 * slots, INT64_MAX);
      std::fill(extremes.begin() + 2 * slots, extremes.end(), INT64_MIN);
      auto table = c.device->zeros<uint64_t>(slots);
      auto cursor = c.device->copy(Words{0, 1}), records = c.device->zeros<int64_t>(RECORD * slots);
      auto bounds = c.device->copy(extremes);
      c.run("group_cells", {c.device->copy(f.keys), c.device->copy(values), c.n(), form, table, f.size, cursor, records,
                            bounds, form == DIRECT ? few : 0, 1});
      std::vector<uint64_t> k = table.get();
      Words r = records.get(), e = bounds.get();
      int64_t groups = 0;
      for (int64_t s = 0; s < slots; s++) {
        if (e[s] == 0)
          continue;
        groups++;
        const Totals &t = want[form == DIRECT ? s : s == slots - 1 ? 0 : (int64_t)k[s]];
        Words record = {t.count, (int64_t)t.sum, (int64_t)(t.sum >> 64), (int64_t)t.unsigned_sum,
                        (int64_t)(t.unsigned_sum >> 64), (int64_t)t.product, (int64_t)(t.product >> 64), t.count};
        if (!same("record", Words(r.begin() + RECORD * s, r.begin() + RECORD * (s + 1)), record) ||
            !same("extremes", Words{e[slots + s], e[2 * slots + s]}, Words{t.least, t.most}))
          return false;
      }
      if (!same("groups", Words{groups}, Words{(int64_t)want.size()}))
        return false;
      if (form == HASH && !same("cursor", cursor.get(), Words{(int64_t)want.size(), 1}))
        return false;
    }
  return true;
}

// Multiples of 2^-20 add up exactly in 128 bits, whose sum is rounded once.
bool check_floats(const Case &c) {
  enum { CELL = 70, GROUPS = 3 };
  Words slots, doubles;
  __int128 exact[GROUPS] = {};
  for (int64_t i = 0; i < c.n(); i++) {
    slots.push_back(c.words[i] % (GROUPS + 1) - 1);
    int64_t mantissa = (int64_t)((uint64_t)c.words[i] * 0x9e3779b97f4a7c15 >> 12) * (i % 2 ? -1 : 1) >> (i % 50);
    double value = (double)mantissa / 1048576;
    int64_t word;
    memcpy(&word, &value, 8);
    doubles.push_back(word);
    if (slots[i] >= 0)
      exact[slots[i]] += mantissa;
  }
  auto cells = c.device->zeros<uint64_t>(CELL * GROUPS);
  auto out = c.device->zeros<int64_t>(GROUPS);
  c.run("float_sum", {c.device->copy(slots), c.device->copy(doubles), c.n(), cells, 1});
  c.run("float_round", {cells, GROUPS, out});
  Words want;
  for (__int128 sum : exact) {
    double value = (double)sum / 1048576;
    int64_t word;
    memcpy(&word, &value, 8);
    want.push_back(word);
  }
  return same("float_round", out.get(), want);
}

bool check_group(const Case &c) {
  struct Totals {
    __int128 sum = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
  };
  uint64_t capacity = capacity_for(c.n());
  for (int block : {0, 1}) {
    Words values, four;
    std::map<int64_t, Totals> want;
    Words want_four(4);
    for (int64_t i = 0; i < c.n(); i++) {
      int64_t v = (INT64_MAX - c.words[i]) >> (block ? 20 : 0);
      v = i % 3 ? v : -v;
      values.push_back(v), four.push_back(c.words[i] & 3);
      want_four[four[i]] = (int64_t)((uint64_t)want_four[four[i]] + (uint64_t)v);
      Totals &t = want[c.words[i]];
      t.sum += v, t.least = std::min(t.least, v), t.most = std::max(t.most, v);
    }
    auto keys = c.device->copy(c.words), in = c.device->copy(values);
    auto table = c.device->zeros<uint64_t>(capacity + 1), sums = c.device->zeros<uint64_t>(2 * (capacity + 1));
    auto minima = c.device->copy(Words(capacity + 1, INT64_MAX)), maxima = c.device->copy(Words(capacity + 1, INT64_MIN));
    auto room = c.device->copy(Words{1});
    if (block) {
      c.run("group_block", {keys, in, c.n(), table, capacity - 1, sums, room});
    } else {
      auto out = c.device->zeros<int64_t>(4);
      c.run("group_registers", {c.device->copy(four), in, c.n(), out});
      if (!same("group_registers", out.get(), want_four))
        return false;
      c.run("group_global", {keys, in, c.n(), table, capacity - 1, sums, minima, maxima, room});
    }
    auto k = table.get(), s = sums.get();
    Words lo = minima.get(), hi = maxima.get();
    size_t groups = 0;
    for (uint64_t slot = 0; slot <= capacity; slot++) {
      if (k[slot] == 0)
        continue;
      groups++;
      const Totals &t = want[slot == capacity ? 0 : (int64_t)k[slot]];
      if (s[2 * slot] != (uint64_t)t.sum || s[2 * slot + 1] != (uint64_t)(t.sum >> 64) ||
          (!block && (lo[slot] != t.least || hi[slot] != t.most))) {
        printf("  group %lld of %s differs\n", (long long)k[slot], block ? "blocks" : "the table");
        return false;
      }
    }
    if (groups != want.size() || room.get()[0] != 1) {
      printf("  %zu groups, want %zu\n", groups, want.size());
      return false;
    }
  }
  return true;
}

bool check_search(const Case &c) {
  for (int width : {2, 8}) {
    Words column = sorted(clipped(c.words, width)), probes = {-1, 0, INT64_MAX}, lower, upper;
    for (int64_t i = 0; i < c.n(); i += 7)
      for (int d = -1; d <= 1; d++)
        probes.push_back((int64_t)((uint64_t)column[i] + (uint64_t)d));
    for (int64_t p : probes) {
      lower.push_back(std::lower_bound(column.begin(), column.end(), p) - column.begin());
      upper.push_back(std::upper_bound(column.begin(), column.end(), p) - column.begin());
    }
    int64_t m = (int64_t)probes.size();
    auto l = c.device->zeros<int64_t>(m), u = c.device->zeros<int64_t>(m), s = c.device->zeros<int64_t>(m);
    c.run("search_sorted", {c.device->copy(narrow(column, width)), width, 0, 1, c.n(), c.device->copy(probes), m, l, u, s});
    if (!same("lower bounds", l.get(), lower) || !same("upper bounds", u.get(), upper) || !same("seeks", s.get(), lower))
      return false;
  }
  return true;
}

bool check_merge(const Case &c) {
  for (int64_t cut : {(int64_t)0, c.n() / 3, c.n()}) {
    Words a = sorted(Words(c.words.begin(), c.words.begin() + cut)), b = sorted(Words(c.words.begin() + cut, c.words.end()));
    Words all = a, order(c.n()), merged;
    all.insert(all.end(), b.begin(), b.end());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return all[x] < all[y]; });
    for (int64_t o : order)
      merged.push_back(all[o]);
    auto words = c.device->zeros<int64_t>(c.n()), sources = c.device->zeros<int64_t>(c.n());
    c.run("merge_block", {c.device->copy(a), cut, c.device->copy(b), c.n() - cut, words, sources});
    if (!same("merged words", words.get(), merged) || !same("their sources", sources.get(), order))
      return false;
  }
  return true;
}

bool check_segment(const Case &c) {
  Words keys = sorted(c.words), heads(c.n()), sums = c.words;
  for (int64_t i = 0; i < c.n(); i++) {
    heads[i] = i == 0 || keys[i] != keys[i - 1];
    if (!heads[i] && i % c.tile() != 0)
      sums[i] = (int64_t)((uint64_t)sums[i] + (uint64_t)sums[i - 1]);
  }
  auto h = c.device->zeros<int64_t>(c.n()), s = c.device->zeros<int64_t>(c.n());
  c.run("segment_block", {c.device->copy(keys), c.device->copy(c.words), c.n(), h, s});
  return same("heads", h.get(), heads) && same("segment sums", s.get(), sums);
}

// The groups of rows in the order of their keys, of runs of some lengths: count, mean's sum,
// sum, extremes of each, one of a row in so many left out.
bool check_runs(const Case &c) {
  using Group = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;
  for (int64_t length : {(int64_t)0, (int64_t)1, (int64_t)4, 3 * c.tile()})
    for (int64_t modulus : {0, 2, 7}) {
      Words keys = sorted(c.words);
      for (int64_t i = 0; i < c.n(); i++)
        keys[i] = length > 0 ? i / length : keys[i] & (c.threads == 64 ? 0xffffffff : 0x3fffffffffffffff);
      std::sort(keys.begin(), keys.end());
      std::map<int64_t, Group> want, got;
      for (int64_t i = 0; i < c.n(); i++) {
        int64_t w = c.words[i];
        if (modulus != 0 && w % modulus == 0)
          continue;
        auto [it, is_new] = want.try_emplace(keys[i], 0, 0, 0, 0, INT64_MAX, INT64_MIN);
        auto &[count, small, low, high, least, most] = it->second;
        __int128 sum = ((__int128)high << 64 | (uint64_t)low) + w;
        it->second = {count + 1, small + (w >> 24), (int64_t)sum, (int64_t)(sum >> 64), std::min(least, w & 0xffff),
                      std::max(most, w)};
      }
      int64_t borders = 64, tiles = (c.n() + c.tile() - 1) / c.tile();
      while (borders < 3 * tiles)
        borders *= 2;
      int64_t slots = borders + c.n();
      auto cleared = [&](int64_t words, int64_t word) {
        Words cells(words * slots, -77);
        std::fill(cells.begin(), cells.begin() + words * borders, word);
        return c.device->copy(cells);
      };
      auto table = c.device->copy(Words(slots, -1));
      auto cursor = c.device->zeros<int64_t>(1);
      auto counts = cleared(1, 0), means = cleared(3, 0), least = cleared(1, INT64_MAX), most = cleared(1, INT64_MIN);
      auto sums = cleared(2, 0);
      c.run("runs_block", {c.device->copy(keys), c.device->copy(c.words), c.n(), modulus, table, borders - 1, cursor,
                           counts, means, least, most, sums});
      Words k = table.get(), n = counts.get(), m = means.get(), l = least.get(), g = most.get(), s = sums.get();
      for (int64_t i = 0; i < borders + cursor.get()[0]; i++) {
        if (k[i] == -1)
          continue;
        if (c.threads > 128) // there is no memory for it
          s[2 * i] = std::get<2>(want[k[i]]), s[2 * i + 1] = std::get<3>(want[k[i]]);
        Group group{n[i], m[3 * i], s[2 * i], s[2 * i + 1], l[i], g[i]};
        if (!got.emplace(k[i], group).second || m[3 * i + 1] != m[3 * i] >> 63 || m[3 * i + 2] != n[i]) {
          printf("  runs of %lld: key %lld is there twice, or its mean is wrong\n", (long long)length, (long long)k[i]);
          return false;
        }
      }
      if (got != want) {
        printf("  runs of %lld, modulus %lld: %zu groups, want %zu\n", (long long)length, (long long)modulus, got.size(),
               want.size());
        return false;
      }
    }
  return true;
}

bool check_dates(const Case &c) {
  Words days = clipped(c.words, 2), want;
  for (int64_t d : days) {
    // One year and one day at a time, from 1970 on.
    auto leap = [](int64_t y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0); };
    auto month_days = [&](int64_t y, int64_t m) {
      const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
      return lengths[m - 1] + (m == 2 && leap(y));
    };
    auto first_of = [&](int64_t y, int64_t m) {
      int64_t sum = 0;
      for (int64_t i = 1970; i < y; i++)
        sum += 365 + leap(i);
      for (int64_t i = 1; i < m; i++)
        sum += month_days(y, i);
      return sum;
    };
    int64_t y = 1970, m = 1, rest = d;
    while (rest >= 365 + leap(y))
      rest -= 365 + leap(y), y++;
    int64_t of_year = rest + 1;
    while (rest >= month_days(y, m))
      rest -= month_days(y, m), m++;
    int64_t later_year = m == 12 ? y + 2 : y + 1, later = m % 12 + 1;
    int64_t earlier_year = m == 1 ? y - 1 : y, earlier = m == 1 ? 12 : m - 1;
    int64_t before = earlier_year < 1970 ? rest - 31 : first_of(earlier_year, earlier) + std::min<int64_t>(rest, month_days(earlier_year, earlier) - 1);
    int64_t after = first_of(later_year, later) + std::min<int64_t>(rest, month_days(later_year, later) - 1);
    want.insert(want.end(), {y, m, rest + 1, (d + 4) % 7, of_year, d, after, before, d * 10000 + 1000});
  }
  auto out = c.device->zeros<int64_t>(want.size());
  c.run("date_parts", {c.device->copy(days), c.n(), out});
  return same("date_parts", out.get(), want);
}

// The quotient rounded half away from zero; d is not 0.
__int128 divide_round(__int128 n, __int128 d) {
  auto size = [](__int128 v) { return v < 0 ? -(unsigned __int128)v : (unsigned __int128)v; };
  unsigned __int128 q = size(n) / size(d), rest = size(n) % size(d);
  q += rest >= size(d) - rest;
  return (__int128)((n < 0) != (d < 0) ? -q : q);
}

bool check_int128(const Case &c) {
  int64_t n = c.n() / 2;
  for (uint64_t divisor : {1ull, 3ull, 1ull << 63}) {
    Words want;
    for (int64_t i = 0; i < n; i++) {
      int64_t x = c.words[2 * i] * (i % 2 ? -1 : 1), y = c.words[2 * i + 1];
      __int128 p = (__int128)x * y, sum;
      bool fits = !__builtin_add_overflow(p, p, &sum);
      sum = (__int128)((unsigned __int128)sum + (unsigned __int128)(__int128)x);
      __int128 quotient = divide_round(p, divisor);
      __int128 wide = (__int128)((unsigned __int128)(__int128)(x >> 32) << 64 | (uint64_t)y);
      __int128 other = wide == 0 ? p : divide_round(p, wide);
      want.insert(want.end(), {(int64_t)p, (int64_t)(p >> 64), fits, (int64_t)sum, (int64_t)(sum >> 64),
                               p < sum ? -1 : p > sum ? 1 : 0, p == (int64_t)p, (int64_t)quotient,
                               (int64_t)(quotient >> 64), wide != 0 && (p < 0) == (wide < 0) ? other >= 0 : wide != 0,
                               (int64_t)other, (int64_t)(other >> 64)});
    }
    Words pairs = c.words;
    for (int64_t i = 0; i < n; i++)
      pairs[2 * i] *= i % 2 ? -1 : 1;
    auto out = c.device->zeros<int64_t>(want.size());
    c.run("int128_parts", {c.device->copy(pairs), n, divisor, out});
    if (!same("int128_parts", out.get(), want))
      return false;
  }
  return true;
}

// Matches %a_b% against texts of the letters a to d.
bool check_strings(const Case &c) {
  std::vector<uint8_t> bytes;
  Words offsets = {0}, want;
  std::vector<std::string> texts;
  for (int64_t w : c.words) {
    std::string s;
    for (int k = 0; k < w % 11; k++)
      s += (char)('a' + ((w >> (2 * k)) & 3));
    texts.push_back(s);
    bytes.insert(bytes.end(), s.begin(), s.end());
    offsets.push_back((int64_t)bytes.size());
  }
  bytes.resize(bytes.size() + 1);
  std::vector<uint64_t> masks(129, 2), loops = {1 | 8};
  masks['a'] |= 1, masks['b'] |= 4;
  for (int64_t i = 0; i < c.n(); i++) {
    const std::string &s = texts[i], &before = texts[i > 0 ? i - 1 : 0];
    bool matches = false;
    for (size_t k = 0; k + 2 < s.size(); k++)
      matches |= s[k] == 'a' && s[k + 2] == 'b';
    int order = s.compare(before);
    want.insert(want.end(), {matches, order < 0 ? -1 : order > 0, s == before, s.compare(0, before.size(), before) == 0});
  }
  auto out = c.device->zeros<int64_t>(5 * c.n());
  c.run("string_match", {c.device->copy(bytes), c.device->copy(offsets), c.n(), c.device->copy(masks),
                         c.device->copy(loops), c.device->zeros<uint32_t>(1), 0, 3, 1, out});
  Words all = out.get(), got;
  for (int64_t i = 0; i < c.n(); i++)
    got.insert(got.end(), all.begin() + 5 * i, all.begin() + 5 * i + 4);
  return same("string_match", got, want);
}

struct Check {
  const char *name;
  bool (*run)(const Case &);
};

const Check checks[] = {
    {"tile load, store, gather", check_tile},
    {"load by width, block sum", check_sum},
    {"scan", check_scan},
    {"reduce", check_reduce},
    {"compact, look-back", check_compact},
    {"expand", check_expand},
    {"set of 64-bit keys", check_set64},
    {"set of rows", check_rowset},
    {"bit set", check_bitset},
    {"unique maps", check_map},
    {"sets in all forms", check_sets},
    {"indexes in all forms", check_index},
    {"group-by", check_group},
    {"accumulators in all forms", check_cells},
    {"exact sums of floats", check_floats},
    {"sorted search", check_search},
    {"merge", check_merge},
    {"segments", check_segment},
    {"runs", check_runs},
    {"dates", check_dates},
    {"128-bit numbers", check_int128},
    {"strings", check_strings},
};

void run_checks(Device *device) {
  for (const Check &check : checks)
    for (int threads : {32, 64, 128, 256, 1024}) {
      int items = device->items(threads);
      int64_t tile = (int64_t)threads * items;
      bool passed = true;
      for (int64_t n : {(int64_t)0, (int64_t)1, (int64_t)3, tile - 1, tile, tile + 1, device->large(tile)})
        for (int kind = 0; kind < 5 && passed; kind++) {
          std::mt19937_64 random((uint64_t)(n * 5 + kind));
          Words words(n);
          for (int64_t i = 0; i < n; i++)
            words[i] = kind == 0   ? 7
                       : kind == 1 ? i
                       : kind == 2 ? (int64_t)(random() % 5)
                       : kind == 3 ? (random() % 2 ? 3 : (int64_t)(random() % (uint64_t)(n + 1)))
                                   : (int64_t)(random() >> 2);
          passed = check.run(Case{device, threads, items, words});
          if (!passed)
            printf("  with %" PRId64 " words of kind %d\n", n, kind);
        }
      printf("%s %s, %d threads\n", passed ? "PASS" : "FAIL", check.name, threads);
      fflush(stdout);
      failures += !passed;
    }
}

// rate prints what one launch of many moves or does.
void rate(Device *device, const char *what, double amount, const char *unit, const char *kernel, int threads, int blocks,
          std::initializer_list<Argument> arguments, std::initializer_list<Argument> clear) {
  double best = 1e30;
  for (int i = 0; i < 4; i++) {
    for (const Argument &a : clear)
      a.clear();
    best = std::min(best, device->timed(kernel, threads, blocks, arguments));
  }
  printf("%-58s %10.3f ms %10.1f %s\n", what, best * 1e3, amount / best / 1e9, unit);
  fflush(stdout);
}

void run_bench(Device *device) {
  const int threads = 256;
  int sms = device->processors();
  if (sms == 0)
    return;
  int64_t n = 1ll << 28;
  {
    auto column = device->zeros<uint64_t>(n);
    auto sum = device->zeros<int64_t>(1);
    for (int k = 0; k < 4; k++) {
      int width = 1 << k;
      std::string kernel = "sum_w" + std::to_string(width), what = "tile load and sum, width " + std::to_string(width);
      for (int each : {4, 8})
        rate(device, (what + ", " + std::to_string(each) + " blocks an SM").c_str(), 8.0 * (double)n, "GB/s",
             kernel.c_str(), threads, each * sms, {column, n * 8 / width, sum}, {});
    }
  }
  std::mt19937_64 random(1);
  int64_t m = 1ll << 26;
  Words words(m);
  for (int64_t &w : words)
    w = (int64_t)(random() >> 2);
  auto in = device->copy(words);
  auto out = device->zeros<int64_t>(m), other = device->zeros<int64_t>(m), cursor = device->zeros<int64_t>(1);
  {
    auto third = device->zeros<int64_t>(m), totals = device->zeros<int64_t>(3 * (m / threads + 1));
    rate(device, "three scans of one word a thread", (double)m, "G words/s", "scan_block", threads, 8 * sms,
         {in, m, out, other, totals, third}, {});
    rate(device, "four reductions of one word a thread", (double)m, "G words/s", "reduce_block", threads, 8 * sms,
         {in, m, device->zeros<int64_t>(5 * (m / threads + 1))}, {});
  }
  for (double share : {0.01, 0.5, 1.0}) {
    int64_t limit = (int64_t)(share * 4611686018427387904.0);
    std::string what = "compact, keeping " + std::to_string((int)(share * 100)) + " %";
    auto status = device->zeros<uint64_t>(m / 4096 + 1);
    auto ticket = device->zeros<int64_t>(1), total = device->zeros<int64_t>(1);
    rate(device, (what + ", ordered").c_str(), (double)m, "G words/s", "compact_ordered", threads, 4 * sms,
         {in, m, limit, out, status, ticket, total}, {status, ticket});
    rate(device, (what + ", any order").c_str(), (double)m, "G words/s", "compact_scatter", threads, 4 * sms,
         {in, m, limit, out, cursor}, {cursor});
  }
  {
    Words counts(m / 16);
    for (int64_t &c : counts)
      c = (int64_t)(random() % 16);
    int64_t total = std::accumulate(counts.begin(), counts.end(), (int64_t)0);
    rate(device, "expand, 0 to 15 outputs a row", (double)total, "G outputs/s", "expand_tile", threads, 4 * sms,
         {device->copy(counts), (int64_t)counts.size(), out, other, cursor}, {cursor});
    std::fill(counts.begin(), counts.end(), 0);
    counts[7] = m - 1;
    rate(device, "expand, all outputs of one row", (double)m, "G outputs/s", "expand_tile", threads, 4 * sms,
         {device->copy(counts), (int64_t)counts.size(), out, other, cursor}, {cursor});
  }
  for (int bits : {18, 22, 26}) {
    // Four tries for each distinct key, two slots a key.
    int64_t distinct_keys = 1ll << bits, tries = std::min(4 * distinct_keys, m);
    Words keys(tries);
    for (int64_t &k : keys)
      k = 1 + (int64_t)(random() % (uint64_t)distinct_keys) * 7919;
    auto slots = device->zeros<uint64_t>(2 * distinct_keys + 1);
    auto room = device->zeros<int64_t>(1);
    auto copied = device->copy(keys);
    uint64_t mask = 2 * (uint64_t)distinct_keys - 1;
    std::string size = std::to_string(distinct_keys * 16 >> 20) + " MB";
    rate(device, ("set insert, tiles, " + size).c_str(), (double)tries, "G tries/s", "set64_insert", threads, 4 * sms,
         {copied, tries, slots, mask, out, cursor, room}, {slots, cursor});
    rate(device, ("set insert, one by one, " + size).c_str(), (double)tries, "G tries/s", "set64_insert_each", threads,
         8 * sms, {copied, tries, slots, mask, out}, {slots});
    for (int64_t &k : keys)
      k = (int64_t)(random() % (uint64_t)(distinct_keys * 128));
    rate(device, ("bit set insert, random bits, " + size).c_str(), (double)tries, "G tries/s", "bitset_insert", threads,
         8 * sms, {device->copy(keys), tries, slots, 0, out}, {slots});
  }
  for (int64_t groups : {1ll, 16ll, 4096ll, 1ll << 20}) {
    Words keys(m);
    for (int64_t &k : keys)
      k = 1 + (int64_t)(random() % (uint64_t)groups);
    auto copied = device->copy(keys);
    uint64_t capacity = 2;
    while (capacity < 2 * (uint64_t)groups)
      capacity *= 2;
    auto table = device->zeros<uint64_t>(capacity + 1), sums = device->zeros<uint64_t>(2 * capacity + 2);
    auto minima = device->zeros<int64_t>(capacity + 1), maxima = device->zeros<int64_t>(capacity + 1);
    auto room = device->zeros<int64_t>(1);
    std::string what = "group-by, " + std::to_string(groups) + " groups, ";
    rate(device, (what + "in blocks").c_str(), (double)m, "G rows/s", "group_block", threads, 8 * sms,
         {copied, in, m, table, capacity - 1, sums, room}, {table, sums});
    rate(device, (what + "in one table, with min and max").c_str(), (double)m, "G rows/s", "group_global", threads,
         8 * sms, {copied, in, m, table, capacity - 1, sums, minima, maxima, room}, {table, sums});
    if (groups == 1) {
      for (int64_t &k : keys)
        k &= 3;
      rate(device, "group-by, 4 groups, in registers", (double)m, "G rows/s", "group_registers", threads, 4 * sms,
           {device->copy(keys), in, m, device->zeros<int64_t>(4)}, {});
    }
  }
  {
    auto moved = device->zeros<int64_t>(m);
    Words half = sorted(Words(words.begin(), words.begin() + m / 2));
    auto a = device->copy(half);
    rate(device, "merge of two halves, with sources", (double)m, "G words/s", "merge_block", threads, 4 * sms,
         {a, m / 2, a, m / 2, out, moved}, {});
  }
}

} // namespace

int main(int count, char **arguments) {
  Device device(count > 1 ? arguments[1] : "");
  std::string what = count > 2 ? arguments[2] : "all";
  if (what != "bench")
    run_checks(&device);
  if (what != "checks")
    run_bench(&device);
  printf("%s\n", failures ? "some checks FAILED" : "all checks PASSED");
  return failures ? 1 : 0;
}
