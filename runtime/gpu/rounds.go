package gpu

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime/gpu/device"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
	"github.com/redfoxdb/redfox/runtime/woven"
	"github.com/redfoxdb/redfox/runtime/woven/machine"
)

// A loop whose deltas are small is one launch of some blocks, which go through
// the rounds by themselves (abi.Loop): a round costs as long as a few waits for
// memory, and the host waits once. Kernels that do not read what the others
// fill run side by side, a block each. The blocks leave when a delta is large,
// a table is full, or the loop has had its rounds; the host goes on there, and
// may come back before a later round.

const (
	// mostRounds is how many rounds a launch takes before the host looks after
	// it.
	mostRounds = 1 << 14
	// loopGrowth is how many tuples a kernel adds to a relation before one
	// block is the wrong way to run it.
	loopGrowth = 1 << 18
	// loopRoom is the tuples for which there is room at first.
	loopRoom = 1 << 20
	// rowsARound is how many rows are entered into spaced indexes in the time
	// that the device saves in a small round: about 100 microseconds. Nobody
	// knows how many rounds follow, so the host leads as many as the indexes
	// cost.
	rowsARound = 1 << 15
)

// rounds is a loop that the device can run.
type rounds struct {
	f       *function
	block   *harmony.Block
	end     int // the gauge that gets the end
	ops     []loopOp
	list    []*tables.Relation         // that operations read or change
	olds    map[*tables.Relation]int   // the gauges that get the old rows of those that are merged
	fills   map[*tables.Relation]int64 // those that are filled, with the rows that a block begins
	entries []*boundEntry              // of the kernels and builds
	indexes []*tables.Index            // spaced ones that the loop takes
	blocks  int64
	record  device.Buffer
	states  device.Buffer
	led     int64 // small rounds in succession that the host has led
}

// loopOp is an operation of a round.
type loopOp struct {
	kind    int64
	command int           // of the block
	resume  int           // the command that the host goes on with if the loop ends here
	index   *tables.Index // that is built
	rel     *tables.Relation
	version int64
	entry   int                // of a run or build
	stretch int                // operations from it to the end of its stretch
	fills   []*tables.Relation // that no operation before it in the stretch does
}

// declareRounds finds the loops that there is code for. Their gauges are among
// the run's.
func (r *run) declareRounds() {
	r.rounds = map[*harmony.Block]*rounds{}
	if r.walk.Request.NoDeviceLoops {
		return
	}
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
		for _, k := range l.kernels() {
			for _, s := range k.Stages {
				if p, ok := s.(*harmony.Probe); ok && r.isSpaced(k, p.Index) {
					r.Indexes[p.Index].Space()
				}
			}
		}
		r.rounds[l.block] = l
	}
}

