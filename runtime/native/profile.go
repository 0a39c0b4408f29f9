package native

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/runtime"
)

// profile reports what the commands of the kernel graph cost, and its kernels.
func (r *run) profile() {
	for _, b := range r.prog.graph.Blocks {
		for _, c := range b.Cmds {
			k := r.commands[c]
			if k == nil {
				continue
			}
			r.answer.Profile = append(r.answer.Profile, k.profile)
			if c, ok := c.(*harmony.Run); ok {
				r.answer.Kernels = append(r.answer.Kernels, runtime.KernelProfile{
					Kernel: c.Kernel.Name,
					Calls:  k.profile.Calls,
					Rows:   k.sourceRows,
					Kept:   k.profile.Kept,
					Bytes:  k.bytes,
					Time:   k.profile.Time,
				})
			}
		}
	}
}

// loadedBytes is how many bytes of a row of its source a kernel loads. The keys and
// results of groups are words.
func (r *run) loadedBytes(k *harmony.Kernel) int {
	n := 0
	for _, s := range k.Stages {
		load, ok := s.(*harmony.Load)
		if !ok {
			continue
		}
		switch s := k.Source.(type) {
		case *harmony.Rows:
			n += r.relations[s.Rel].cols[load.Col].width
		case *harmony.GroupRows:
			n += 8
		}
	}
	return n
}

// filledBytes is the size of the tuples of the relations that an entry fills.
func (b *boundEntry) filledBytes() int64 {
	n := int64(0)
	for _, t := range b.targets {
		n += t.rel.gauge.cursor * int64(t.rel.rowBytes())
	}
	return n
}

// rowBytes is the size of a tuple.
func (r *relation) rowBytes() int {
	n := 0
	for _, c := range r.cols {
		n += c.width
	}
	return n
}
