package store

import (
	"cmp"
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// SampleRows is the number of rows in a sample, unless the table has fewer. A
// share that is estimated from a sample has a standard error of at most 1.6 %.
const SampleRows = 1 << 10

// Sample is some rows of a table, one from each of SampleRows equal parts, and
// statistics of the columns over these rows. It has all rows of a smaller
// table. Equal tables have equal samples. The cost does not depend on the
// length of the table, because only the sampled rows are read.
type Sample struct {
	Rows    []int // ascending
	Columns []ColumnSample
}

// ColumnSample is the statistics of a column over the rows of a sample.
type ColumnSample struct {
	Words []int64 // of the sample's rows
	// Equal and Rising are about pairs of neighbouring rows in the table. Equal
	// is the share of pairs whose words are equal. Rising is the share of pairs
	// whose second word is at least the first one, in the order of the type. A
	// clustered column has a high Equal; a sorted one has a Rising of 1.
	// Without neighbours both are 1.
	Equal, Rising float64
	// Top has the words that occur more than once in the sample, with their
	// shares of the rows, the most frequent first. It has at most maxTop words.
	Top []WordShare
}

// WordShare is a word of a column and its share of the rows.
type WordShare struct {
	Word  int64
	Share float64
}

// maxTop bounds the most frequent words that a sample lists.
const maxTop = 16

// Sampled sets the result of Sample to a sample that was drawn from the same
// table earlier.
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

// SampledRows returns the rows in the sample of a table with the given number
// of rows.
func SampledRows(rows int) []int {
	out := make([]int, min(rows, SampleRows))
	for i := range out {
		// The row is a pseudo-random one of its part, not every k-th row,
		// because tables have periods.
		from, until := i*rows/len(out), (i+1)*rows/len(out)
		out[i] = from + int(scalar.Mix(uint64(i))%uint64(until-from))
	}
	return out
}

// NewColumnSample returns the sample of a column with the given words, and with
// the shares of equal and rising neighbours.
func NewColumnSample(words []int64, equal, rising float64) ColumnSample {
	return ColumnSample{Words: words, Equal: equal, Rising: rising, Top: topWords(words)}
}

// clusterRows is the number of neighbouring rows that a sample takes at once
// from encoded pages. Reading one row of a page decodes all rows before it.
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

// Sample returns the statistics of the column over the rows of its table's
// sample.
func (c *Column) Sample(rows []int) ColumnSample {
	if c.Absent {
		return ColumnSample{Words: make([]int64, len(rows))}
	}
	return SampleOf(c.Type.Kind, c.n, rows, c.Word)
}

// SampleOf is Column.Sample for a column of n words of a kind. word returns the
// word of a row; it is called with the sampled rows and the row after each.
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

// orderKeyOf maps a word to an unsigned number, so that the numbers have the
// order of the type.
func orderKeyOf(k scalar.Kind, w int64) uint64 {
	switch k {
	case scalar.Int, scalar.Decimal, scalar.Datetime:
		return uint64(w) ^ 1<<63
	case scalar.Float:
		return floatKey(w)
	}
	return uint64(w)
}

// topWords returns the most frequent words among those that occur more than
// once.
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
