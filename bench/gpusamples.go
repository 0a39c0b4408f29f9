package main

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/redfoxdb/redfox"
)

// Rates of one H200 with a driver for CUDA 13.0, of programs in CUDA C++ that
// do nothing else, best of three, measured on the day of bench/history.md.
const (
	readRate   = 4.54e12 // bytes a second that 16-byte loads read, 4 in flight a thread
	copyRate   = 4.26e12 // bytes a second, read and written
	insertRate = 20e9    // tries a second of insert-if-absent, 64-bit keys, 2 to 16 GB of table
)

// readText names readRate.
const readText = "read 4.54 TB/s"

// measuredRate is what random accesses to so many megabytes reach in a second.
type measuredRate struct{ megabytes, rate float64 }

var (
	gathers = []measuredRate{{8, 161e9}, {64, 76e9}, {512, 42e9}, {4096, 39e9}, {32768, 38e9}}
	atomics = []measuredRate{{8, 79e9}, {64, 36e9}, {490, 17e9}, {2048, 16e9}, {16384, 16e9}}
)

// at interpolates between sizes, in their logarithms.
func at(list []measuredRate, bytes float64) float64 {
	mb := bytes / 1e6
	if mb <= list[0].megabytes {
		return list[0].rate
	}
	for i, r := range list[1:] {
		if below := list[i]; mb <= r.megabytes {
			part := math.Log(mb/below.megabytes) / math.Log(r.megabytes/below.megabytes)
			return below.rate * math.Pow(r.rate/below.rate, part)
		}
	}
	return list[len(list)-1].rate
}

// atRate is the time of so much at a rate a second.
func atRate(n, rate float64) time.Duration {
	return time.Duration(n / rate * float64(time.Second))
}

// readOr is the ceiling of work that reads columns and does random accesses
// besides.
func readOr(bytes, accesses, rate float64, what string) (time.Duration, string) {
	read, random := atRate(bytes, readRate), atRate(accesses, rate)
	if random > read {
		return random, fmt.Sprintf("%s %.3g G/s", what, rate/1e9)
	}
	return read, readText
}

const sampleDeclaration = `
sample(id, day, discount, quantity, price, one, few, some, more, beyond, lots, plenty, many, most) ->
    int(id), int(day), int(discount), int(quantity), int(price),
    int(one), int(few), int(some), int(more), int(beyond), int(lots), int(plenty), int(many), int(most).
`

