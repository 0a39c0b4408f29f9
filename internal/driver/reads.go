package driver

import (
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/runtime/facts"
	"github.com/redfoxdb/redfox/runtime/store"
)

// FactBytes returns the size of what a run reads of the facts: each column that
// the plan scans, once, as it is stored. It is the least that a run brings from
// memory. Dictionaries of strings are not counted.
func (q *Prepared) FactBytes() int64 { return FactBytes([]*Prepared{q}) }

// FactBytes returns the size of what some runs read of the facts, where a
// column that several of them read counts once.
func FactBytes(runs []*Prepared) int64 {
	seen := map[*store.Column]bool{}
	bytes := int64(0)
	for _, q := range runs {
		for _, c := range facts.Scanned(q.plan, q.db.store) {
			if !seen[c] {
				seen[c] = true
				bytes += c.Bytes()
			}
		}
	}
	return bytes
}

// Reads lists, by name, the predicates whose facts a run reads that computes
// all outputs of the program.
func (p *Program) Reads() ([]string, error) {
	needed, _, err := p.needed(nil)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(needed)), nil
}
