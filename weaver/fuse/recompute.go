package fuse

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// rowBytes returns the bytes of a tuple.
func rowBytes(cols []harmony.Column) int {
	n := 0
	for _, c := range cols {
		n += max(1, typeBytes(c.Type))
	}
	return n
}

// sector is the number of bytes that a random access moves.
const sector = 32

// repeatable reports whether copies of a producer cost no more memory traffic
// than one copy that stores its rows for as many readers. A filter is assumed
// to keep half of the rows, because nothing is known of them here. Never
// repeated are expansions, whose work has no bound, volatile functions, whose
// values would differ, and host kernels, which are slow.
func repeatable(k *harmony.Kernel, t *harmony.Relation, copies, readers int) bool {
	if k.Host {
		return false
	}
	work, kept := 0, 2
	for _, s := range k.Stages {
		switch s := s.(type) {
		case *harmony.Load:
			if _, constant := k.Source.(*harmony.Values); !constant {
				work += max(1, typeBytes(s.Out.Type))
			}
		case *harmony.Gather:
			work += sector
		case *harmony.Filter, *harmony.Need:
			kept = 1
		case *harmony.Probe:
			if s.Kind == harmony.ProbeMulti {
				return false
			}
			work, kept = work+sector, 1
		case *harmony.Map:
			if s.Func.Volatile {
				return false
			}
			work += mapWork(s)
		}
	}
	return 2*(copies-1)*work <= kept*rowBytes(t.Cols)*(1+readers)
}

// mapWork returns the cost of a function in bytes of traffic: arithmetic costs
// next to nothing, a string as much as a random access.
func mapWork(m *harmony.Map) int {
	if m.Out.Type.Kind == scalar.String {
		return sector
	}
	for _, a := range m.Args {
		if a.Type().Kind == scalar.String && a.Reg != nil {
			return sector
		}
	}
	return 1
}