// samples measures selects, probes and groups over 600 million rows.
func (s *gpuSuite) samples(ctx context.Context) error {
	n := int(600e6 * s.scale)
	many, most := max(int(1e6*s.scale), 1000), max(int(100e6*s.scale), 2000)
	names := []string{"selects", "probe-1M", "probe-100M", "probe-hash-1M", "probe-hash-100M",
		"group-1", "group-4", "group-1000", "group-10k", "group-30k", "group-100k", "group-200k",
		"group-1M", "group-100M"}
	if !s.wantsAny(names) {
		return nil
	}
	start := time.Now()
	day := column[uint16](n, func(i uint64) uint64 { return below(mix(i), 2556) })
	discount := column[uint8](n, func(i uint64) uint64 { return below(mix(i+1<<40), 11) })
	quantity := column[uint8](n, func(i uint64) uint64 { return 1 + below(mix(i+2<<40), 50) })
	price := column[uint32](n, func(i uint64) uint64 { return 1 + below(mix(i+3<<40), 10_000_000) })
	few := column[uint8](n, func(i uint64) uint64 { return below(mix(i+4<<40), 4) })
	some := column[uint16](n, func(i uint64) uint64 { return below(mix(i+5<<40), 1000) })
	more := column[uint16](n, func(i uint64) uint64 { return below(mix(i+9<<40), 10_000) })
	beyond := column[uint16](n, func(i uint64) uint64 { return below(mix(i+11<<40), 30_000) })
	lots := column[uint32](n, func(i uint64) uint64 { return below(mix(i+10<<40), 100_000) })
	plenty := column[uint32](n, func(i uint64) uint64 { return below(mix(i+12<<40), 200_000) })
	manyOf := column[uint32](n, func(i uint64) uint64 { return below(mix(i+6<<40), uint64(many)) })
	mostOf := column[uint32](n, func(i uint64) uint64 { return below(mix(i+7<<40), uint64(most)) })
	one := make([]uint8, n)
	weight := func(i uint64) uint64 { return below(mix(i+8<<40), 1_000_000) }
	facts := redfox.NewFacts().
		Columns("sample", column[uint32](n, row), day, discount, quantity, price, one, few, some,
			more, beyond, lots, plenty, manyOf, mostOf).
		Columns("dim", column[uint32](many, row), column[uint32](many, weight)).
		Columns("large", column[uint32](most, row), column[uint32](most, weight)).
		Columns("sparse", column[uint64](many, spread), column[uint32](many, weight)).
		Columns("scattered", column[uint64](most, spread), column[uint32](most, weight))
	declarations := sampleDeclaration
	for _, d := range []string{"dim", "large", "sparse", "scattered"} {
		declarations += d + "[k] = w -> int(k), int(w).\n"
	}
	text := func(rules string) []redfox.Source {
		return []redfox.Source{redfox.Text("program.logic", declarations+rules)}
	}
	loader, err := redfox.Compile(ctx, text(""), redfox.Options{})
	if err != nil {
		return err
	}
	db, err := loader.Load(ctx, facts, redfox.LoadOptions{Threads: s.threads})
	if err != nil {
		return err
	}
	fmt.Printf("%d rows made and loaded in %.3g s\n", n, time.Since(start).Seconds())

	jobs := []*job{{
		name: "selects", output: "_", rows: int64(n), unit: "rows", bytes: int64(n) * 8,
		program: text("_[] = t <- agg<<t = total(r)>> sample(_, day, discount, quantity, price, _, _, _, _, _, _, _, _, _),\n" +
			"    day < 365, 1 <= discount <= 3, quantity < 25, r = price * discount.\n"),
		ceiling: atRate(float64(n)*8, readRate), ceilingOf: readText,
		bar:  atRate(float64(n)*8, 0.8*4.5e12),
		peer: "Crystal, 4-byte columns, this card: 2.91 ms",
	}}
	if s.wants("selects", true) {
		jobs[0].check = wantValue("_", sum(n, func(i int) int64 {
			if day[i] < 365 && 1 <= discount[i] && discount[i] <= 3 && quantity[i] < 25 {
				return int64(price[i]) * int64(discount[i])
			}
			return 0
		}))
	}
	for _, p := range []struct {
		name, dim, key string
		keys           int
		of             []uint32
		bar            float64 // probes a second
		slot           float64 // bytes of table a key
	}{
		{"probe-1M", "dim", "many", many, manyOf, 70e9, 4},
		{"probe-100M", "large", "most", most, mostOf, 25e9, 4},
		{"probe-hash-1M", "sparse", "many", many, manyOf, 0, 32},
		{"probe-hash-100M", "scattered", "most", most, mostOf, 0, 32},
	} {
		if !s.wants(p.name, true) {
			continue
		}
		key := p.key
		if p.slot > 4 {
			key += fmt.Sprintf(" * %d", spreadBy)
		}
		j := &job{
			name: p.name, output: "_", rows: int64(n), unit: "probes",
			bytes:   int64(n)*4 + int64(p.keys)*4,
			program: text(fmt.Sprintf("_[] = t <- agg<<t = total(w)>> sample(_, _, _, _, _, _, _, _, _, _, _, _, many, most), %s[%s] = w.\n", p.dim, key)),
			check: wantValue("_", sum(n, func(i int) int64 {
				return int64(weight(uint64(p.of[i])))
			})),
		}
		j.ceiling, j.ceilingOf = readOr(float64(j.bytes), float64(n),
			at(gathers, float64(p.keys)*p.slot), "gather")
		if p.bar > 0 {
			j.bar = atRate(float64(n), p.bar)
			j.peer = "Crystal, tables in L2, this card: 70 to 110 G/s"
		}
		jobs = append(jobs, j)
	}
	for _, g := range []struct {
		name, column string
		groups       int
		width        int64
		of           func(i int) int
	}{
		{"group-1", "one", 1, 0, func(int) int { return 0 }},
		{"group-4", "few", 4, 1, func(i int) int { return int(few[i]) }},
		{"group-1000", "some", 1000, 2, func(i int) int { return int(some[i]) }},
		{"group-10k", "more", 10_000, 2, func(i int) int { return int(more[i]) }},
		{"group-30k", "beyond", 30_000, 2, func(i int) int { return int(beyond[i]) }},
		{"group-100k", "lots", 100_000, 4, func(i int) int { return int(lots[i]) }},
		{"group-200k", "plenty", 200_000, 4, func(i int) int { return int(plenty[i]) }},
		{"group-1M", "many", many, 4, func(i int) int { return int(manyOf[i]) }},
		{"group-100M", "most", most, 4, func(i int) int { return int(mostOf[i]) }},
	} {
		if !s.wants(g.name, true) {
			continue
		}
		rule := fmt.Sprintf("sums[%s] = t <- agg<<t = total(price)>> sample(_, _, _, _, price, one, few, some, more, beyond, lots, plenty, many, most).\n", g.column)
		groups, check := checkGroups(n, g.groups, g.of, price)
		j := &job{
			name: g.name, output: "sums", rows: int64(n), unit: "rows",
			bytes:   int64(n)*(4+g.width) + groups*12,
			program: text(rule),
			check:   wantRows("sums", groups),
			verify: text(rule +
				"_[] = c <- agg<<c = total(w)>> sums[g] = t, w = int:mod[t, 1009] * int:mod[g, 1013].\n"),
			verified: check,
		}
		switch {
		case g.groups <= 1000:
			j.bar = atRate(1.3*float64(j.bytes), readRate)
			fallthrough
		case g.groups <= 200_000: // in shared memory
			j.ceiling, j.ceilingOf = atRate(float64(j.bytes), readRate), readText
		default:
			j.ceiling, j.ceilingOf = readOr(float64(j.bytes), float64(n),
				at(atomics, float64(g.groups)*16), "atomics")
		}
		if g.name == "group-1M" {
			j.bar = atRate(float64(n), 10e9)
		}
		jobs = append(jobs, j)
	}
	s.measure(ctx, db, jobs...)
	return nil
}

