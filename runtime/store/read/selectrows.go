package read

import (
	"slices"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// Test is a test of a column's values that every scan of the file in a plan
// makes. Rows that fail it need not be loaded.
type Test struct {
	// Range means that a word passes if it is between Least and Most.
	Range       bool
	Least, Most int64
	// Text, if not nil, reports whether a string passes.
	Text func(text string) bool
	// Equal, if not nil, lists all values that can pass.
	Equal []scalar.Value
	// Holds reports whether a value passes.
	Holds func(v scalar.Value) bool
	// Alone means that nothing reads the column but this test. The loaded
	// column then has one value that passes in all rows.
	Alone bool
	// sets have the words of partners: a word that passes is in each.
	sets []*wordSet
}

// passes reports whether a word of a field that is no string passes.
func (t *Test) passes(typ scalar.Type, w int64) bool {
	for _, s := range t.sets {
		if !s.has(w) {
			return false
		}
	}
	if t.Range {
		return t.Least <= w && w <= t.Most
	}
	return t.Holds(scalar.OfBits(typ, uint64(w)))
}

// passesText reports whether a string passes.
func (t *Test) passesText(text string) bool {
	if t.Text != nil {
		return t.Text(text)
	}
	return t.Holds(scalar.OfString(text))
}

// Ask sets the tests that plans make of arguments; nil means no test. Load
// leaves out rows of a Parquet file that fail, if the keys are proven. It
// proves keys that are not strings before it reads other columns.
func (b *Binding) Ask(asks func(pred string, arg int) *Test) {
	for i := range b.Sources {
		if b.IsPart(i) {
			continue
		}
		for j := range b.Sources[i].Uses {
			u := &b.Sources[i].Uses[j]
			u.Tests = make([]*Test, len(u.Columns))
			for arg := range u.Columns {
				u.Tests[arg] = asks(u.Schema.Name, arg)
			}
		}
	}
}

// askFields finds the tests of fields. There are none if a key is not known to
// be one, or if malformed rows are to be counted.
func (l *load) askFields() {
	l.tests = make([]*Test, len(l.fields))
	if l.allProven() && l.opts.OnError != Skip {
		l.setTests()
	}
}

// setTests finds the tests of fields if the keys are keys.
func (l *load) setTests() {
	l.tests = make([]*Test, len(l.fields))
	for u, use := range l.source.Uses {
		for arg, i := range l.args[u] {
			if use.Tests == nil || use.Tests[arg] == nil || l.absent[i] ||
				l.fields[i].typ.Word != scalar.Whole {
				continue
			}
			if t := *use.Tests[arg]; l.tests[i] == nil {
				t.Alone = t.Alone && l.isValue(i)
				l.tests[i] = &t
			}
		}
	}
}

// isValue reports whether a field is no part of a key.
func (l *load) isValue(i int) bool {
	for u, use := range l.source.Uses {
		if slices.Contains(l.args[u][:use.Schema.Keys], i) {
			return false
		}
	}
	return true
}
