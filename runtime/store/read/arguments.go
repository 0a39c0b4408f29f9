package read

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// arguments returns the arguments of a predicate as its user declared them, and
// how many of them are keys. The two words of a wide decimal are one argument.
func arguments(s *store.Schema) (args []store.Field, keys int) {
	for i, a := range s.Args {
		if a.Type.Word == scalar.Low {
			continue
		}
		if i < s.Keys {
			keys++
		}
		args = append(args, store.Field{Name: a.Name, Type: a.Type.Joined()})
	}
	return args, keys
}

// places returns the argument of each column, numbered from 1.
func places(s *store.Schema) []int {
	args, _ := arguments(s)
	out := make([]int, len(args))
	for i := range out {
		out[i] = i + 1
	}
	return twice(s, out)
}

// twice expands a list with one entry an argument to one entry a column. Both
// words of a wide decimal get the same entry.
func twice[T any](s *store.Schema, list []T) []T {
	out := make([]T, 0, len(s.Args))
	arg := -1
	for _, a := range s.Args {
		if a.Type.Word != scalar.Low {
			arg++
		}
		out = append(out, list[arg])
	}
	return out
}