// spreadBy keeps keys that are far apart from being looked up by position.
const spreadBy = 4_294_967_311

func spread(i uint64) uint64 { return i * spreadBy }

// checkGroups sums the prices of groups on the host. It returns how many groups
// there are and what the program that verifies them computes.
func checkGroups(n, groups int, of func(i int) int, price []uint32) (present, check int64) {
	totals := make([]int64, groups)
	everywhere(n, func(from, to int) {
		// Few groups would be one line of memory for all threads.
		mine := totals
		if groups <= 10_000 {
			mine = make([]int64, groups)
		}
		for i := from; i < to; i++ {
			if groups <= 10_000 {
				mine[of(i)] += int64(price[i])
			} else {
				atomic.AddInt64(&mine[of(i)], int64(price[i]))
			}
		}
		if groups <= 10_000 {
			for g, t := range mine {
				atomic.AddInt64(&totals[g], t)
			}
		}
	})
	for g, t := range totals {
		if t > 0 { // prices are
			present++
			check += t % 1009 * (int64(g) % 1013)
		}
	}
	return present, check
}

// wantsAny reports whether one of the rows is wanted.
func (c config) wantsAny(names []string) bool {
	for _, name := range names {
		if c.wants(name, true) {
			return true
		}
	}
	return false
}

