package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
)

// samples are the table that selects, probes and groups read, and the tables
// that probes look up. All numbers are pseudo-random.
type samples struct {
	n, many, most int // rows of sample; of the smaller and the larger tables
	specs         []sampleColumn
	names         []string // of columns
	columns       map[string]numbers
	declarations  string
}

// sampleColumn is a column of numbers from least to least+count-1.
type sampleColumn struct {
	name               string
	seed, least, count uint64
}

// newSamples declares 600 million rows at scale 1. facts generates them.
func newSamples(scale float64) *samples {
	t := &samples{n: int(600e6 * scale), many: max(int(1e6*scale), 1000),
		most: max(int(100e6*scale), 2000), names: []string{"id"}, columns: map[string]numbers{}}
	t.specs = []sampleColumn{
		{"day", 0, 0, 2556}, {"discount", 1, 0, 11}, {"quantity", 2, 1, 50},
		{"price", 3, 1, 10_000_000}, {"one", 13, 0, 1}, {"few", 4, 0, 4}, {"some", 5, 0, 1000},
		{"more", 9, 0, 10_000}, {"beyond", 11, 0, 30_000}, {"lots", 10, 0, 100_000},
		{"plenty", 12, 0, 200_000}, {"many", 6, 0, uint64(t.many)}, {"most", 7, 0, uint64(t.most)},
	}
	for _, c := range t.specs {
		t.names = append(t.names, c.name)
	}
	t.declarations = fmt.Sprintf("%s -> int(%s).\n", t.sample(t.names...),
		strings.Join(t.names, "), int("))
	for _, table := range []string{"dim", "large", "sparse", "scattered"} {
		t.declarations += table + "[k] = w -> int(k), int(w).\n"
	}
	return t
}

// facts generates the tables. Keys of sparse and scattered are far apart, so
// that they are not looked up by position.
func (t *samples) facts() *driver.Facts {
	sample := []any{column[uint32](t.n, row)}
	for _, c := range t.specs {
		t.columns[c.name] = randomNumbers(t.n, c.seed, c.least, c.count)
		sample = append(sample, t.columns[c.name].values)
	}
	return driver.NewFacts().Columns("sample", sample...).
		Columns("dim", column[uint32](t.many, row), column[uint32](t.many, weight)).
		Columns("large", column[uint32](t.most, row), column[uint32](t.most, weight)).
		Columns("sparse", column[uint64](t.many, spread), column[uint32](t.many, weight)).
		Columns("scattered", column[uint64](t.most, spread), column[uint32](t.most, weight))
}

// weight returns the value of a key in the tables that probes look up.
func weight(i uint64) uint64 { return below(mix(i+8<<40), 1_000_000) }

// sample returns the atom over some columns.
func (t *samples) sample(used ...string) string {
	args := slices.Clone(t.names)
	for i, name := range args {
		if !slices.Contains(used, name) {
			args[i] = "_"
		}
	}
	return "sample(" + strings.Join(args, ", ") + ")"
}

// program returns rules over the tables.
func (t *samples) program(rules string) []driver.Source {
	return []driver.Source{driver.Text("program.logic", t.declarations+rules)}
}

// samples measures selects, probes and groups.
func (s *gpuSuite) samples(ctx context.Context) error {
	t := newSamples(s.scale)
	jobs := slices.Concat([]*job{t.selects()}, t.probes(), t.groups())
	if !slices.ContainsFunc(jobs, func(j *job) bool { return s.wants(j.name, true) }) {
		return nil
	}
	start := time.Now()
	db, err := s.loadColumns(ctx, t.program(""), t.facts())
	if err != nil {
		return err
	}
	fmt.Printf("%d rows made and loaded in %.3g s\n", t.n, time.Since(start).Seconds())
	s.measure(ctx, db, jobs...)
	return nil
}

// loadColumns loads generated columns.
func (s *gpuSuite) loadColumns(ctx context.Context, declarations []driver.Source,
	facts *driver.Facts) (*driver.Database, error) {
	loader, err := driver.Compile(ctx, declarations, driver.Options{})
	if err != nil {
		return nil, err
	}
	return loader.Load(ctx, facts, driver.LoadOptions{Threads: s.threads})
}

// selects is a sum over rows that pass three filters.
func (t *samples) selects() *job {
	bytes := int64(t.n) * 8
	return &job{name: "selects", output: "_", rows: int64(t.n), unit: "rows", bytes: bytes,
		program: t.program("_[] = t <- agg<<t = total(r)>> " +
			t.sample("day", "discount", "quantity", "price") + ",\n" +
			"    day < 365, 1 <= discount <= 3, quantity < 25, r = price * discount.\n"),
		bar: float64(bytes) / (0.8 * 4.5e12), peer: "Crystal, 4-byte columns, this card: 2.91 ms",
		prepare: func(j *job) {
			day, discount := t.columns["day"].at, t.columns["discount"].at
			quantity, price := t.columns["quantity"].at, t.columns["price"].at
			j.check = wantValue("_", sum(t.n, func(i int) int64 {
				if d := discount(i); day(i) < 365 && 1 <= d && d <= 3 && quantity(i) < 25 {
					return int64(price(i) * d)
				}
				return 0
			}))
		}}
}

