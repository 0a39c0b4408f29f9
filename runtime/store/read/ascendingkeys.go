package read

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/redfoxdb/redfox/internal/parallel"
	"github.com/redfoxdb/redfox/internal/rowmarks"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Most writers keep rows in the order of their keys. Keys that ascend from row
// to row do not repeat: this is seen row group by row group, and no column is
// made of them.

// proveAscending proves the keys of all uses if they ascend and few rows of the
// file are wanted. Otherwise it proves nothing, and the columns of the keys are
// read, which the load may need then.
func (p *parquetLoad) proveAscending(ctx context.Context) (bool, error) {
	var keys [][]int
	most := 0
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
		}
		keys = append(keys, key)
		most = max(most, len(key))
	}
	room := wordBytes * p.longest() * int64(most*len(p.rooms))
	if p.opts.Bound > 0 && room > p.opts.Bound/inFlight {
		return false, nil
	}
	p.leaveUnread()
	p.setTests()
	if pays, err := p.selects(ctx); !pays || err != nil {
		return false, err
	}
	what := "proving keys of " + p.source.Path
	if err := p.ledger.Take(what, room); err != nil {
		return false, err
	}
	defer p.ledger.Give(room)
	for _, key := range keys {
		if len(keys) == 1 {
			if err := p.newMarked(key); err != nil {
				return false, err
			}
		}
		stats, err := p.ascending(ctx, key)
		if stats == nil || err != nil {
			p.dropMarked()
			return false, err
		}
		p.prove(key, stats)
	}
	return true, nil
}

// markedRows are the rows that pass the tests, and the words of a key for them.
// They are kept when the key is decoded to be proven, so that it is decoded
// once.
type markedRows struct {
	key    []int          // its fields
	rows   [][]bool       // of each row group; nil if no row passes, or if all do
	count  []int          // of each row group
	chunks [][]columnPart // of each field of the key, each row group
}

// newMarked begins to keep rows that pass.
func (p *parquetLoad) newMarked(key []int) error {
	if err := p.ledger.Take("selecting rows of "+p.source.Path, p.file.Rows); err != nil {
		return err
	}
	groups := len(p.file.Groups)
	p.marked = &markedRows{key: key, rows: make([][]bool, groups), count: make([]int, groups)}
	for range key {
		p.marked.chunks = append(p.marked.chunks, make([]columnPart, groups))
	}
	return nil
}

// dropMarked forgets the rows that pass.
func (p *parquetLoad) dropMarked() {
	if p.marked != nil {
		p.ledger.Give(p.file.Rows)
		p.marked = nil
	}
}

// mark tests the rows of a row group of which the words of the key are known.
func (p *parquetLoad) mark(ctx context.Context, t, g int, words [][]int64) error {
	m := p.marked
	if m == nil {
		return nil
	}
	n, err := p.testGroup(ctx, t, g)
	if err != nil {
		return err
	}
	marks := p.selected[t][:p.file.Groups[g].Rows]
	m.count[g] = n
	if n == 0 {
		return nil
	}
	if n < len(marks) {
		m.rows[g] = slices.Clone(marks)
	}
	for at, i := range m.key {
		if p.tests[i] != nil {
			continue
		}
		kept := words[at][:len(marks)]
		if n < len(marks) {
			kept = kept[:rowmarks.Compact(kept, marks)]
		}
		part := &m.chunks[at][g]
		for len(kept) > 0 {
			size := min(len(kept), int(batchRows))
			part.chunks = append(part.chunks, store.Narrow(p.fields[i].typ.Kind, kept[:size], 1))
			kept = kept[size:]
		}
	}
	return nil
}

// keyPart returns what was kept of a field of a key in a row group, nil if it
// was not kept.
func (p *parquetLoad) keyPart(i, g int) *columnPart {
	if p.marked == nil {
		return nil
	}
	at := slices.Index(p.marked.key, i)
	if at < 0 || p.marked.chunks[at][g].chunks == nil {
		return nil
	}
	return &p.marked.chunks[at][g]
}

const wordBytes = 8

// keyRun is the keys of the rows of a row group, which ascend.
type keyRun struct {
	rows        int
	first, last []int64
	low, high   []int64 // of each field
	leads       int64   // different words of the first field
}

