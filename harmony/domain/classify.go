package domain

import (
	"slices"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/bounds"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
)

// finish decides how functions are carried out and numbers the domains.
func (f *finder) finish(p *harmony.Program) *Domains {
	grows := map[*bounds.Place]bool{}
	tables, hosts := f.classify(grows)
	for _, m := range f.maps {
		if hosts[m] {
			f.host(m)
		}
	}
	d := &Domains{
		columns: map[harmony.Managed][]*Domain{},
		values:  map[*harmony.Values][]*Domain{},
		regs:    map[*harmony.Reg]*Domain{},
		stages:  map[harmony.Stage][]*Domain{},
		sinks:   map[harmony.Sink][]*Domain{},
		tableOf: map[*harmony.Map]int{},
		hosts:   hosts,
	}
	of := map[*bounds.Place]*Domain{}
	for id, set := range f.places.Sets() {
		of[set] = &Domain{ID: id, Grows: grows[set]}
		d.all = append(d.all, of[set])
	}
	f.name(d, of)
	for _, r := range p.Relations {
		if r.Kind != queryplan.Input && r.Kind != queryplan.Table {
			continue
		}
		for i, dom := range d.columns[r] {
			if dom != nil {
				dom.Inputs = append(dom.Inputs, Input{r, i})
			}
		}
	}
	for _, c := range f.constants {
		dom := of[c.at.Set()]
		if (!c.compared || dom.Grows) && !slices.Contains(dom.Consts, c.text) {
			dom.Consts = append(dom.Consts, c.text)
		}
	}
	for _, m := range f.maps {
		if tables[m] {
			d.addTable(m)
		}
	}
	return d
}

// name sets the domain of each column, register and operand.
func (f *finder) name(d *Domains, of map[*bounds.Place]*Domain) {
	list := func(nodes []*bounds.Place) []*Domain {
		out := make([]*Domain, len(nodes))
		for i, n := range nodes {
			if n != nil {
				out[i] = of[n.Set()]
			}
		}
		return out
	}
	for v, nodes := range f.columns {
		d.columns[v] = list(nodes)
	}
	for s, nodes := range f.values {
		d.values[s] = list(nodes)
	}
	for s, nodes := range f.stages {
		d.stages[s] = list(nodes)
	}
	for s, nodes := range f.sinks {
		d.sinks[s] = list(nodes)
	}
	for r, n := range f.regs {
		d.regs[r] = of[n.Set()]
	}
}

// host gives the constants of a call to the host their codes: in a domain with
// what they are compared with, or in that of such constants.
func (f *finder) host(m *harmony.Map) {
	args := f.stages[m]
	for i, a := range m.Args {
		if args[i] == nil && a.Type().Kind == scalar.String {
			if f.calls == nil {
				f.calls = f.places.New()
			}
			args[i] = f.calls
			f.meet(a, f.calls, false)
		}
	}
}

// classify tells the functions on strings that are tables, those that call the
// host, and those that are neither. It notes which roots grow.
func (f *finder) classify(grows map[*bounds.Place]bool) (tables, hosts map[*harmony.Map]bool) {
	tables, hosts = map[*harmony.Map]bool{}, map[*harmony.Map]bool{}
	var direct []*harmony.Map // functions of codes
	refuse := func(m *harmony.Map) {
		delete(tables, m)
		hosts[m] = true
		if m.Out.Type.Kind == scalar.String {
			grows[f.regs[m.Out].Set()] = true
		}
	}
	for _, m := range f.maps {
		ofCodes := bounds.Compares(m.Func) || m.Func.Name == "min" || m.Func.Name == "max"
		_, single := stringPlace(m)
		switch {
		case ofCodes && f.stages[m][0] != nil:
			direct = append(direct, m)
		case single:
			tables[m] = true
		case !takesUnit(m.Func) || hasStringRegister(m):
			refuse(m)
		}
	}
	// A table that is refused makes its result grow, which refuses the tables
	// of that in turn, and so all tables around a loop.
	for changed := true; changed; {
		changed = false
		for _, m := range f.maps {
			if tables[m] && (grows[f.in(m)] || f.feedsItself(m, tables)) {
				refuse(m)
				changed = true
			}
		}
	}
	for _, m := range direct {
		if ordersStrings(m.Func) && grows[f.stages[m][0].Set()] {
			hosts[m] = true
		}
	}
	return tables, hosts
}

// stringPlace returns the place of the only argument that is no constant, if it
// is a string.
func stringPlace(m *harmony.Map) (int, bool) {
	place := -1
	for i, a := range m.Args {
		if a.Reg == nil {
			continue
		}
		if place >= 0 || a.Reg.Type.Kind != scalar.String {
			return 0, false
		}
		place = i
	}
	return place, place >= 0 && !m.Func.Volatile
}

func hasStringRegister(m *harmony.Map) bool {
	return slices.ContainsFunc(m.Args, func(a harmony.Operand) bool {
		return a.Reg != nil && a.Reg.Type.Kind == scalar.String
	})
}

// in returns the root of the string of a table.
func (f *finder) in(m *harmony.Map) *bounds.Place {
	place, _ := stringPlace(m)
	return f.stages[m][place].Set()
}

// feedsItself reports whether the result of a table can come back to it through
// tables.
func (f *finder) feedsItself(m *harmony.Map, tables map[*harmony.Map]bool) bool {
	if m.Out.Type.Kind != scalar.String {
		return false
	}
	goal := f.in(m)
	seen := map[*bounds.Place]bool{}
	todo := []*bounds.Place{f.regs[m.Out].Set()}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == goal {
			return true
		}
		if seen[n] {
			continue
		}
		seen[n] = true
		for _, next := range f.maps {
			if tables[next] && next.Out.Type.Kind == scalar.String && f.in(next) == n {
				todo = append(todo, f.regs[next.Out].Set())
			}
		}
	}
	return false
}

// addTable gives a function its table.
func (d *Domains) addTable(m *harmony.Map) {
	place, _ := stringPlace(m)
	t := abi.Table{Func: m.Func.Name, Args: make([]scalar.Value, len(m.Args)), String: place,
		Result: m.Out.Type, In: d.stages[m][place].ID}
	for i, a := range m.Args {
		if i != place {
			t.Args[i] = a.Const
		}
	}
	var out *Domain
	if t.Result.Kind == scalar.String {
		out = d.regs[m.Out]
		t.Out = out.ID
	}
	for i, other := range d.tables {
		if sameTable(t, other) {
			d.tableOf[m] = i
			return
		}
	}
	d.tableOf[m] = len(d.tables)
	if out != nil {
		out.FromTables = append(out.FromTables, len(d.tables))
	}
	d.tables = append(d.tables, t)
}

func sameTable(t, u abi.Table) bool {
	return t.Func == u.Func && t.String == u.String && t.Result == u.Result && t.In == u.In &&
		t.Out == u.Out && slices.Equal(t.Args, u.Args)
}
