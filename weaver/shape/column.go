package shape

import (
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// Column is where a column's words come from: a relation, a table or constant
// rows.
type Column struct {
	Data, Base, Step, Width abi.Kind
	Name                    string
	Index                   int
}

// RelationColumn returns a column of a relation.
func RelationColumn(r *harmony.Relation, index int) Column {
	return Column{abi.ColumnData, abi.ColumnBase, abi.ColumnStep, abi.ColumnWidth, r.Name, index}
}

// TableColumn returns the results of a table.
func TableColumn(index int) Column {
	return Column{abi.TableData, abi.TableBase, abi.TableStep, abi.TableWidth, "", index}
}

// ColumnOf returns the column that a load or a gather reads. The groups of a
// GroupRows have none in memory.
func (f *Function) ColumnOf(s harmony.Stage) Column {
	switch s := s.(type) {
	case *harmony.Gather:
		return RelationColumn(s.Row.Row, s.Col)
	case *harmony.Load:
		switch from := f.Kernel.Source.(type) {
		case *harmony.Rows:
			return RelationColumn(from.Rel, s.Col)
		case *harmony.Values:
			return Column{abi.ValuesData, abi.ValuesBase, abi.ValuesStep, abi.ValuesWidth, "",
				s.Col}
		}
	}
	panic(fmt.Sprintf("shape: a %T of a %T reads no column in memory", s, f.Kernel.Source))
}

// ByRow reports whether the entries of a column are read in the loop over
// items: on a CPU, if the width is known. Otherwise a primitive reads them for
// the whole tile.
func (f *Function) ByRow(c Column) bool {
	_, known := f.Fixed(c.Width, c.Name, c.Index)
	return known && !f.options.Target.GPU
}
