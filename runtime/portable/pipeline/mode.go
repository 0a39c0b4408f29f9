package pipeline

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/columns"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
	"github.com/redfoxdb/redfox/runtime/portable/work"
)

// mode computes a queryplan.Mode. In a round that is worth a tally, the command
// of the tally finds the mode of each group while it counts. Counts and their
// maxima are then not made.
type mode struct {
	queryplan.Mode
	*tallying
	plain *aggregation // of the mode, over counts

	found  bool // in this round
	chosen *bag
}

// modeOf returns the mode that a command is part of; nil if there is none.
func (c *Compiler) modeOf(cmd *queryplan.Assign) *mode {
	for _, m := range c.modes[c.block] {
		if m.Tally == cmd || m.Most == cmd {
			return m
		}
	}
	return nil
}

// findModes notes the modes of a block.
func (c *Compiler) findModes(b *queryplan.Block) {
	if _, done := c.modes[b]; done {
		return
	}
	c.modes[b] = nil
	for _, m := range c.Flow.Modes(b) {
		c.modes[b] = append(c.modes[b], &mode{Mode: m})
	}
}

// take makes a tallying that of the mode whose tally is compiled.
func (m *mode) take(n *queryplan.Aggregate, t *tallying) {
	if m.Tally.Node == n {
		m.tallying = t
	}
}

// pick makes an aggregation that of the mode whose label it picks; not ok if
// the labels do not order by words.
func (m *mode) pick(n *queryplan.Aggregate, a *aggregation) bool {
	if m.Pick != n || m.tallying == nil || !a.Accs[0].IsExtreme() {
		return false
	}
	m.plain = a
	return true
}

// columns returns the columns of the result.
func (m *mode) columns() []columns.Column {
	out := m.plain.columns()
	for i := range out {
		at := m.Value
		if i < len(m.By) {
			at = m.By[i]
		}
		out[i].Bound = out[i].Bound.Union(m.cols[at].Bound)
	}
	return out
}

// count finds the modes of a round, and reports whether it is worth a tally.
func (m *mode) count(r *work.Run) bool {
	m.drop(r)
	if m.found = m.plain != nil; m.found {
		m.makeTally(r)
		m.found = m.fill(r)
	}
	if m.found {
		m.chosen = m.rows(r)
	}
	return m.found
}

// drop frees the modes of the round before.
func (m *mode) drop(r *work.Run) {
	if m.chosen != nil {
		m.chosen.release(r.Mem)
		m.chosen = nil
	}
}

// rows returns the modes.
func (m *mode) rows(r *work.Run) *bag {
	acc := m.plain.Accs[0]
	ranges := m.tally.Modes(r, acc.Type.Kind, acc.Fn == queryplan.Max)
	out := &bag{parts: make([]part, len(ranges))}
	r.Tasks(len(ranges), func(i int) {
		from, p := &ranges[i], &out.parts[i]
		p.n = len(from.Groups)
		room := func() []int64 {
			col := work.Alloc[int64](r.Mem, m.plain.Name, p.n)
			p.cols = append(p.cols, col)
			return col
		}
		for _, at := range m.By {
			field := 0 // among those of groups
			for _, ofValues := range m.ofValues[:at] {
				field += work.Bit(!ofValues)
			}
			layout, keys := m.tally.Keys()
			layout.UnpackAt(room(), keys, from.Groups, field)
		}
		layout, keys := m.tally.Labels()
		layout.UnpackAt(room(), keys, from.Labels, 0)
		from.Free(r.Mem)
	})
	return out
}

// compute returns the modes of the round.
func (m *mode) compute(r *work.Run) *bag {
	if m.found {
		return m.chosen
	}
	return m.plain.compute(r)
}

// assign is the run of a command of the mode: it does nothing in rounds that
// have found the modes. A table that is not filled is empty.
func (m *mode) assign(r *work.Run, t *tables.Table, isTally bool, run func() Done) func() Done {
	return func() Done {
		if isTally && m.count(r) || !isTally && m.found {
			had := t.Detach()
			t.TakeNew()
			t.Publish()
			t.FreeChunks(had)
			return Done{}
		}
		return run()
	}
}
