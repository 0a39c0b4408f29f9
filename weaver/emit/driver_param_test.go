package emit

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// find returns the declaration of a name.
func (d *driver) find(name string) harmony.Managed {
	for _, r := range d.program.Relations {
		if r.Name == name {
			return r
		}
	}
	for _, x := range d.program.Indexes {
		if x.Name == name {
			return x
		}
	}
	for _, g := range d.program.Groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// fix gives the parameters that code may have as constants.
func (d *driver) fix(entry string, p abi.Param) (int64, bool) {
	if !d.v.fixed {
		return 0, false
	}
	switch p.Kind {
	case abi.ColumnBase, abi.ColumnStep, abi.ColumnWidth,
		abi.SetForm, abi.SetShift, abi.SetBase, abi.SetBits,
		abi.IndexForm, abi.IndexShift, abi.IndexBase, abi.IndexBits,
		abi.GroupForm, abi.GroupShift, abi.GroupBase, abi.GroupBits, abi.GroupShared, abi.SetShared:
		return d.param(p, nil), true
	case abi.ValuesWidth:
		return 8, true
	case abi.GroupCrowded:
		if d.v.crowded {
			return 1, true
		}
		return 0, true
	case abi.IndexSize:
		x := d.indexes[d.find(p.Var).(*harmony.Index)]
		return 1 << x.keys.bits, x.keys.form == abi.Direct
	case abi.GroupSize:
		g := d.groups[d.find(p.Var).(*harmony.Groups)]
		return 1 << g.keys.bits, g.keys.form == abi.Direct
	}
	return 0, false
}

// param returns the word of a parameter.
func (d *driver) param(p abi.Param, e *abi.Entry) int64 {
	switch v := d.find(p.Var).(type) {
	case *harmony.Relation:
		r := d.rels[v]
		switch p.Kind {
		case abi.ColumnData:
			return address(r.cols[p.Index].data)
		case abi.ColumnBase:
			return r.cols[p.Index].base
		case abi.ColumnStep:
			return r.cols[p.Index].step
		case abi.ColumnWidth:
			return int64(r.cols[p.Index].width)
		case abi.Gauge:
			return address(r.gauge)
		case abi.SetForm:
			return int64(r.keys.form)
		case abi.SetTable:
			return address(r.table)
		case abi.SetSize:
			return r.size
		case abi.SetShift:
			return int64(r.keys.fields[p.Index].Shift)
		case abi.SetBase:
			return r.keys.fields[p.Index].Base
		case abi.SetBits:
			return int64(r.keys.fields[p.Index].Bits)
		case abi.SetColumns:
			return address(r.pointers)
		case abi.SetSeen:
			return 0 // nothing joins by bits
		case abi.SetShared:
			// A pass calls a CPU's workers one after the other.
			if d.v.tight {
				return 1
			}
			return 0
		}
	case *harmony.Index:
		x := d.indexes[v]
		switch p.Kind {
		case abi.IndexForm:
			return int64(x.keys.form)
		case abi.IndexTable:
			return address(x.table)
		case abi.IndexSize:
			return x.size
		case abi.IndexShift:
			return int64(x.keys.fields[p.Index].Shift)
		case abi.IndexBase:
			return x.keys.fields[p.Index].Base
		case abi.IndexBits:
			return int64(x.keys.fields[p.Index].Bits)
		case abi.IndexBegins:
			return address(x.begins)
		case abi.IndexRows:
			return address(x.rows)
		case abi.IndexBitRows, abi.IndexSpaced:
			return 0 // by rows, each key's behind those of the one before
		case abi.IndexWideSlots, abi.IndexWideMask, abi.IndexWideColumns, abi.IndexWideGauge:
			if x.wide == nil {
				return 0
			}
			return map[abi.Kind]int64{
				abi.IndexWideSlots:   address(x.wide.slots),
				abi.IndexWideMask:    int64(len(x.wide.slots) - 1),
				abi.IndexWideColumns: address(x.wide.pointers),
				abi.IndexWideGauge:   address(x.wide.gauge),
			}[p.Kind]
		}
	case *harmony.Groups:
		g := d.groups[v]
		switch p.Kind {
		case abi.Gauge:
			return address(g.gauge)
		case abi.GroupForm:
			return int64(g.keys.form)
		case abi.GroupTable:
			return address(g.table)
		case abi.GroupSize:
			return g.size
		case abi.GroupShift:
			return int64(g.keys.fields[p.Index].Shift)
		case abi.GroupBase:
			return g.keys.fields[p.Index].Base
		case abi.GroupBits:
			return int64(g.keys.fields[p.Index].Bits)
		case abi.GroupColumns:
			if g.wide == nil {
				return 0
			}
			return address(g.wide.pointers)
		case abi.GroupCells:
			return address(g.cells[p.Index])
		case abi.GroupOccupied:
			return address(g.occupied)
		case abi.GroupShared:
			if d.v.sm != 0 {
				return 1
			}
			return 0
		}
	}
	switch p.Kind {
	case abi.LiteralWord, abi.LiteralHigh, abi.PlaceLow, abi.PlaceHigh:
		return d.literal(p.Kind, e.Literals[p.Index])
	case abi.TableData, abi.TableBase, abi.TableStep, abi.TableWidth, abi.TablePresent:
		return d.tables[p.Index].param(p.Kind)
	case abi.Dropped:
		return address(d.dropped)
	case abi.Fault:
		return address(d.fault)
	case abi.HostCall:
		return int64(hostCallback())
	case abi.HostContext:
		return int64(d.hostContext(e))
	}
	d.t.Fatalf("no word for %s", p)
	return 0
}
