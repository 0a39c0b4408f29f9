package main

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/graphgen"
)

// large measures reading one column of 8 GiB, and inserting its numbers into a
// set. A quarter of them is new.
func (s *gpuSuite) large(ctx context.Context) error {
	if !s.wantsAny("reduce", "insert") {
		return nil
	}
	power := 31 + int(math.Round(math.Log2(s.scale)))
	n, keyBits := 1<<power, power-2
	start := time.Now()
	const declaration = "long(id, x) -> int(id), int(x).\n"
	text := func(rules string) []driver.Source {
		return []driver.Source{driver.Text("program.logic", declaration+rules)}
	}
	facts := driver.NewFacts().Columns("long", column[uint32](n, row),
		column[uint32](n, func(i uint64) uint64 { return graphgen.Permute(i, keyBits) }))
	db, err := s.loadColumns(ctx, text(""), facts)
	if err != nil {
		return err
	}
	fmt.Printf("%d rows made and loaded in %.3g s\n", n, time.Since(start).Seconds())
	keys := int64(1) << keyBits
	hi, lo := bits.Mul64(uint64(4*keys), uint64(keys-1))
	insert := "keys(h) <- long(_, x), h = x * 4294967311.\n"
	s.measure(ctx, db, &job{
		name: "reduce", output: "_", rows: int64(n), unit: "rows", bytes: int64(n) * 4,
		program: text("_[] = t <- agg<<t = total(x)>> long(_, x).\n"),
		bar:     float64(n) * 4 / 4.1e12,
		check:   wantValue("_", int64(hi<<63|lo>>1)),
	}, &job{
		name: "insert", output: "keys", rows: int64(n), unit: "tries", bytes: int64(n)*4 + keys*8,
		program: text(insert), check: wantRows("keys", keys),
		ceiling:  ceiling{float64(n) / insertRate, "insert-if-absent 20 G/s"},
		bar:      float64(n) / 16e9,
		verify:   text(insert + "_[] = c <- agg<<c = total(r)>> keys(h), r = int:mod[h, 1009].\n"),
		verified: sum(int(keys), func(i int) int64 { return int64(i) * spreadBy % 1009 }),
	})
	return nil
}

// sorting measures the numbering of 2^28 tuples in their order: words of 64
// bits, and pairs of 32 bits whose first numbers are distinct.
func (s *gpuSuite) sorting(ctx context.Context) error {
	n := int(math.Round(s.scale * (1 << 28)))
	for _, j := range []*job{{
		name: "sort", output: "sorted", rows: int64(n), unit: "words", bytes: int64(n) * 16,
		program: sortProgram("sorted[i] = x <- seq<<>> word(x).\n"),
		check:   wantRows("sorted", int64(n)),
		ceiling: ceiling{float64(n) * 16 * 8 / copyRate, "8 passes at 4.26 TB/s"},
		verify: sortProgram("sorted[i] = x <- seq<<>> word(x).\n" +
			"_[] = c <- agg<<c = count()>> sorted[i] = a, sorted[i + 1] = b, a < b.\n"),
		verified: int64(n) - 1,
	}, {
		name: "sort-pairs", output: "sorted", rows: int64(n), unit: "pairs", bytes: int64(n) * 16,
		program: sortProgram(pairsRule), check: wantRows("sorted", int64(n)),
		ceiling: pairsCeiling(n), bar: pairsBar,
		// All tuples are in order, and each value follows from its key.
		verify: sortProgram(pairsRule +
			"_[] = c <- agg<<c = count()>> sorted(i; a, v), sorted(i + 1; b, _), a < b, pair[a] = v.\n"),
		verified: int64(n) - 1,
	}} {
		if !s.wants(j.name, true) {
			continue
		}
		start := time.Now()
		facts := driver.NewFacts()
		if j.name == "sort" {
			facts.Columns("word", column[uint64](n, mix))
		} else {
			facts.Columns("pair", column[uint32](n, func(i uint64) uint64 {
				return graphgen.Permute(i, 32)
			}), column[uint32](n, row))
		}
		db, err := s.loadColumns(ctx, sortProgram(""), facts)
		if err != nil {
			return err
		}
		fmt.Printf("%d tuples made and loaded in %.3g s\n", n, time.Since(start).Seconds())
		s.measure(ctx, db, j)
	}
	return nil
}

const pairsRule = "sorted(i; k, v) -> int(i), int(k), int(v).\nsorted(i; k, v) <- seq<<>> pair[k] = v.\n"

func sortProgram(rules string) []driver.Source {
	return []driver.Source{driver.Text("program.logic",
		"word(x) -> uint(x).\npair[k] = v -> int(k), int(v).\n"+rules)}
}
