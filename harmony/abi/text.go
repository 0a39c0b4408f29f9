package abi

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// String returns the module's text, which Parse reads back: the target, tables,
// and entries with their parameters, literals and hosts, one item a line.
//
//	module "gpu:sm_90"
//	table string:like(_, "%green%") -> boolean in 0
//	entry k0 kernel k0 tile 256 16 scratch 36 queued 1280 expansions 1
//	  param rows_from
//	  param column_data edge 1
//	  literal "green" domain 0
//	  host string:lower(string) domains [0] -> string domain 2
func (m *Module) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("module %s", scalar.Quote(m.Target))
	for _, t := range m.Tables {
		args := make([]string, len(t.Args))
		for i, a := range t.Args {
			if args[i] = "_"; i != t.String {
				args[i] = scalar.Literal(a)
			}
		}
		line("table %s(%s) -> %s in %d%s", irtext.QuoteName(t.Func), strings.Join(args, ", "),
			t.Result, t.In, number(" out", t.Out))
	}
	for _, e := range m.Entries {
		line("entry %s %s %s tile %d %d%s%s%s%s%s%s%s%s", irtext.QuoteName(e.Symbol), e.Role,
			irtext.QuoteName(e.Of),
			e.Threads, e.Items, number(" scratch", e.Scratch), number(" dynamic", e.Dynamic),
			number(" queued", e.Queued), number(" expansions", e.Expansions),
			number(" sharing", e.Sharing), number(" operations", e.Loop.Operations),
			number(" kernels", e.Loop.Kernels), number(" relations", e.Loop.Relations))
		for _, p := range e.Params {
			line("  param %s", p)
		}
		for _, l := range e.Literals {
			line("  literal %s%s", scalar.Literal(l.Value), number(" domain", l.Domain))
		}
		for _, h := range e.Hosts {
			line("  host %s(%s)%s -> %s%s", irtext.QuoteName(h.Func), list(h.Args),
				numbers(" domains", h.Domains),
				h.Result, number(" domain", h.Domain))
		}
	}
	return b.String()
}

// String returns the parameter as texts write it: "column_data edge 1".
func (p Param) String() string {
	text := p.Kind.String()
	if p.Var != "" {
		text += " " + irtext.QuoteName(p.Var)
	}
	if p.Kind.numbered() || p.Index != 0 {
		text += fmt.Sprintf(" %d", p.Index)
	}
	return text
}

// number renders a property that is 0 unless it is written.
func number(word string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d", word, n)
}

// numbers renders a property that is empty unless it is written.
func numbers(word string, list []int) string {
	if len(list) == 0 {
		return ""
	}
	return word + " " + strings.ReplaceAll(fmt.Sprint(list), " ", ", ")
}

func list[T fmt.Stringer](items []T) string {
	out := make([]string, len(items))
	for i, t := range items {
		out[i] = t.String()
	}
	return strings.Join(out, ", ")
}
