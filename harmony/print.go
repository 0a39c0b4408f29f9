package harmony

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// FormatOptions chooses what the text of a program shows as comments, in
// addition to what Parse needs.
type FormatOptions struct {
	// Spans adds the place and text of its rule or constraint to a kernel or
	// command.
	Spans bool
	// Ops adds the plan operators that it carries out to a kernel.
	Ops bool
	// Lifetimes adds the variables that are allocated and freed.
	Lifetimes bool
}

// String returns the program's text, which Parse reads back. Variables, blocks
// and commands stand in their order; registers are numbered in the order of
// their definition.
func (p *Program) String() string { return p.Format(FormatOptions{}) }

// Format returns the program's text with the chosen details.
func (p *Program) Format(opts FormatOptions) string {
	w := printer{opts: opts}
	if opts.Lifetimes {
		w.lifetimes = Lifetimes(p)
	}
	for _, r := range p.Relations {
		w.Line(0, "relation "+queryplan.DeclText((*queryplan.Var)(r)))
	}
	for _, x := range p.Indexes {
		key := "(" + columnsAt(x.Of.Cols, x.Key) + ")"
		if x.ByPosition() {
			key = " position"
		}
		if x.Busy {
			key += " busy"
		}
		w.Line(0, "index "+irtext.QuoteName(x.Name)+" "+x.Kind.String()+" "+
			versionText(x.Of, x.Version)+key)
	}
	for _, g := range p.Groups {
		w.Line(0, groupsText(g))
	}
	for _, b := range p.Blocks {
		w.Line(0, cfg.BlockText(b)+w.freed(b))
		for _, c := range b.Cmds {
			w.command(c)
		}
		w.Line(1, cfg.TermText(b.Term, (*Relation).ManagedName))
	}
	return w.String()
}

type printer struct {
	irtext.Printer
	opts      FormatOptions
	lifetimes *Lives
}

// freed returns the comment with the variables that die on the way into a
// block.
func (w *printer) freed(b *Block) string {
	if w.lifetimes == nil {
		return ""
	}
	return lifeText("", nil, w.lifetimes.Entry[b])
}

func lifeText(before string, allocated, freed []Managed) string {
	var parts []string
	for _, list := range []struct {
		what string
		vars []Managed
	}{{"allocates ", allocated}, {"frees ", freed}} {
		var names []string
		for _, v := range list.vars {
			names = append(names, irtext.QuoteName(v.ManagedName()))
		}
		if len(names) > 0 {
			parts = append(parts, list.what+strings.Join(names, ", "))
		}
	}
	if len(parts) == 0 {
		return before
	}
	if before == "" {
		before = "  //"
	}
	return before + " " + strings.Join(parts, "; ")
}

func (w *printer) command(c Command) {
	note, span := "", source.Span{}
	switch c := c.(type) {
	case *Run:
		if span = c.Kernel.Span; w.opts.Ops && len(c.Kernel.Ops) > 0 {
			note = "  // " + strings.Join(c.Kernel.Ops, "; ")
		}
	case *Number:
		span = c.Span
	case *TopK:
		span = c.Span
	case *Check:
		span = c.Span
	case *CheckKey:
		span = c.Span
	}
	if w.opts.Spans {
		note += irtext.Origin(span)
	}
	if w.lifetimes != nil {
		if life := w.lifetimes.Commands[c]; life != nil {
			note += lifeText("", life.Alloc, life.Free)
		}
	}
	w.Line(1, CommandString(c)+note)
	if run, ok := c.(*Run); ok {
		w.kernel(run.Kernel)
	}
}

// CommandString returns the line of a command, without the body of a kernel.
func CommandString(c Command) string {
	switch c := c.(type) {
	case *Run:
		if c.Kernel.Host {
			return "run " + irtext.QuoteName(c.Kernel.Name) + " on host"
		}
		return "run " + irtext.QuoteName(c.Kernel.Name)
	case *Build:
		text := "build " + irtext.QuoteName(c.Index.Name)
		if c.Before {
			text += " " + Old.String()
		}
		return text
	case *Number:
		return "number " + irtext.QuoteName(c.To.Name) + takenText(c.From.Cols, c.Cols, true) +
			" = " + irtext.QuoteName(c.From.Name) +
			groupText(c.From.Cols, c.Group) + " order " + queryplan.OrderText(c.Order)
	case *TopK:
		return "topk " + irtext.QuoteName(c.To.Name) + takenText(c.From.Cols, c.Cols, false) +
			" = " + irtext.QuoteName(c.From.Name) + " limit " +
			strconv.FormatInt(c.Limit, 10) + groupText(c.From.Cols, c.Group) + " order " +
			queryplan.OrderText(c.By)
	case *Merge:
		return "merge " + irtext.QuoteName(c.Rel.Name)
	case *Clear:
		return "clear " + irtext.QuoteName(c.Var.ManagedName())
	case *Check:
		return "check " + irtext.QuoteName(c.Rel.Name) + " " + scalar.Quote(c.Text)
	case *CheckKey:
		return "checkkey " + irtext.QuoteName(c.Rel.Name)
	}
	return fmt.Sprintf("%T", c)
}

func groupsText(g *Groups) string {
	var b strings.Builder
	b.WriteString("groups " + irtext.QuoteName(g.Name) + "(" +
		queryplan.KeyedText(g.Keys, len(g.Keys)) + ";")
	for i, a := range g.Accs {
		if i > 0 {
			b.WriteByte(',')
		}
		in := ""
		if a.Fn != queryplan.Count {
			in = a.In.String()
		}
		b.WriteString(" " + queryplan.ColumnText(a.Out) + " = " + a.Fn.String() + "(" + in + ")")
		if a.Shares > 0 {
			b.WriteString(" of " + irtext.QuoteColumn(g.Accs[g.Owner(i)].Out.Name))
		}
	}
	b.WriteByte(')')
	return b.String()
}

func versionText(r *Relation, v Version) string {
	if v == Full {
		return irtext.QuoteName(r.Name)
	}
	return v.String() + " " + irtext.QuoteName(r.Name)
}

// columnsAt lists the names of columns by position.
func columnsAt(cols []Column, at []int) string {
	return strings.Join(list.Map(at, func(c int) string { return columnAt(cols, c) }), ", ")
}

// columnAt returns the name of a column. It also names columns that do not
// exist, for messages.
func columnAt(cols []Column, at int) string {
	if at < 0 || at >= len(cols) {
		return "#" + strconv.Itoa(at)
	}
	return irtext.QuoteColumn(cols[at].Name)
}

// takenText lists the taken columns, unless they are the default of an
// ordering: all columns in order, followed by the number if it is numbered.
func takenText(cols []Column, taken []int, numbered bool) string {
	if slices.Equal(taken, Whole(cols, numbered)) {
		return ""
	}
	out := make([]string, len(taken))
	for i, c := range taken {
		if out[i] = "*"; c != Numbered {
			out[i] = columnAt(cols, c)
		}
	}
	return "(" + strings.Join(out, ", ") + ")"
}

func groupText(cols []Column, group []int) string {
	if len(group) == 0 {
		return ""
	}
	return " group [" + columnsAt(cols, group) + "]"
}
