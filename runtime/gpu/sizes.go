package gpu

import (
	"github.com/redfoxdb/redfox/runtime"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/store"
)

// sizes are thresholds; tests shrink them to reach every path with little data.
type sizes struct {
	policy layout.Policy
	rows   int64 // the smallest capacity of a relation, in rows
	// expect bounds the initial room for tuples of a kernel that may produce
	// none.
	expect int64
	output int64 // the least rows of an output that keeps the known bounds
	order  int64 // the least rows that the device sorts faster than the host
	ranked int64 // the most rows that are ordered by comparing all pairs
	// ordered is the smallest result, in tuples, that a graph orders on the
	// device. The host orders a smaller one faster.
	ordered int64
	// looped is the largest delta, in rows, of a loop that runs on the device.
	looped int64
	// run is the number of rows up to which a growing index stays one run.
	run int64
	// places bounds the size of the extents of an index without rows. added
	// bounds the rows that are added to existing extents; for more, the extents
	// are rebuilt.
	places, added int64
	// packed is the size of the facts, in bytes, from which columns are packed.
	// Kernels read packed columns no faster than others, and some queries slow
	// down.
	packed int64
	// replays is the number of successive whole replays after which a run is
	// captured.
	replays int
}

// policyFor returns the layout policy of a run.
func (s *sizes) policyFor(req *runtime.Request) layout.Policy {
	p := s.policy
	if req.NoPackedColumns || s.packed > 0 && columnBytes(req.Facts) < s.packed {
		p.Pack = 0
	}
	return p
}

// defaults are the thresholds of Start, which adds those that depend on memory.
var defaults = sizes{policy: layout.GPU, rows: 4096, expect: 1 << 22, output: 1 << 16,
	order: 1 << 12, ranked: 1 << 11, ordered: 1 << 9,
	looped: 1 << 13, run: 1 << 17, places: 1 << 20, added: 1 << 16, replays: 1}

// columnBytes returns the size of the columns of all relations, in bytes. A
// column that several relations share counts several times.
func columnBytes(facts *store.Database) (n int64) {
	if facts == nil {
		return 0
	}
	for _, rel := range facts.Relations() {
		for _, c := range rel.Cols {
			n += rel.Table.Columns[c].Bytes()
		}
	}
	return n
}
