package gpu

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/gpu/tables"
)

// record is a loop's record (abi.Loop) under construction. Its addresses are
// device addresses.
type record struct {
	words []int64
	base  int64
}

// more appends words, and returns the device address of the first.
func (d *record) more(words ...int64) int64 {
	at := d.base + int64(8*len(d.words))
	d.words = append(d.words, words...)
	return at
}

// sizes returns the sizes of the loop's record, including the branch.
func (l *rounds) sizes() abi.LoopSizes {
	return abi.LoopSizes{Operations: len(l.ops) + 1, Kernels: len(l.entries),
		Relations: len(l.list) + len(l.indexes)}
}

// putRecord writes the record of a loop to device memory: the head, the
// program, the operations, the relations, and what these point to.
func (r *run) putRecord(l *rounds, most int64) error {
	ops := len(l.ops) + 1 // the branch is the last one
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
	// part returns n words of the record from an address. It is valid until
	// the next call of more.
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
