package read

import (
	"errors"
	"slices"

	"github.com/redfoxdb/redfox/internal/parquet"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Leave marks the arguments that no reader of the loaded facts looks at. Load
// leaves their columns out where it can do without: a key of a Parquet file
// that has been proven before. Such a column is absent (store.Column).
func (b *Binding) Leave(unread func(pred string, arg int) bool) {
	for i := range b.Sources {
		if b.IsPart(i) {
			continue // the union has columns of its own
		}
		for j := range b.Sources[i].Uses {
			u := &b.Sources[i].Uses[j]
			u.Unread = make([]bool, len(u.Columns))
			for arg := range u.Columns {
				u.Unread[arg] = unread(u.Schema.Name, arg)
			}
		}
	}
}

// Compute marks the arguments that readers of the loaded facts only compute
// with. Load need not count their different values.
func (b *Binding) Compute(computed func(pred string, arg int) bool) {
	for i := range b.Sources {
		if b.IsPart(i) {
			continue
		}
		for j := range b.Sources[i].Uses {
			u := &b.Sources[i].Uses[j]
			u.Computed = make([]bool, len(u.Columns))
			for arg := range u.Columns {
				u.Computed[arg] = computed(u.Schema.Name, arg)
			}
		}
	}
}

// isComputed reports whether all uses of a field only compute with it.
func (l *load) isComputed(i int) bool {
	for u, use := range l.source.Uses {
		for arg, at := range l.args[u] {
			if at == i && (use.Computed == nil || !use.Computed[arg]) {
				return false
			}
		}
	}
	return true
}

// Left returns a binding that reads, whole, the sources of which arguments are
// marked.
func (b *Binding) Left() *Binding {
	out := &Binding{}
	for i := range b.Sources {
		s := &b.Sources[i]
		if !slices.ContainsFunc(s.Uses,
			func(u Use) bool {
				return slices.Contains(u.Unread, true) || u.asked() || u.shown() || u.joins()
			}) && s.leastEncoded == 0 {
			continue
		}
		out.Sources = append(out.Sources, *s.whole())
		for _, u := range s.Uses {
			out.Schemas = append(out.Schemas, u.Schema)
		}
	}
	return out
}

// Rows returns the number of rows of a Parquet file or of a stored table, as
// far as it is known before the file is read.
func (s *Source) Rows() (rows int64, known bool) {
	if s.stored != nil {
		return s.storedRows, true
	}
	if s.footer == nil {
		return 0, false
	}
	return s.footer.Rows, true
}

// MayMiss reports whether a predicate may lack tuples of rows of the source,
// where a value of it is missing, as far as that is known before the file is
// read.
func (s *Source) MayMiss(u Use) bool {
	if s.footer == nil {
		return false
	}
	return slices.ContainsFunc(u.Columns, func(c int) bool {
		switch {
		case c >= firstPart:
			return s.parts[c-firstPart].missing
		case c < 0:
			return false
		}
		return s.footer.Columns[c].Definition > 0 &&
			slices.ContainsFunc(s.footer.Groups, func(g parquet.RowGroup) bool {
				known := g.Chunks[c].Meta.Statistics
				return g.Rows > 0 && (known == nil || known.Nulls == nil || *known.Nulls > 0)
			})
	})
}

// errUnread says that a column was left out, and that it is needed after all.
var errUnread = errors.New("a column of keys was not read")

// IsUnread reports whether an error says that a whole file has to be read after
// all, as strings that were put off are not what its footer says.
func IsUnread(err error) bool { return errors.Is(err, errUnread) }

// whole returns the source without arguments that are left out, to be read
// again.
func (s *Source) whole() *Source {
	all := s.unasked()
	all.distrusted = true
	return all
}

// unasked returns the source without arguments that are left out.
func (s *Source) unasked() *Source {
	all := *s
	all.leastEncoded = 0
	all.Uses = slices.Clone(s.Uses)
	for i := range all.Uses {
		u := &all.Uses[i]
		u.Unread, u.Tests, u.Partners, u.Shown = nil, nil, nil, nil
	}
	return &all
}

// leaveUnread decides which fields are not read. All of their uses must have
// them in a key that is known to be one, and no reader may look at them.
// Strings are read: their dictionary is part of what programs know.
func (l *load) leaveUnread() {
	l.absent = make([]bool, len(l.fields))
	if !l.allProven() {
		return
	}
	for i := range l.fields {
		l.absent[i] = l.fields[i].typ.Kind != scalar.String
	}
	for u, use := range l.source.Uses {
		for arg, i := range l.args[u] {
			if arg >= use.Schema.Keys || use.Unread == nil || !use.Unread[arg] {
				l.absent[i] = false
			}
		}
	}
}

// allProven reports whether the keys of all uses are known to be keys.
func (l *load) allProven() bool {
	for u, use := range l.source.Uses {
		if !l.assumed && l.proofs[proofName(l.args[u][:use.Schema.Keys])] == nil {
			return false
		}
	}
	return true
}

// asked reports whether a plan asks something of an argument.
func (u *Use) asked() bool {
	return slices.ContainsFunc(u.Tests, func(t *Test) bool { return t != nil })
}

// leaveColumns makes the columns of fields that are not read.
func (l *load) leaveColumns() {
	for u, use := range l.source.Uses {
		key := l.args[u][:use.Schema.Keys]
		for at, i := range key {
			if i < len(l.absent) && l.absent[i] && l.data[i].column == nil {
				stats := l.proofs[proofName(key)][at]
				stats.Distinct, stats.Ascending = min(stats.Distinct, l.rows), false
				l.data[i].column = store.AbsentColumn(l.fields[i].typ, int(l.rows), stats)
				l.report.Left = append(l.report.Left, l.fields[i].name)
			}
		}
	}
}

// wantColumns returns errUnread if one of the columns was left out.
func wantColumns(columns []*store.Column) error {
	isLeft := func(c *store.Column) bool { return c.Absent || c.Late != nil }
	if slices.ContainsFunc(columns, isLeft) {
		return errUnread
	}
	return nil
}
