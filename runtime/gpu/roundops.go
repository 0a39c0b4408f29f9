package gpu

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
)

// rounds is a loop that the device can run.
type rounds struct {
	f       *function
	block   *harmony.Block
	end     int // the gauge in which the loop stores why and when it ended
	ops     []loopOp
	list    []*tables.Relation         // the relations that operations read or change
	olds    map[*tables.Relation]int   // merged relations, and the gauges of their old rows
	fills   map[*tables.Relation]int64 // filled relations, and the rows that blocks may have begun
	entries []*boundEntry              // the functions of kernels and builds
	indexes []*tables.Index            // the spaced indexes that the loop uses
	blocks  int64
	record  device.Buffer
	states  device.Buffer
	led     int64 // successive small rounds that the host has led
}

// loopOp is an operation of a round.
type loopOp struct {
	kind    int64
	command int           // the position of its command in the block
	resume  int           // the command that the host goes on with if the loop ends here
	index   *tables.Index // the index of a build
	rel     *tables.Relation
	version int64
	entry   int                // the function of a run or build, in rounds.entries
	stretch int                // the number of operations from here to the end of the stretch
	fills   []*tables.Relation // relations that it is the first of its stretch to fill
}

// declareRounds finds the loops that the device can run and whose code exists,
// and declares their gauges.
func (r *run) declareRounds() {
	r.rounds = map[*harmony.Block]*rounds{}
	if r.walk.Request.NoDeviceLoops ||
		!slices.ContainsFunc(r.code.functions, func(f *function) bool {
			return f.entry.Role == abi.Loop
		}) {
		return
	}
	r.spaceIndexes()
	for _, f := range r.code.functions {
		if f.entry.Role != abi.Loop {
			continue
		}
		i := slices.IndexFunc(r.Graph.Blocks,
			func(b *harmony.Block) bool { return b.Name == f.entry.Of })
		l := &rounds{f: f, block: r.Graph.Blocks[i], olds: map[*tables.Relation]int{},
			fills: map[*tables.Relation]int64{}}
		if !r.operations(l) {
			continue
		}
		l.end = r.Control.NewGauge()
		for _, op := range l.ops {
			if _, has := l.olds[op.rel]; op.kind == abi.LoopMerge && !has {
				l.olds[op.rel] = r.Control.NewGauge()
			}
		}
		r.rounds[l.block] = l
	}
}

// spaceIndexes gives a spaced form to each index that some function can probe
// in that form.
func (r *run) spaceIndexes() {
	spaced := map[string]bool{}
	for _, f := range r.code.functions {
		for _, p := range f.entry.Params {
			if p.Kind == abi.IndexSpaced {
				spaced[p.Var] = true
			}
		}
	}
	for _, decl := range r.Graph.Indexes {
		if spaced[decl.Name] {
			r.Indexes[decl].Space()
		}
	}
}

// operations lists the operations of a round, and reports whether the device
// can execute all of them.
func (r *run) operations(l *rounds) bool {
	add := func(op loopOp) {
		l.ops = append(l.ops, op)
		if !slices.Contains(l.list, op.rel) {
			l.list = append(l.list, op.rel)
		}
	}
	// free adds a clear for each variable that is dead and written again.
	free := func(list []harmony.Managed, i int) bool {
		for _, v := range list {
			if _, ok := v.(*harmony.Index); ok || !r.walk.WrittenAgain(v, l.block, i) {
				continue // an index that is built again keeps its rows
			}
			rel, ok := v.(*harmony.Relation)
			if !ok || !r.Relations[rel].IsBag() {
				return false
			}
			add(loopOp{kind: abi.LoopClear, command: max(i, 0), rel: r.Relations[rel]})
		}
		return true
	}
	if !free(r.walk.Lives.Entry[l.block], -1) {
		return false
	}
	for i, c := range l.block.Cmds {
		switch c := c.(type) {
		case *harmony.Run:
			src := c.Kernel.Source.(*harmony.Rows)
			add(loopOp{kind: abi.LoopRun, command: i, rel: r.Relations[src.Rel],
				version: r.loopVersion(src), entry: len(l.entries)})
			l.entries = append(l.entries, nil)
		case *harmony.Build:
			x := r.Indexes[c.Index]
			if !x.TakesRows() {
				return false
			}
			x.Space()
			op := loopOp{kind: abi.LoopBuild, command: i, rel: x.Rel, index: x,
				version: tables.LoopVersion(c.Version()), entry: len(l.entries)}
			if at := l.firstBuild(x); at >= 0 { // by the same code
				op.entry = l.ops[at].entry
			} else {
				l.entries = append(l.entries, nil)
			}
			l.addBuild(op)
		case *harmony.Merge:
			add(loopOp{kind: abi.LoopMerge, command: i, rel: r.Relations[c.Rel]})
		default:
			return false
		}
		if life := r.walk.Lives.Commands[c]; life != nil && !free(life.Free, i) {
			return false
		}
	}
	resume := len(l.block.Cmds)
	for i := len(l.ops) - 1; i >= 0; i-- {
		resume = min(resume, l.ops[i].command)
		l.ops[i].resume = resume
	}
	return true
}

