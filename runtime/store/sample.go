package store

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// SampleRows is how many rows a sample has, unless the table has fewer. A share
// that is estimated from them has a standard error of at most 1.6 %.
const SampleRows = 1 << 10

// Sample is some rows of a table, one from each of SampleRows equal parts, and
// what they say of its columns. All rows of a smaller table are in it. Equal
// tables have equal samples. It costs a read of the rows only, however long the
// table is.
type Sample struct {
	Rows    []int // ascending
	Columns []ColumnSample
}

// ColumnSample is what the rows of a sample say of a column.
type ColumnSample struct {
	Words []int64 // of the sample's rows
	// Equal and Rising are the shares of neighbours in the table of which the
	// second equals the first, and of which it is no less, in the order of the
	// type. A column whose values lie next to each other has a high Equal, a
	// sorted one a Rising of 1. Without neighbours both are 1.
	Equal, Rising float64
	// Top are the most frequent words that the sample shows more than once,
	// with their shares of the rows, the most frequent first.
	Top []WordShare
}

// WordShare is a word of a column and its share of the rows.
type WordShare struct {
	Word  int64
	Share float64
}

// maxTop is how many of the most frequent words a sample lists.
const maxTop = 16

// Sampled says what Sample returns: a sample of the same table that was drawn
// earlier.
func (t *Table) Sampled(s *Sample) { t.sample = s }

// Sample draws a sample of the table's rows.
func (t *Table) Sample() *Sample {
	if t.sample != nil {
		return t.sample
	}
	s := &Sample{Rows: SampledRows(t.Rows), Columns: make([]ColumnSample, len(t.Columns))}
	for i, c := range t.Columns {
		s.Columns[i] = c.Sample(s.Rows)
	}
	return s
}

// SampledRows returns the rows that the sample of a table has.
func SampledRows(rows int) []int {
	out := make([]int, min(rows, SampleRows))
	for i := range out {
		// Not every k-th row: tables have periods.
		from, until := i*rows/len(out), (i+1)*rows/len(out)
		out[i] = from + int(scalar.Mix(uint64(i))%uint64(until-from))
	}
	return out
}

// NewColumnSample returns what the words of a sample's rows, and what was
// counted of their neighbours, say of a column.
func NewColumnSample(words []int64, equal, rising float64) ColumnSample {
	return ColumnSample{Words: words, Equal: equal, Rising: rising, Top: topWords(words)}
}

// clusterRows is how many neighbours the rows of a sample are that come from
// pages: to have one row of a page, all rows before it are decoded.
const clusterRows = 16

// ClusteredRows is SampledRows for tables with columns that have Encoded set.
func ClusteredRows(rows int) []int {
	if rows <= SampleRows {
		return SampledRows(rows)
	}
	out := make([]int, 0, SampleRows)
	const clusters = SampleRows / clusterRows
	for i := range clusters {
		from, until := i*rows/clusters, (i+1)*rows/clusters
		from += int(scalar.Mix(uint64(i)) % uint64(until-from-clusterRows+1))
		for k := range clusterRows {
			out = append(out, from+k)
		}
	}
	return out
}

// Sample returns what the rows of its table's sample say of the column.
func (c *Column) Sample(rows []int) ColumnSample {
	if c.Absent {
		return ColumnSample{Words: make([]int64, len(rows))}
	}
	return SampleOf(c.Type.Kind, c.n, rows, c.Word)
}

// SampleOf is Column.Sample for n words of a kind, of which word returns those
// of the rows and of the rows behind them.
func SampleOf(k scalar.Kind, n int, rows []int, word func(row int) int64) ColumnSample {
	s := ColumnSample{Words: make([]int64, len(rows)), Equal: 1, Rising: 1}
	pairs, equal, rising := 0, 0, 0
	for i, r := range rows {
		w := word(r)
		s.Words[i] = w
		if r+1 == n {
			continue
		}
		pairs++
		switch next := word(r + 1); {
		case next == w:
			equal++
			rising++
		case orderKeyOf(k, next) > orderKeyOf(k, w):
			rising++
		}
	}
	if pairs > 0 {
		s.Equal, s.Rising = float64(equal)/float64(pairs), float64(rising)/float64(pairs)
	}
	s.Top = topWords(s.Words)
	return s
}

// orderKeyOf maps a word so that keys as unsigned numbers have the order of the
// type.
func orderKeyOf(k scalar.Kind, w int64) uint64 {
	switch k {
	case scalar.Int, scalar.Decimal, scalar.Datetime:
		return uint64(w) ^ 1<<63
	case scalar.Float:
		return floatKey(w)
	}
	return uint64(w)
}

// topWords returns the most frequent of the words, each of which is there
// twice.
func topWords(words []int64) []WordShare {
	sorted := slices.Sorted(slices.Values(words))
	var out []WordShare
	for from := 0; from < len(sorted); {
		until := from + 1
		for until < len(sorted) && sorted[until] == sorted[from] {
			until++
		}
		if until-from > 1 {
			out = append(out, WordShare{sorted[from], float64(until-from) / float64(len(sorted))})
		}
		from = until
	}
	slices.SortStableFunc(out, func(a, b WordShare) int { return cmp.Compare(b.Share, a.Share) })
	return out[:min(len(out), maxTop):min(len(out), maxTop)]
}
