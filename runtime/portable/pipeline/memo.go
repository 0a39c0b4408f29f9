package pipeline

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/portable/tables"
)

// memo remembers the contents of the inputs that a result was computed from.
// So loop invariants are computed once.
type memo struct {
	inputs stamp
	built  bool
	at     uint64 // the inputs' stamp at that time
}

// refresh calls compute if there is no result or the inputs have changed.
func (m *memo) refresh(compute func()) {
	if now := m.inputs.now(); !m.built || m.at != now {
		m.built, m.at = false, now
		compute()
		m.built = true
	}
}

// stamp identifies the contents of what an operator tree reads.
type stamp []versionOf

type versionOf struct {
	table   *tables.Table
	version queryplan.Version
}

// now returns a number that grows with every change of the inputs.
func (s stamp) now() uint64 {
	var sum uint64
	for _, v := range s {
		sum += v.table.Epoch[v.version]
	}
	return sum
}

// stamp returns what a tree reads, apart from facts.
func (c *Compiler) stamp(n queryplan.Node) stamp {
	var s stamp
	for _, scan := range queryplan.Scans(n) {
		if t := c.Tables[scan.Var]; t != nil {
			s = append(s, versionOf{t, scan.Version})
		}
	}
	return s
}
