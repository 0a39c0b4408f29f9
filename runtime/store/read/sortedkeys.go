package read

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/hugepage"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/rowmarks"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Most writers keep rows in the order of the first field of their key. Then
// only neighbouring rows whose first fields are equal can repeat a key. This is
// checked one row group at a time, without building columns.

// errUnsorted means that keys are not in an order that proveSorted can use.
var errUnsorted = errors.New("keys are not in order")

// proveSorted proves the keys of all uses if their first fields are in order,
// proveSorted proves the keys of all uses if their first fields are in order,
// and either few rows of the file are wanted or nothing on the host reads the
// keys. It reads wanted rows at the same time. Otherwise it proves nothing, and
// the caller reads the columns of the keys, which the load may need anyway. It
// returns errUnsorted if keys turn out to be in another order.
func (p *parquetLoad) proveSorted(ctx context.Context) (bool, error) {
	if p.source.unsorted {
		return false, nil
	}
	var keys [][]int
	var fields []int // of all keys
	for u, use := range p.source.Uses {
		key := p.args[u][:use.Schema.Keys]
		if p.proofs[proofName(key)] != nil ||
			slices.ContainsFunc(keys, func(k []int) bool { return slices.Equal(k, key) }) {
			continue
		}
		for _, i := range key {
			if t := p.fields[i].typ; t.Word != scalar.Whole || t.Kind == scalar.Float {
				return false, nil
			}
			if !slices.Contains(fields, i) {
				fields = append(fields, i)
			}
		}
		if p.isUnsorted(key[0]) {
			return false, nil
		}
		keys = append(keys, key)
	}
	room := wordBytes * p.longest() * int64(len(fields)*len(p.rooms))
	if p.opts.Bound > 0 && room > p.opts.Bound/inFlight {
		return false, nil
	}
	p.assumed = true
	defer func() { p.assumed = false }()
	p.leaveUnread()
	p.setTests()
	pays, err := p.selects(ctx)
	if err != nil {
		return false, err
	}
	if !pays {
		encoded := p.keepsEncoded()
		if slices.ContainsFunc(fields, func(i int) bool {
			return !p.absent[i] && !(encoded && p.encodable[i] != nil)
		}) {
			return false, nil
		}
	}
	if err := p.ledger.Take("proving keys of "+p.source.Path, room); err != nil {
		return false, err
	}
	defer p.ledger.Give(room)
	if pays {
		p.chooseFields()
		p.selectedRows = make([]int64, len(p.file.Groups))
	}
	stats, err := p.sortedStats(ctx, keys, fields)
	if err != nil {
		return false, err
	}
	for k, key := range keys {
		p.prove(key, stats[k])
	}
	return true, nil
}

// isUnsorted reports whether statistics show that a field is not in order.
func (p *parquetLoad) isUnsorted(i int) bool {
	before := int64(math.MinInt64)
	for g := range p.file.Groups {
		s := p.file.Groups[g].Chunks[p.fields[i].index].Meta.Statistics
		if s == nil {
			continue
		}
		if least, most, ok := p.decoders[i].bounds(s.Min, s.Max); ok {
			if least < before {
				return true
			}
			before = most
		}
	}
	return false
}

const wordBytes = 8

// keyRun is the keys of the rows of a row group. They differ, and their first
// fields are in order.
type keyRun struct {
	rows        int
	first, last int64   // words of the first field
	low, high   []int64 // of each field
	leads       int64   // different words of the first field
	ascends     bool    // each key comes after the one before it
	// head has, for each further field, the words of the rows whose first field
	// is first; tail has those of the rows whose first field is last. If there
	// are very many, they have only the first or the last row.
	head, tail [][]int64
}

// mostAlike bounds the keys with the same first field that are compared.
const mostAlike = 1 << 12

