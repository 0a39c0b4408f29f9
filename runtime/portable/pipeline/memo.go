package pipeline

import (
	"slices"

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
	keys    bool // nothing but the keys of a bag is read
}

// now returns a number that differs when the inputs do. It is a hash, as the
// numbers of keys may come again: small multiples of the odd factor are far
// apart.
func (s stamp) now() uint64 {
	const factor = 0x9e3779b97f4a7c15
	var sum uint64
	for _, v := range s {
		at := v.table.Epoch[v.version]
		if v.keys {
			at = v.table.Keys()
		}
		sum = sum*factor + at
	}
	return sum
}

// readsKeys reports whether a scan reads nothing of a bag but its keys.
func readsKeys(s *queryplan.Scan) bool {
	return s.Var.Kind == queryplan.Temp && s.Var.Keys < len(s.Var.Cols) && s.Position == "" &&
		!slices.ContainsFunc(s.Names[s.Var.Keys:], func(name string) bool { return name != "" })
}

// stamp returns what a tree reads, apart from facts.
func (c *Compiler) stamp(n queryplan.Node) stamp {
	var s stamp
	for _, scan := range queryplan.Scans(n) {
		if t := c.Tables[scan.Var]; t != nil {
			s = append(s, versionOf{t, scan.Version, readsKeys(scan)})
		}
	}
	return s
}