// addBuild inserts the build of an index before the kernels at the end of the
// list, because what they add is not merged yet. Adjacent builds form one
// stretch, so blocks meet less often. The second build of an index in a round
// comes after the kernels that probe the index without the new rows.
func (l *rounds) addBuild(op loopOp) {
	at := len(l.ops)
	for l.firstBuild(op.index) < 0 && at > 0 && l.ops[at-1].kind == abi.LoopRun {
		at--
	}
	l.ops = slices.Insert(l.ops, at, op)
	if !slices.Contains(l.list, op.rel) {
		l.list = append(l.list, op.rel)
	}
	l.addIndex(op.index)
}

func (l *rounds) addIndex(x *tables.Index) {
	if !slices.Contains(l.indexes, x) {
		l.indexes = append(l.indexes, x)
	}
}

// loopVersion returns the version of a source in the encoding of the record.
func (r *run) loopVersion(src *harmony.Rows) int64 {
	rel := r.Relations[src.Rel]
	switch {
	case rel.IsLoaded():
		return abi.LoopMerged
	case src.Rel.Kind != queryplan.Derived:
		return abi.LoopEach
	case src.Version == harmony.Delta:
		return abi.LoopDelta
	case src.Version == harmony.Old:
		return abi.LoopBefore
	}
	return abi.LoopMerged
}

// builds returns the version that an index covers at the start of a round, and
// reports whether the loop adds rows to the index.
func (l *rounds) builds(x *tables.Index) (of harmony.Version, added bool) {
	if at := l.firstBuild(x); at >= 0 {
		return l.built(l.ops[at]), true
	}
	return x.Decl.Version, false
}

// firstBuild returns the first operation that builds an index, or -1.
func (l *rounds) firstBuild(x *tables.Index) int {
	return slices.IndexFunc(l.ops, func(op loopOp) bool { return op.index == x })
}

// built returns the version over which an operation builds an index.
func (l *rounds) built(op loopOp) harmony.Version {
	return l.block.Cmds[op.command].(*harmony.Build).Version()
}

// stretches divides the operations into stretches, whose operations do not
// depend on each other: kernels that read no bag that another one fills, or
// changes of different relations. It returns the largest number of functions
// that run side by side.
func (l *rounds) stretches() (most int64) {
	changed := map[*tables.Relation]bool{} // in the stretch
	for at := 0; at < len(l.ops); {
		clear(changed)
		kind, end := l.ops[at].class(), at
		for ; end < len(l.ops); end++ {
			op := &l.ops[end]
			if op.class() != kind || op.waits(changed) {
				break
			}
			switch kind {
			case abi.LoopMerge:
				changed[op.rel] = true
			case abi.LoopRun:
				for _, t := range l.entries[op.entry].targets {
					if !changed[t.To] {
						op.fills = append(op.fills, t.To)
					}
					changed[t.To] = true
				}
			}
		}
		if kind != abi.LoopMerge {
			most = max(most, int64(end-at))
		}
		for ; at < end; at++ {
			l.ops[at].stretch = end - at
		}
	}
	return most
}

// waits reports whether an operation depends on an earlier one of the current
// stretch, which has changed the given relations.
func (op *loopOp) waits(changed map[*tables.Relation]bool) bool {
	switch op.kind {
	case abi.LoopBuild:
		return false
	case abi.LoopRun:
		return op.rel.IsBag() && changed[op.rel]
	}
	return changed[op.rel]
}

// runs reports whether an operation runs a function.
func (op *loopOp) runs() bool { return op.kind == abi.LoopRun || op.kind == abi.LoopBuild }

// class returns the kind that all operations of a stretch share. Merges and
// clears count as one kind.
func (op *loopOp) class() int64 {
	if op.kind == abi.LoopClear {
		return abi.LoopMerge
	}
	return op.kind
}
