package domain

import (
	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Domain is what shares a dictionary.
type Domain struct {
	ID int // its place in Domains.All
	// Grows says that strings computed at run time enter, at the unsorted tail
	// of the dictionary. Codes then do not order as their strings do.
	Grows bool
	// Consts are the constants that need a code, each once. Those that are only
	// compared do not need one in a domain that does not grow, where their
	// place among the strings is enough.
	Consts []string
	// FromTables are the tables whose results enter, in ascending order.
	FromTables []int
	// Inputs are the columns of loaded relations whose strings enter.
	Inputs []Input
}

// Input is a column of an Input or Table relation.
type Input struct {
	Rel *harmony.Relation
	Col int
}

// Domains are those of a program.
type Domains struct {
	all     []*Domain
	columns map[harmony.Managed][]*Domain
	values  map[*harmony.Values][]*Domain
	regs    map[*harmony.Reg]*Domain
	stages  map[harmony.Stage][]*Domain
	sinks   map[harmony.Sink][]*Domain
	tables  []abi.Table
	tableOf map[*harmony.Map]int
	hosts   map[*harmony.Map]bool
}

// All returns the domains by ID.
func (d *Domains) All() []*Domain { return d.all }

// Column returns the domain of a column of a *harmony.Relation, or of a
// *harmony.Groups as its Columns number them; nil for one that is no string.
func (d *Domains) Column(v harmony.Managed, col int) *Domain { return d.columns[v][col] }

// Values returns the domain of a column of constant rows, all of which need
// codes; nil for one that is no string.
func (d *Domains) Values(src *harmony.Values, col int) *Domain { return d.values[src][col] }

// Reg returns the domain of a register, nil for one that is no string.
func (d *Domains) Reg(r *harmony.Reg) *Domain { return d.regs[r] }

// Stage returns the domain that a *harmony.Map's argument, or a
// *harmony.Probe's key, has at its place: that of the register, or that among
// whose codes a constant stands. It is nil for what is no string, and for a
// constant of a table or of a function that takes it as it is.
func (d *Domains) Stage(s harmony.Stage, i int) *Domain { return at(d.stages[s], i) }

// Sink is Stage for an operand of a sink: one of Vals; of a *harmony.Group, one
// of Key and after them Vals.
func (d *Domains) Sink(s harmony.Sink, i int) *Domain { return at(d.sinks[s], i) }

func at(list []*Domain, i int) *Domain {
	if i >= len(list) {
		return nil
	}
	return list[i]
}

// Table returns the table that a function is looked up in, and its index in
// Tables. It returns false if the function has no table.
func (d *Domains) Table(m *harmony.Map) (*abi.Table, int, bool) {
	i, ok := d.tableOf[m]
	if !ok {
		return nil, 0, false
	}
	return &d.tables[i], i, true
}

// Tables returns the tables in the order in which the program first has them,
// equal ones once.
func (d *Domains) Tables() []abi.Table { return d.tables }

// NeedsHost reports whether a function, because of strings, has no native form
// and is no table. Whether one without strings has a native form is the
// business of code generation.
func (d *Domains) NeedsHost(m *harmony.Map) bool { return d.hosts[m] }

// ordersStrings reports whether a function depends on the order of its
// arguments.
func ordersStrings(f *scalar.Func) bool {
	switch f.Name {
	case "lt", "le", "gt", "ge", "min", "max":
		return true
	}
	return false
}

// takesUnit reports whether the strings among a function's arguments are names
// of units of time, which code generation resolves if they are constant.
func takesUnit(f *scalar.Func) bool {
	switch f.Name {
	case "datetime:part", "datetime:add", "datetime:subtract":
		return true
	}
	return false
}