// sortedStats returns the statistics of the fields of each key, if no two rows
// agree in it and its first field is in order. If rows are selected, it also
// reads the rows that pass the tests, so that a field is decoded once.
func (p *parquetLoad) sortedStats(
	ctx context.Context, keys [][]int, fields []int,
) ([][]store.ColumnStats, error) {
	runs := make([][]*keyRun, len(keys)) // of each key, each row group
	// seen has the lower bits of the words of all fields but the first.
	seen := make([][][][]bool, len(keys)) // of each key, each thread, each field
	for k, key := range keys {
		runs[k] = make([]*keyRun, len(p.file.Groups))
		seen[k] = make([][][]bool, len(p.rooms))
		for t := range p.rooms {
			for range key {
				seen[k][t] = append(seen[k][t], make([]bool, 1<<16))
			}
		}
	}
	p.words = make([][][]int64, len(p.rooms))
	defer func() { p.words = nil }()
	for t := range p.rooms {
		p.words[t] = make([][]int64, len(p.fields))
		for _, i := range fields {
			p.words[t][i] = hugepage.Advise(make([]int64, p.longest()))
		}
	}
	parallel.By(len(p.rooms), len(p.file.Groups), func(t, g int) {
		if p.stop(ctx, nil) {
			return
		}
		err := p.decodeKeys(ctx, t, g, fields)
		for k, key := range keys {
			if err != nil {
				break
			}
			runs[k][g] = &keyRun{rows: int(p.file.Groups[g].Rows)}
			words := list.Map(key, func(i int) []int64 { return p.words[t][i] })
			if !runs[k][g].scan(words, seen[k][t]) {
				err = errUnsorted
			}
		}
		if err == nil && p.selectedRows != nil {
			err = p.readGroup(ctx, t, g)
		}
		p.stop(ctx, err)
	})
	if p.stopped != nil {
		return nil, p.stopped
	}
	stats := make([][]store.ColumnStats, len(keys))
	for k, key := range keys {
		if stats[k] = joinRuns(runs[k], seen[k], len(key)); stats[k] == nil {
			return nil, errUnsorted
		}
	}
	return stats, nil
}

// decodeKeys decodes fields of a row group to words. It returns errUnread if
// one of its rows has no value that the field can have.
func (p *parquetLoad) decodeKeys(ctx context.Context, t, g int, fields []int) error {
	for _, i := range fields {
		part := &columnPart{}
		r := p.decoders[i].reader(p.file, g, nil, p.rooms[t], part)
		r.all = p.words[t][i]
		if err := p.readWhole(ctx, r, i, g, part); err != nil {
			return err
		}
		p.mu.Lock()
		p.bytes += part.bytes
		p.mu.Unlock()
	}
	return nil
}

// wordsOf returns the words of a field in the row group that a thread reads,
// nil if they are not decoded.
func (p *parquetLoad) wordsOf(t, i, g int) []int64 {
	if p.words == nil || p.words[t][i] == nil {
		return nil
	}
	return p.words[t][i][:p.file.Groups[g].Rows]
}

// pick makes chunks of the n words of rows that are marked. It overwrites the
// words.
func (p *parquetLoad) pick(i int, words []int64, n int, marks []bool) (chunks []store.Chunk) {
	if n < len(words) {
		words = words[:rowmarks.Compact(words, marks)]
	}
	for len(words) > 0 {
		size := min(len(words), int(batchRows))
		chunks = append(chunks, store.Narrow(p.fields[i].typ.Kind, words[:size], 1))
		words = words[size:]
	}
	return chunks
}

// scan computes the run of some words, and reports whether the keys are known
// to differ.
func (k *keyRun) scan(words [][]int64, seen [][]bool) bool {
	if k.rows == 0 {
		return true
	}
	lead, others := words[0][:k.rows], make([][]int64, len(words)-1)
	for at := range others {
		others[at] = words[at+1][:k.rows]
	}
	switch len(others) {
	case 0:
		k.leads, k.ascends = ascendOne(lead)
	case 1:
		k.leads, k.ascends = ascendTwo(lead, others[0])
	default:
		k.leads, k.ascends = ascendAll(lead, others)
	}
	if !k.ascends {
		ok := false
		if k.leads, ok = differ(lead, others); !ok {
			return false
		}
	}
	k.first, k.last = lead[0], lead[k.rows-1]
	k.low, k.high = append(k.low, k.first), append(k.high, k.last)
	until, from := 1, k.rows-1
	for until < k.rows && lead[until] == k.first {
		until++
	}
	for from > 0 && lead[from-1] == k.last {
		from--
	}
	until, from = min(until, mostAlike+1), max(from, k.rows-mostAlike-1)
	for at, column := range others {
		low, high := int64(math.MaxInt64), int64(math.MinInt64)
		for _, w := range column {
			low, high = min(low, w), max(high, w)
			seen[at+1][uint16(w)] = true
		}
		k.low, k.high = append(k.low, low), append(k.high, high)
		k.head = append(k.head, slices.Clone(column[:until]))
		k.tail = append(k.tail, slices.Clone(column[from:]))
	}
	return true
}

// ascendOne counts the distinct words of a key of one field, and reports
// whether they ascend. Like ascendTwo, it has no branch for each row, because
// changes of the first field are hard to predict.
func ascendOne(lead []int64) (leads int64, ok bool) {
	wrong := int64(0)
	before := lead[0]
	for _, w := range lead[1:] {
		wrong |= bit(w <= before)
		before = w
	}
	return int64(len(lead)), wrong == 0
}

