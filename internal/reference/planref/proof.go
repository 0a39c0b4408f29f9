package planref

import (
	"fmt"

	"github.com/redfoxdb/redfox/queryplan"
)

// proofs is what package queryplan claims of an operator's result.
type proofs struct {
	keys [][]string
	deps [][2]string // the second column follows from the first; "" is no column
}

// proofsOf asks for the keys and, of single columns, the dependencies.
func proofsOf(n queryplan.Node) *proofs {
	p := &proofs{keys: queryplan.Keys(n)}
	cols := n.Columns()
	for _, to := range cols {
		if queryplan.Determines(n, nil, []string{to.Name}) {
			p.deps = append(p.deps, [2]string{"", to.Name})
			continue
		}
		for _, from := range cols {
			if from.Name != to.Name &&
				queryplan.Determines(n, []string{from.Name}, []string{to.Name}) {
				p.deps = append(p.deps, [2]string{from.Name, to.Name})
			}
		}
	}
	return p
}

// checkProofs holds the claims about an operator against its rows.
func (m *machine) checkProofs(n queryplan.Node, rows Rows) error {
	p := m.proofs[n]
	if p == nil {
		p = proofsOf(n)
		m.proofs[n] = p
	}
	cols := n.Columns()
	for _, k := range p.keys {
		if len(groups(rows, positions(cols, k))) != len(rows) {
			return fmt.Errorf("planref: %v is no key of\n%s", k, queryplan.NodeString(n))
		}
	}
	for _, d := range p.deps {
		var from []int
		if d[0] != "" {
			from = positions(cols, d[:1])
		}
		to := positions(cols, d[1:])
		for _, g := range groups(rows, from) {
			if len(groups(g, to)) > 1 {
				return fmt.Errorf("planref: %q does not determine %s in\n%s", d[0], d[1],
					queryplan.NodeString(n))
			}
		}
	}
	return nil
}

// checkKeys holds the claims about derived variables against their contents.
func (m *machine) checkKeys(p *queryplan.Plan) error {
	for _, v := range p.Vars {
		rows := m.scan(v, queryplan.Full)
		if !v.Unique && !v.Checked || v.Kind != queryplan.Derived {
			continue
		}
		var key []int
		for i := range v.Keys {
			key = append(key, i)
		}
		if len(groups(rows, key)) != len(rows) {
			return fmt.Errorf("planref: the key of %s is claimed, but does not hold", v.Name)
		}
	}
	return nil
}
