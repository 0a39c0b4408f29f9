package read

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// arguments returns the arguments that a predicate has for its user, of which
// the first keys determine the rest: one for both words of a wide decimal.
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

// places returns, for each column, the number of its argument from 1.
func places(s *store.Schema) []int {
	args, _ := arguments(s)
	out := make([]int, len(args))
	for i := range out {
		out[i] = i + 1
	}
	return twice(s, out)
}

// twice returns a list for arguments as one for columns: what it has of a wide
// decimal stands for both words.
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
