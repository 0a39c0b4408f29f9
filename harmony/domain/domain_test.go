package domain

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// TestFind runs testdata/find. Each program's domains are printed, what is in
// them and what is said of functions of strings. Registers and operands are
// named by their kernel.
func TestFind(t *testing.T) {
	datadriven.RunTest(t, "testdata/find", func(t *testing.T, d *datadriven.TestData) string {
		p, err := harmony.Parse("test.harmony", d.Input)
		if err == nil {
			err = harmony.Verify(p)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		out := describe(p, Find(p))
		clone := harmony.Clone(p)
		if again := describe(clone, Find(clone)); again != out {
			t.Errorf("%s: the domains of a clone differ:\n%s\n%s", d.Pos, out, again)
		}
		return out
	})
}

func describe(p *harmony.Program, d *Domains) string {
	members := make([][]string, len(d.All()))
	add := func(dom *Domain, format string, args ...any) {
		if dom != nil {
			members[dom.ID] = append(members[dom.ID], fmt.Sprintf(format, args...))
		}
	}
	for _, r := range p.Relations {
		for i, c := range r.Cols {
			add(d.Column(r, i), "%s.%s", r.Name, c.Name)
		}
	}
	for _, g := range p.Groups {
		for i, c := range g.Columns() {
			add(d.Column(g, i), "%s.%s", g.Name, c.Name)
		}
	}
	var functions strings.Builder
	for _, k := range p.Kernels() {
		if v, ok := k.Source.(*harmony.Values); ok {
			for i, c := range v.Cols {
				add(d.Values(v, i), "%s.%s", k.Name, c.Name)
			}
		}
		names := map[*harmony.Reg]string{}
		constants := func(list []harmony.Operand, domain func(i int) *Domain) {
			for i, o := range list {
				if o.Reg == nil && o.Const.Type.Kind == scalar.String {
					add(domain(i), "%s.%s", k.Name, scalar.Literal(o.Const))
				}
			}
		}
		for _, s := range k.Stages {
			if r := harmony.Def(s); r != nil {
				names[r] = "v" + strconv.Itoa(len(names))
				add(d.Reg(r), "%s.%s", k.Name, names[r])
			}
			switch s := s.(type) {
			case *harmony.Probe:
				constants(s.Key, func(i int) *Domain { return d.Stage(s, i) })
			case *harmony.Map:
				constants(s.Args, func(i int) *Domain { return d.Stage(s, i) })
				how := "native"
				if _, i, ok := d.Table(s); ok {
					how = fmt.Sprintf("table %d", i)
				} else if d.NeedsHost(s) {
					how = "host"
				}
				fmt.Fprintf(&functions, "%s.%s %s: %s\n", k.Name, names[s.Out], s.Func.Name, how)
			}
		}
		for _, s := range k.Sinks {
			list := harmony.SinkOperands(s)
			if g, ok := s.(*harmony.Group); ok {
				list = append(append([]harmony.Operand(nil), g.Key...), g.Vals...)
			}
			constants(list, func(i int) *Domain { return d.Sink(s, i) })
		}
	}
	var b strings.Builder
	for i, dom := range d.All() {
		fmt.Fprintf(&b, "domain %d: %s\n", i, strings.Join(members[i], " "))
		if dom.ID != i {
			fmt.Fprintf(&b, "  has number %d\n", dom.ID)
		}
		if dom.Grows {
			b.WriteString("  grows\n")
		}
		if len(dom.Consts) > 0 {
			fmt.Fprintf(&b, "  codes for %q\n", dom.Consts)
		}
		for _, in := range dom.Inputs {
			fmt.Fprintf(&b, "  loads %s.%s\n", in.Rel.Name, in.Rel.Cols[in.Col].Name)
		}
		if len(dom.FromTables) > 0 {
			fmt.Fprintf(&b, "  results of tables %v\n", dom.FromTables)
		}
	}
	for i, t := range d.Tables() {
		fmt.Fprintf(&b, "table %d: %s\n", i, tableString(t))
	}
	return b.String() + functions.String()
}

func tableString(t abi.Table) string {
	args := make([]string, len(t.Args))
	for i, a := range t.Args {
		if i == t.String {
			args[i] = fmt.Sprintf("domain %d", t.In)
		} else {
			args[i] = scalar.Literal(a)
		}
	}
	out := fmt.Sprintf("%s(%s): %s", t.Func, strings.Join(args, ", "), t.Result)
	if t.Result.Kind == scalar.String {
		out += fmt.Sprintf(" in domain %d", t.Out)
	}
	return out
}