// ascending returns what is known of the fields of a key if it ascends from row
// to row, and otherwise nil.
func (p *parquetLoad) ascending(ctx context.Context, key []int) ([]store.ColumnStats, error) {
	groups := len(p.file.Groups)
	runs := make([]*keyRun, groups)
	// seen has the lower bits of the words of all fields but the first.
	seen := make([][][]bool, len(p.rooms))
	words := make([][][]int64, len(p.rooms))
	for t := range p.rooms {
		for range key {
			words[t] = append(words[t], make([]int64, p.longest()))
			seen[t] = append(seen[t], make([]bool, 1<<16))
		}
	}
	parallel.By(len(p.rooms), groups, func(t, g int) {
		if p.stop(ctx, nil) {
			return
		}
		run, err := p.keysOf(ctx, t, g, key, words[t])
		switch {
		case err == nil && !run.scan(words[t], seen[t]):
			err = errUnread
		case err == nil:
			err = p.mark(ctx, t, g, words[t])
		}
		p.stop(ctx, err)
		runs[g] = run
	})
	if err := p.stopped; err != nil {
		if errors.Is(err, errUnread) {
			p.stopped, err = nil, nil
		}
		return nil, err
	}
	return joinRuns(runs, seen, len(key)), nil
}

// keysOf decodes the fields of a key in a row group. It returns errUnread if
// one of its rows has no value that the field can have.
func (p *parquetLoad) keysOf(
	ctx context.Context, t, g int, key []int, words [][]int64,
) (*keyRun, error) {
	run := &keyRun{rows: int(p.file.Groups[g].Rows)}
	for at, i := range key {
		part := &columnPart{}
		r := p.decoders[i].reader(p.file, g, nil, p.rooms[t], part)
		r.all = words[at]
		err := r.run(ctx, p.file, g)
		p.hasRead(i, g, part)
		if err == nil {
			err = p.whole(i, g, part)
		}
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		p.bytes += part.bytes
		p.mu.Unlock()
	}
	return run, nil
}

// scan sets what the run says of its words, and reports whether they ascend.
func (k *keyRun) scan(words [][]int64, seen [][]bool) bool {
	if k.rows == 0 {
		return true
	}
	lead := words[0][:k.rows]
	ok := false
	switch len(words) {
	case 1:
		k.leads, ok = ascendOne(lead)
	case 2:
		k.leads, ok = ascendTwo(lead, words[1][:k.rows])
	default:
		k.leads, ok = ascendAll(words, k.rows)
	}
	if !ok {
		return false
	}
	for at, column := range words {
		column = column[:k.rows]
		low, high := lead[0], lead[len(lead)-1]
		if at > 0 {
			low, high = int64(math.MaxInt64), int64(math.MinInt64)
			for _, w := range column {
				low, high = min(low, w), max(high, w)
				seen[at][uint16(w)] = true
			}
		}
		k.low, k.high = append(k.low, low), append(k.high, high)
		k.first, k.last = append(k.first, column[0]), append(k.last, column[k.rows-1])
	}
	return true
}

// ascendOne counts the words of a key of one field, and reports
// whether they ascend. Like ascendTwo it has no branch for a row: whether the
// first field of a key changes is hard to foresee.
func ascendOne(lead []int64) (leads int64, ok bool) {
	wrong := int64(0)
	before := lead[0]
	for _, w := range lead[1:] {
		wrong |= bit(w <= before)
		before = w
	}
	return int64(len(lead)), wrong == 0
}

// ascendTwo counts the different words of the first field of a key of two, and
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

// ascendAll is ascendTwo for any number of fields.
func ascendAll(words [][]int64, rows int) (leads int64, ok bool) {
	lead := words[0][:rows]
	leads = 1
	for i := 1; i < len(lead); i++ {
		if lead[i] > lead[i-1] {
			leads++
		} else if lead[i] < lead[i-1] || !ascends(words[1:], i) {
			return 0, false
		}
	}
	return leads, true
}

// ascends reports whether row i comes after the row before it.
func ascends(words [][]int64, i int) bool {
	for _, w := range words {
		if w[i] != w[i-1] {
			return w[i] > w[i-1]
		}
	}
	return false
}

// joinRuns returns the statistics of the fields of a key, or nil if a row group
// does not begin behind the one before it.
func joinRuns(runs []*keyRun, seen [][][]bool, fields int) []store.ColumnStats {
	stats := make([]store.ColumnStats, fields)
	var before *keyRun
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
		if before != nil {
			if slices.Compare(before.last, run.first) >= 0 {
				return nil
			}
			if before.last[0] == run.first[0] {
				leads--
			}
		}
		before = run
	}
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