// ascendTwo counts the distinct words of the first field of a key of two, and
// reports whether the rows ascend.
func ascendTwo(lead, second []int64) (leads int64, ok bool) {
	wrong, same := int64(0), int64(0)
	second = second[:len(lead)]
	before, last := lead[0], second[0]
	for i := 1; i < len(lead); i++ {
		w, x := lead[i], second[i]
		equal := bit(w == before)
		same += equal
		wrong |= bit(w < before) | equal&bit(x <= last)
		before, last = w, x
	}
	return int64(len(lead)) - same, wrong == 0
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// ascendAll is ascendTwo for any number of further fields.
func ascendAll(lead []int64, others [][]int64) (leads int64, ok bool) {
	leads = 1
	for i := 1; i < len(lead); i++ {
		if lead[i] > lead[i-1] {
			leads++
		} else if lead[i] < lead[i-1] || compareRows(others, i-1, i) >= 0 {
			return 0, false
		}
	}
	return leads, true
}

// differ counts the distinct words of the first field of a key, and reports
// whether it is in order and no two rows agree in all fields.
func differ(lead []int64, others [][]int64) (leads int64, ok bool) {
	for from := 0; from < len(lead); leads++ {
		until := from + 1
		for until < len(lead) && lead[until] == lead[from] {
			until++
		}
		if until < len(lead) && lead[until] < lead[from] || !unlike(others, from, until) {
			return 0, false
		}
		from = until
	}
	return leads, true
}

// fewAlike bounds the rows that are compared in pairs instead of sorted.
const fewAlike = 8

// unlike reports whether no two of some rows agree in all columns. It is false
// for many rows.
func unlike(columns [][]int64, from, until int) bool {
	n := until - from
	switch {
	case n > mostAlike:
		return false
	case n <= fewAlike:
		for i := from + 1; i < until; i++ {
			for j := from; j < i; j++ {
				if compareRows(columns, i, j) == 0 {
					return false
				}
			}
		}
		return true
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = from + i
	}
	compare := func(i, j int) int { return compareRows(columns, i, j) }
	if !slices.IsSortedFunc(rows, compare) {
		slices.SortFunc(rows, compare)
	}
	for i := 1; i < n; i++ {
		if compare(rows[i-1], rows[i]) == 0 {
			return false
		}
	}
	return true
}

// compareRows orders two rows by the columns.
func compareRows(columns [][]int64, i, j int) int {
	for _, c := range columns {
		if c[i] != c[j] {
			return cmp.Compare(c[i], c[j])
		}
	}
	return 0
}

// follows reports whether the first row of columns comes after the last row of
// others.
func follows(columns, others [][]int64) bool {
	for i, c := range columns {
		if last := others[i][len(others[i])-1]; c[0] != last {
			return c[0] > last
		}
	}
	return false
}

// joinRuns returns the statistics of the fields of a key, or nil if a row group
// does not begin after the end of the one before it.
func joinRuns(runs []*keyRun, seen [][][]bool, fields int) []store.ColumnStats {
	stats := make([]store.ColumnStats, fields)
	var before *keyRun
	// open has the further fields of the rows with the last word of the first.
	var open [][]int64
	inOrder := false // the rows of open ascend
	rows, leads := 0, int64(0)
	for _, run := range runs {
		if run.rows == 0 {
			continue
		}
		rows, leads = rows+run.rows, leads+run.leads
		for i := range stats {
			s := &stats[i]
			if before == nil {
				s.Min, s.Max = run.low[i], run.high[i]
			}
			s.Min, s.Max = min(s.Min, run.low[i]), max(s.Max, run.high[i])
		}
		switch {
		case before == nil || before.last < run.first:
			open, inOrder = run.tail, run.ascends
		case before.last > run.first || fields == 1:
			return nil
		default:
			leads--
			inOrder = inOrder && run.ascends && follows(run.head, open)
			with := run.head
			if run.leads == 1 {
				with = run.tail // only the last row, if there are very many
			}
			for i := range open {
				open[i] = append(open[i], with[i]...)
				open[i] = open[i][max(0, len(open[i])-mostAlike-1):]
			}
			if !inOrder && !unlike(open, 0, len(open[0])) {
				return nil
			}
			if run.leads > 1 {
				open, inOrder = run.tail, run.ascends
			}
		}
		before = run
	}
	stats[0].Ascending = true
	for i := range stats {
		s := &stats[i]
		span := uint64(s.Max) - uint64(s.Min)
		switch {
		case i == 0:
			s.Distinct = leads
		case span < 1<<16: // no two words have the same lower bits
			for bits := range seen[0][i] {
				if slices.ContainsFunc(seen, func(of [][]bool) bool { return of[i][bits] }) {
					s.Distinct++
				}
			}
		case span < uint64(rows):
			s.Distinct = int64(span) + 1
		default:
			s.Distinct = int64(rows)
		}
	}
	return stats
}