// probes are sums over the values of keys in other tables, which are looked up
// by position or, if the keys are far apart, by hashing.
func (t *samples) probes() (jobs []*job) {
	for _, p := range []struct {
		name, table, key string
		keys             int
		bar              float64 // probes a second; 0 if there is none
		slot             float64 // bytes of table a key
	}{
		{"probe-1M", "dim", "many", t.many, 70e9, 4},
		{"probe-100M", "large", "most", t.most, 25e9, 4},
		{"probe-hash-1M", "sparse", "many", t.many, 0, 32},
		{"probe-hash-100M", "scattered", "most", t.most, 0, 32},
	} {
		key := p.key
		if p.slot > 4 {
			key += fmt.Sprintf(" * %d", spreadBy)
		}
		bytes := int64(t.n)*4 + int64(p.keys)*4
		j := &job{name: p.name, output: "_", rows: int64(t.n), unit: "probes", bytes: bytes,
			program: t.program(fmt.Sprintf("_[] = t <- agg<<t = total(w)>> %s, %s[%s] = w.\n",
				t.sample(p.key), p.table, key)),
			ceiling: readOr(bytes, t.n, at(gathers, float64(p.keys)*p.slot), "gather"),
			prepare: func(j *job) {
				of := t.columns[p.key].at
				j.check = wantValue("_", sum(t.n, func(i int) int64 {
					return int64(weight(of(i)))
				}))
			}}
		if p.bar > 0 {
			j.bar = float64(t.n) / p.bar
			j.peer = "Crystal, tables in L2, this card: 70 to 110 G/s"
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// sharedGroups is the number of groups up to which a block of a GPU aggregates
// in shared memory.
const sharedGroups = 200_000

// groups are totals by columns with different numbers of values.
func (t *samples) groups() (jobs []*job) {
	for _, g := range []struct {
		name, column string
		groups       int
		width        int64 // bytes of a group's number
	}{
		{"group-1", "one", 1, 0}, {"group-4", "few", 4, 1}, {"group-1000", "some", 1000, 2},
		{"group-10k", "more", 10_000, 2}, {"group-30k", "beyond", 30_000, 2},
		{"group-100k", "lots", 100_000, 4}, {"group-200k", "plenty", 200_000, 4},
		{"group-1M", "many", t.many, 4}, {"group-100M", "most", t.most, 4},
	} {
		rule := fmt.Sprintf("sums[%s] = t <- agg<<t = total(price)>> %s.\n", g.column,
			t.sample("price", g.column))
		jobs = append(jobs, &job{name: g.name, output: "sums", rows: int64(t.n), unit: "rows",
			program: t.program(rule),
			verify: t.program(rule +
				"_[] = c <- agg<<c = total(w)>> sums[g] = t, w = int:mod[t, 1009] * int:mod[g, 1013].\n"),
			prepare: func(j *job) {
				present, check := checkGroups(t.n, g.groups, t.columns[g.column].at,
					t.columns["price"].at)
				j.check, j.verified = wantRows("sums", present), check
				j.bytes = int64(t.n)*(4+g.width) + present*12
				if g.groups <= 1000 {
					j.bar = 1.3 * float64(j.bytes) / readRate
				} else if g.groups > sharedGroups {
					j.ceiling = readOr(j.bytes, t.n, at(atomics, float64(g.groups)*16), "atomics")
				}
				if g.name == "group-1M" {
					j.bar = float64(t.n) / 10e9
				}
			}})
	}
	return jobs
}

// spreadBy is the distance between keys that are too far apart to be looked up
// by position.
const spreadBy = 4_294_967_311

func spread(i uint64) uint64 { return i * spreadBy }

// checkGroups sums the prices of groups on the host. It returns the number of
// groups that occur, and the value of the program that verifies them.
func checkGroups(n, groups int, of, price func(i int) uint64) (present, check int64) {
	totals := make([]int64, groups)
	everywhere(n, func(from, to int) {
		// Few groups would be one line of memory for all threads.
		mine := totals
		if groups <= 10_000 {
			mine = make([]int64, groups)
		}
		for i := from; i < to; i++ {
			if groups <= 10_000 {
				mine[of(i)] += int64(price(i))
			} else {
				atomic.AddInt64(&mine[of(i)], int64(price(i)))
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
