package enginetest

import (
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/emit"
	"github.com/redfoxdb/redfox/weaver/target"
)

// Emulated turns options for a GPU's code into options for an emulated GPU: a
// tile is items rows of one thread, and workers share all tables.
func Emulated(o emit.Options, items int) emit.Options {
	o.Target = target.Target{Name: o.Target.Name, Threads: 1, Items: items}
	fix := o.Fix
	o.Fix = func(entry string, p abi.Param) (int64, bool) {
		if p.Kind == abi.SetShared || p.Kind == abi.GroupShared {
			return 1, true
		}
		if fix == nil {
			return 0, false
		}
		return fix(entry, p)
	}
	return o
}