// operations lists the operations of a round, and reports whether the device
// can carry them out.
func (r *run) operations(l *rounds) bool {
	add := func(op loopOp) {
		l.ops = append(l.ops, op)
		if !slices.Contains(l.list, op.rel) {
			l.list = append(l.list, op.rel)
		}
	}
	// free adds what the host does to variables that hold nothing any more.
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
			x.Space()
			l.addBuild(loopOp{kind: abi.LoopBuild, command: i, rel: x.Rel, index: x,
				version: x.Spaced.Version(), entry: len(l.entries)})
			l.entries = append(l.entries, nil)
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

// addBuild adds the build of an index ahead of the kernels that are the last
// operations so far: what they add is not merged yet. Blocks meet less often if
// builds follow each other.
func (l *rounds) addBuild(op loopOp) {
	at := len(l.ops)
	for at > 0 && l.ops[at-1].kind == abi.LoopRun {
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

// kernels lists the kernels of the loop.
func (l *rounds) kernels() (list []*harmony.Kernel) {
	for _, c := range l.block.Cmds {
		if run, ok := c.(*harmony.Run); ok {
			list = append(list, run.Kernel)
		}
	}
	return list
}

// isSpaced reports whether a kernel's function can probe the spaced form of an
// index.
func (r *run) isSpaced(k *harmony.Kernel, x *harmony.Index) bool {
	return slices.ContainsFunc(r.code.functions, func(f *function) bool {
		return f.entry.Of == k.Name && slices.ContainsFunc(f.entry.Params, func(p abi.Param) bool {
			return p.Kind == abi.IndexSpaced && p.Var == x.Name
		})
	})
}

// loopVersion returns the version of a source, as a record has it.
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

// Rounds runs rounds of a block, at most most, as long as they are small.
func (r *run) Rounds(b *harmony.Block, most int64) (woven.Rounds, error) {
	l := r.rounds[b]
	if l == nil || most < 1 {
		return woven.Rounds{}, nil
	}
	if ready, err := r.engine.isReady(l.f); err != nil || !ready {
		return woven.Rounds{}, err
	}
	if small, err := r.isSmall(l); err != nil || !small {
		l.led = 0
		return woven.Rounds{}, err
	}
	r.log.Command()
	able, err := r.bindRounds(l)
	if err != nil || !able {
		return woven.Rounds{}, err
	}
	if able, err = r.pays(l); err != nil || !able {
		return woven.Rounds{}, err
	}
	if able, err = r.beginRounds(l); err != nil || !able {
		return woven.Rounds{}, err
	}
	if err := r.putRecord(l, min(most, mostRounds)); err != nil {
		return woven.Rounds{}, err
	}
	if err := r.launchRounds(l); err != nil {
		return woven.Rounds{}, err
	}
	if err := r.sync(r.Ctx); err != nil {
		return woven.Rounds{}, err
	}
	return r.endRounds(l)
}

// isSmall reports whether all sources of a loop's kernels are so small that one
// block is enough, as far as is known before the round.
func (r *run) isSmall(l *rounds) (bool, error) {
	if err := r.sync(r.Ctx); err != nil {
		return false, err
	}
	for _, op := range l.ops {
		if op.kind != abi.LoopRun {
			continue
		}
		n := op.rel.Most
		if !op.rel.IsBag() {
			src := l.block.Cmds[op.command].(*harmony.Run).Kernel.Source.(*harmony.Rows)
			from, until, err := op.rel.Version(r.Ctx, src.Version)
			if err != nil {
				return false, err
			}
			n = until - from
		}
		if n > r.sizes.looped/2 {
			return false, nil
		}
	}
	return true, nil
}

// pays reports whether the device is to lead the round. The host has to have led
// enough of them for the indexes to be made that the loop needs.
func (r *run) pays(l *rounds) (bool, error) {
	rows := int64(0)
	for _, x := range l.indexes {
		n, able, err := x.Unready(l.adds(x))
		if err != nil || !able {
			return false, err
		}
		rows += n
	}
	if l.led++; rows > l.led*rowsARound {
		return false, nil
	}
	l.led = 0
	return true, nil
}

// adds reports whether the loop adds rows to an index.
func (l *rounds) adds(x *tables.Index) bool {
	return slices.ContainsFunc(l.ops, func(op loopOp) bool { return op.index == x })
}

// beginRounds makes the relations and indexes of a loop ready. It reports false
// if an index has a form that the device does not add to.
func (r *run) beginRounds(l *rounds) (able bool, err error) {
	for rel, slack := range l.fills {
		expected := rel.Most + min(loopRoom, r.sizes.expect)
		if err := rel.BeginRounds(r.Ctx, slack, expected); err != nil {
			return false, err
		}
	}
	for _, x := range l.indexes {
		if n, _, err := x.Unready(l.adds(x)); err != nil {
			return false, err
		} else if n == 0 {
			continue
		}
		able, err := x.BeginRounds(func(passes []machine.Pass) error {
			return r.runPasses(x.Decl, passes)
		})
		if err != nil || !able {
			return false, err
		}
	}
	return true, nil
}

// bindRounds binds the kernels of a loop when it is first run, and reports
// whether a block can run them: it cannot report faults, nor count.
func (r *run) bindRounds(l *rounds) (bool, error) {
	for _, op := range l.ops {
		if op.kind == abi.LoopBuild && l.entries[op.entry] == nil {
			entries, err := r.buildEntries(op.index.Decl)
			if err != nil {
				return false, err
			}
			role := abi.BuildInsert
			if op.index.Decl.Kind == harmony.Multi {
				role = abi.BuildFill
			}
			at := slices.IndexFunc(entries, func(e *boundEntry) bool { return e.entry.Role == role })
			l.entries[op.entry] = entries[at]
		}
		if op.kind != abi.LoopRun {
			continue
		}
		k := l.block.Cmds[op.command].(*harmony.Run).Kernel
		if !r.spaceRuns(l, k) {
			return false, nil
		}
		if l.entries[op.entry] != nil {
			continue
		}
		e, err := r.boundKernel(k)
		if err != nil {
			return false, err
		}
		counts := slices.ContainsFunc(e.entry.Params, func(p abi.Param) bool {
			return p.Kind == abi.Dropped || p.Kind == abi.Fault
		})
		if counts || len(e.groups) > 0 || e.entry.Sharing > 1 {
			delete(r.rounds, l.block)
			return false, nil
		}
		for _, t := range e.targets {
			l.fills[t.To] += e.entry.Burst() * int64(t.Sinks)
			if !slices.Contains(l.list, t.To) {
				l.list = append(l.list, t.To)
			}
		}
		l.entries[op.entry] = e
	}
	if l.blocks == 0 {
		l.blocks = l.stretches()
		if a := r.engine.info.Attributes; !a.CooperativeLaunch {
			l.blocks = 1
		} else {
			l.blocks = min(l.blocks, int64(a.Multiprocessors))
		}
	}
	if !l.f.entry.Loop.Holds(l.sizes()) {
		delete(r.rounds, l.block)
		return false, nil
	}
	// The cursor of a relation is to be its end at the end of a round.
	merged := map[*tables.Relation]bool{}
	for _, op := range l.ops {
		switch op.kind {
		case abi.LoopMerge:
			merged[op.rel] = true
		case abi.LoopRun:
			if slices.ContainsFunc(l.entries[op.entry].targets,
				func(t machine.Target[*tables.Relation]) bool { return merged[t.To] }) {
				delete(r.rounds, l.block)
				return false, nil
			}
		}
	}
	return true, nil
}

// spaceRuns has the loop take the spaced forms of indexes that are several runs
// and that a kernel probes: a loop runs a kernel once a round. It reports false
// if there is no such form.
func (r *run) spaceRuns(l *rounds, k *harmony.Kernel) bool {
	for _, s := range k.Stages {
		p, ok := s.(*harmony.Probe)
		if !ok || len(r.Indexes[p.Index].Runs.List) < 2 {
			continue
		}
		x := r.Indexes[p.Index]
		if x.Spaced == nil || !r.isSpaced(k, p.Index) {
			return false
		}
		l.addIndex(x)
	}
	return true
}

// record is a loop's record in the making. Its addresses are those on the
// device.
type record struct {
	words []int64
	base  int64
}

// more adds words, and returns the address of the first.
func (d *record) more(words ...int64) int64 {
	at := d.base + int64(8*len(d.words))
	d.words = append(d.words, words...)
	return at
}

// sizes returns the sizes of the loop's record, with the branch.
func (l *rounds) sizes() abi.LoopSizes {
	return abi.LoopSizes{Operations: len(l.ops) + 1, Kernels: len(l.entries),
		Relations: len(l.list) + len(l.indexes)}
}

// stretches finds the operations that do not depend on each other: kernels that
// read no bag that another fills, and changes of different relations. It
// returns the most kernels that run side by side.
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

// waits reports whether an operation depends on one of the stretch at hand,
// which changes relations.
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

// class returns the kind that all operations of a stretch have: merges and
// clears are of one.
func (op *loopOp) class() int64 {
	if op.kind == abi.LoopClear {
		return abi.LoopMerge
	}
	return op.kind
}

// putRecord puts the record of a loop into the device's memory: the head, the
// program, the operations, the relations, and what these point to.
func (r *run) putRecord(l *rounds, most int64) error {
	ops := len(l.ops) + 1 // with the branch
	entries := len(l.list) + len(l.indexes)
	size, states := abi.LoopHead+ops*(1+abi.OpSize)+entries*abi.LoopRelation, 0
	for _, op := range l.ops {
		size += 2 // the gauge of facts
		if op.runs() {
			e := l.entries[op.entry]
			size += len(e.params) + len(e.targets)
			states += e.entry.StateWords()
		}
	}
	if l.record.At == 0 {
		if err := r.Alloc(&l.record, "a loop", int64(8*size)); err != nil {
			return err
		}
		if err := r.Alloc(&l.states, "a loop", int64(8*states)); err != nil {
			return err
		}
	}
	d := &record{base: l.record.Word()}
	d.more(make([]int64, abi.LoopHead)...)
	program := d.more(make([]int64, ops)...)
	first := d.more(make([]int64, ops*abi.OpSize)...)
	relations := d.more(make([]int64, entries*abi.LoopRelation)...)
	// part returns words of the record from an address on. More words may make
	// them others.
	part := func(at int64, n int) []int64 { return d.words[(at-d.base)/8:][:n] }
	of := map[*tables.Relation]int64{}
	for i, rel := range l.list {
		of[rel] = int64(i)
		gauge, old := int64(0), int64(0)
		if rel.IsLoaded() {
			gauge = d.more(0, 0)
		}
		if at, ok := l.olds[rel]; ok {
			old = int64(r.Control.At(at))
		}
		_, filled := l.fills[rel]
		words := rel.LoopWords(gauge, old, filled)
		copy(part(relations+int64(8*i*abi.LoopRelation), abi.LoopRelation), words[:])
	}
	numbers := map[*tables.Index]int64{}
	for i, x := range l.indexes {
		numbers[x] = int64(len(l.list) + i)
		words := x.Spaced.LoopWords(of[x.Rel])
		copy(part(relations+8*numbers[x]*abi.LoopRelation, abi.LoopRelation), words[:])
		x.Spaced.AtHand = true
		defer func() { x.Spaced.AtHand = false }()
	}
	state := l.states.Word()
	for i, op := range l.ops {
		rel := of[op.rel]
		if op.kind == abi.LoopBuild {
			rel = numbers[op.index]
		}
		part(program, ops)[i] = abi.LoopStep(op.kind, op.version, rel,
			int64(op.stretch), int64(op.entry))
		if !op.runs() {
			continue
		}
		e := l.entries[op.entry]
		params, err := e.bind(&job{entry: e, alone: true}, nil)
		if err != nil {
			return err
		}
		at := d.more(params...)
		var fills []int64
		for _, rel := range op.fills {
			fills = append(fills, of[rel])
		}
		list := d.more(fills...)
		w := part(first+int64(8*i*abi.OpSize), abi.OpSize)
		w[abi.OpKernel], w[abi.OpWords], w[abi.OpCount] = int64(op.entry), at, int64(len(params))
		w[abi.OpList], w[abi.OpLength] = list, int64(len(fills))
		for k, p := range e.params {
			switch p.Kind {
			case abi.RowsFrom:
				w[abi.OpFrom] = int64(k)
			case abi.RowsUntil:
				w[abi.OpUntil] = int64(k)
			}
		}
		w[abi.OpState], w[abi.OpStateWords] = state, int64(e.entry.StateWords())
		state += 8 * w[abi.OpStateWords]
		w[abi.OpTile] = int64(e.entry.Threads * e.entry.Items)
	}
	part(program, ops)[ops-1] = abi.LoopStep(abi.LoopBranch, 0, 0, 1, 0)
	for _, v := range l.block.Term.(*harmony.Branch).Vars {
		part(relations, entries*abi.LoopRelation)[of[r.Relations[v]]*abi.LoopRelation+
			abi.LoopLooked] = 1
	}
	h := part(d.base, abi.LoopHead)
	h[abi.LoopOperations], h[abi.LoopProgram], h[abi.LoopLength] = first, program, int64(ops)
	h[abi.LoopRelations], h[abi.LoopCount], h[abi.LoopBlocks] = relations, int64(entries),
		l.blocks
	h[abi.LoopMost], h[abi.LoopRows], h[abi.LoopGrowth] = most, r.sizes.looped, loopGrowth
	h[abi.LoopEnd] = int64(r.Control.At(l.end))
	if r.walk.Request.Profile {
		h[abi.LoopCounts] = 1
	}
	return r.Put(l.record, d.words...)
}

// launchRounds launches the loop's function.
func (r *run) launchRounds(l *rounds) error {
	entry := l.f.entry
	end, err := r.Begin(device.TimedKernel, l.entries[0].entry.Of)
	if err != nil {
		return err
	}
	if r.Control.Image != nil {
		for rel := range l.fills {
			r.Control.Image.Look(rel.Gauge)
		}
		for _, x := range l.indexes {
			r.Control.Image.Look(x.Spaced.Gauge)
		}
	}
	r.Control.Fresh = false
	r.Launches++
	r.log.Launched()
	shape := cuda.Shape{Grid: cuda.Dim{X: uint32(l.blocks)},
		Block: cuda.Dim{X: uint32(entry.Threads)}, Shared: entry.Dynamic,
		Cooperative: l.blocks > 1}
	if err := r.Lane.Stream.Launch(l.f.f, shape, []int64{l.record.Word()}); err != nil {
		return err
	}
	return end()
}

// endRounds takes over what the loop has left, and tells where the host goes
// on.
func (r *run) endRounds(l *rounds) (woven.Rounds, error) {
	end := r.Control.Mirror[l.end]
	done := woven.Rounds{Whole: end >> 8, Done: end&255 == abi.LoopFixed}
	r.LoopRounds += done.Whole
	ops := len(l.ops) + 1
	operations := abi.LoopHead + ops // behind the program
	words := make([]int64, operations+ops*abi.OpSize+
		(len(l.list)+len(l.indexes))*abi.LoopRelation)
	inside := end&255 > abi.LoopLarge
	if inside || r.walk.Request.Profile {
		if end&255 > abi.LoopWide {
			// Where a kernel stops depends on the order of rows.
			r.log.Discard()
		}
		if err := r.fetch(r.Ctx, device.HostCopy{To: device.BytesOf(words),
			From: l.record}); err != nil {
			return done, err
		}
	}
	relations := words[operations+ops*abi.OpSize:]
	for i, rel := range l.list {
		at, merged := l.olds[rel]
		_, filled := l.fills[rel]
		switch {
		case merged && inside:
			w := relations[i*abi.LoopRelation:]
			rel.EndRounds(w[abi.LoopOld], w[abi.LoopFull])
		case merged:
			rel.EndRounds(r.Control.Mirror[at], rel.Most)
		case filled && rel.IsBag():
			rel.EndBag()
		}
	}
	at := len(l.ops)
	if inside {
		at = int(words[abi.LoopAt])
	}
	if at < len(l.ops) {
		done.At = l.ops[at].resume
	}
	for _, x := range l.indexes {
		x.Spaced.EndRounds(r.Control.Mirror[x.Spaced.EndGauge], end&255 == abi.LoopFullTable &&
			at < len(l.ops) && l.ops[at].kind == abi.LoopBuild)
	}
	// The host probes indexes of its own.
	for _, op := range l.ops {
		if op.kind == abi.LoopBuild && op.command < done.At {
			if err := r.Build(op.index.Decl); err != nil {
				return done, err
			}
		}
	}
	if r.walk.Request.Profile {
		r.chargeRounds(l, words[operations:])
	}
	return done, nil
}

// chargeRounds charges the work of a loop to its commands.
func (r *run) chargeRounds(l *rounds, ops []int64) {
	for i, op := range l.ops {
		if op.kind != abi.LoopRun {
			continue
		}
		c, w := l.block.Cmds[op.command].(*harmony.Run), ops[i*abi.OpSize:]
		work := woven.Work{Source: w[abi.OpSource], Kept: w[abi.OpKept]}
		work.Bytes = work.Source * int64(r.LoadedBytes(c.Kernel))
		r.walk.Charge(c, w[abi.OpCalls], work, 0)
	}
}
