package store

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/scalar"
)

const (
	// longestRun is the number of rows with one word up to which they are
	// compared with each other, and meanRun their number by the statistics.
	longestRun = 4096
	meanRun    = 64
	// shortRun is the number of rows up to which each is compared with each.
	shortRun = 16
)

// uniqueInRuns reports whether no two rows agree in all columns, if a column
// ascends whose runs of equal words are short: equal rows are in one run. Files
// are often sorted by an identifier that has a few rows. It is not ok if there
// is no such column.
func uniqueInRuns(ctx context.Context, with Sorting, cols []*Column, rows int) (unique, ok bool,
	err error) {
	at := slices.IndexFunc(cols, func(c *Column) bool {
		return c.Stats.Ascending && c.Stats.Distinct >= int64(rows/meanRun)
	})
	if at < 0 || len(cols) == 1 {
		return false, false, nil
	}
	lead, others := cols[at], slices.Delete(slices.Clone(cols), at, at+1)
	var repeats, isLong atomic.Bool
	parallel.Do(parallel.Threads(with.Threads), (rows+orderRows-1)/orderRows, func(i int) {
		if repeats.Load() || isLong.Load() || ctx.Err() != nil {
			return
		}
		r := readRuns(lead, others, i*orderRows, min((i+1)*orderRows+longestRun, rows))
		for from := r.first; from < r.count && r.from+from < (i+1)*orderRows; {
			to := from + 1
			for to < r.count && r.lead[to] == r.lead[from] {
				to++
			}
			if to == r.count && r.from+to < rows && to-from >= longestRun {
				isLong.Store(true)
				return
			}
			if r.hasRepeat(from, to) {
				repeats.Store(true)
				return
			}
			from = to
		}
	})
	return !repeats.Load(), !isLong.Load(), context.Cause(ctx)
}

// runs are some rows, of which the words of the leading column and a hash of
// the others were read.
type runs struct {
	from   int // the first row
	first  int // of them, that begins a run
	count  int
	lead   []int64
	hashes []uint64
	others []*Column
}

// readRuns reads rows from one up to another one.
func readRuns(lead *Column, others []*Column, from, to int) *runs {
	r := &runs{from: from, count: to - from, lead: make([]int64, to-from),
		hashes: make([]uint64, to-from), others: others}
	lead.Read(r.lead, from)
	if from > 0 {
		before := lead.Word(from - 1)
		for r.first < r.count && r.lead[r.first] == before {
			r.first++
		}
	}
	words := make([]int64, BlockRows)
	for _, c := range others {
		for at := 0; at < r.count; at += BlockRows {
			part := words[:min(BlockRows, r.count-at)]
			c.Read(part, from+at)
			for i, w := range part {
				r.hashes[at+i] = scalar.Mix(r.hashes[at+i] ^ uint64(w))
			}
		}
	}
	return r
}

// hasRepeat reports whether two rows of a run are equal.
func (r *runs) hasRepeat(from, to int) bool {
	if to-from > shortRun {
		sorted := slices.Clone(r.hashes[from:to])
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) == to-from {
			return false
		}
	}
	same := rowComparer(r.others)
	for i := from + 1; i < to; i++ {
		for k := from; k < i; k++ {
			if r.hashes[i] == r.hashes[k] && same(uint32(r.from+i), uint32(r.from+k)) {
				return true
			}
		}
	}
	return false
}
