package emit

import (
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
)

// sourceColumn returns the column of a relation or of constant rows that the
// kernel's source has.
func (w *kernel) sourceColumn(col int) column {
	switch s := w.k.Source.(type) {
	case *harmony.Rows:
		return relationColumn(s.Rel, col)
	case *harmony.Values:
		return valuesColumn(col)
	}
	panic(fmt.Sprintf("emit: a %T has no columns in memory", w.k.Source))
}