// large measures the reading of one column of 8 GiB, and the insertion of as
// many keys into a set, a quarter of them new.
func (s *gpuSuite) large(ctx context.Context) error {
	if !s.wantsAny([]string{"reduce", "insert"}) {
		return nil
	}
	power := 31 + int(math.Round(math.Log2(s.scale)))
	n, keyBits := 1<<power, power-2
	start := time.Now()
	const declaration = "long(id, x) -> int(id), int(x).\n"
	loader, err := redfox.Compile(ctx, []redfox.Source{redfox.Text("program.logic", declaration)},
		redfox.Options{})
	if err != nil {
		return err
	}
	facts := redfox.NewFacts().Columns("long", column[uint32](n, row),
		column[uint32](n, func(i uint64) uint64 { return permute(i, keyBits) }))
	db, err := loader.Load(ctx, facts, redfox.LoadOptions{Threads: s.threads})
	if err != nil {
		return err
	}
	fmt.Printf("%d rows made and loaded in %.3g s\n", n, time.Since(start).Seconds())
	text := func(rules string) []redfox.Source {
		return []redfox.Source{redfox.Text("program.logic", declaration+rules)}
	}
	keys := int64(1) << keyBits
	hi, lo := bits.Mul64(uint64(4*keys), uint64(keys-1))
	insert := "keys(h) <- long(_, x), h = x * 4294967311.\n"
	s.measure(ctx, db, &job{
		name: "reduce", output: "_", rows: int64(n), unit: "rows", bytes: int64(n) * 4,
		program: text("_[] = t <- agg<<t = total(x)>> long(_, x).\n"),
		ceiling: atRate(float64(n)*4, readRate), ceilingOf: readText,
		bar:   atRate(float64(n)*4, 4.1e12),
		check: wantValue("_", int64(hi<<63|lo>>1)),
	}, &job{
		name: "insert", output: "keys", rows: int64(n), unit: "tries", bytes: int64(n)*4 + keys*8,
		program: text(insert), check: wantRows("keys", keys),
		ceiling: atRate(float64(n), insertRate), ceilingOf: "insert-if-absent 20 G/s",
		bar:      atRate(float64(n), 16e9),
		verify:   text(insert + "_[] = c <- agg<<c = total(r)>> keys(h), r = int:mod[h, 1009].\n"),
		verified: sum(int(keys), func(i int) int64 { return int64(i) * spreadBy % 1009 }),
	})
	return nil
}

// sorting measures the numbering of 2^28 tuples in their order: of words, each
// as wide as a pair of 32 bits, and of pairs of which the first number, that no
// two have in common, says the order.
func (s *gpuSuite) sorting(ctx context.Context) error {
	n := int(math.Round(s.scale * (1 << 28)))
	for _, j := range []*job{{
		name: "sort", output: "sorted", rows: int64(n), unit: "words", bytes: int64(n) * 16,
		program: sortProgram("sorted[i] = x <- seq<<>> word(x).\n"),
		check:   wantRows("sorted", int64(n)),
		ceiling: atRate(float64(n)*16*8, copyRate), ceilingOf: "8 passes at 4.26 TB/s",
		verify: sortProgram("sorted[i] = x <- seq<<>> word(x).\n" +
			"_[] = c <- agg<<c = count()>> sorted[i] = a, sorted[i + 1] = b, a < b.\n"),
		verified: int64(n) - 1,
	}, {
		name: "sort-pairs", output: "sorted", rows: int64(n), unit: "pairs", bytes: int64(n) * 16,
		program: sortProgram(pairsRule), check: wantRows("sorted", int64(n)),
		ceiling: pairsCeiling(n), ceilingOf: pairsCeilingText, bar: pairsBar,
		// All are in order, and each has the value that its key determines.
		verify: sortProgram(pairsRule +
			"_[] = c <- agg<<c = count()>> sorted(i; a, v), sorted(i + 1; b, _), a < b, pair[a] = v.\n"),
		verified: int64(n) - 1,
	}} {
		if !s.wants(j.name, true) {
			continue
		}
		start := time.Now()
		facts := redfox.NewFacts()
		if j.name == "sort" {
			facts.Columns("word", column[uint64](n, mix))
		} else {
			facts.Columns("pair", column[uint32](n, func(i uint64) uint64 {
				return permute(i, 32)
			}), column[uint32](n, row))
		}
		loader, err := redfox.Compile(ctx, sortProgram(""), redfox.Options{})
		if err != nil {
			return err
		}
		db, err := loader.Load(ctx, facts, redfox.LoadOptions{Threads: s.threads})
		if err != nil {
			return err
		}
		fmt.Printf("%d tuples made and loaded in %.3g s\n", n, time.Since(start).Seconds())
		s.measure(ctx, db, j)
	}
	return nil
}

const pairsRule = "sorted(i; k, v) -> int(i), int(k), int(v).\nsorted(i; k, v) <- seq<<>> pair[k] = v.\n"

func sortProgram(rules string) []redfox.Source {
	return []redfox.Source{redfox.Text("program.logic",
		"word(x) -> uint(x).\npair[k] = v -> int(k), int(v).\n"+rules)}
}
