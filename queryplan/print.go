package queryplan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// FormatOptions chooses what the text of a plan shows.
type FormatOptions struct {
	// Spans adds the place and text of its rule or constraint to a command, as
	// a comment.
	Spans bool
}

// String returns the plan's text, which Parse reads back. Variables and blocks
// stand in their order, one operator a line, inputs indented under it.
func (p *Plan) String() string { return p.Format(FormatOptions{}) }

// Format returns the plan's text with the chosen details.
func (p *Plan) Format(opts FormatOptions) string {
	w := printer{opts: opts}
	for _, v := range p.Vars {
		w.Line(0, "var "+DeclText(v))
	}
	for _, b := range p.Blocks {
		w.Line(0, cfg.BlockText(b))
		for _, c := range b.Cmds {
			w.command(c)
		}
		w.Line(1, cfg.TermText(b.Term, (*Var).name))
	}
	return w.String()
}

// NodeString returns the text of one operator tree, as it stands in a plan.
func NodeString(n Node) string {
	var w printer
	w.node(0, n)
	return w.String()
}

// ExprString returns the text of an expression: calls in prefix form, constants
// as package scalar writes literals.
func ExprString(e Expr) string {
	var b strings.Builder
	writeExpr(&b, e)
	return b.String()
}

type printer struct {
	irtext.Printer
	opts FormatOptions
}

func (w *printer) command(c Command) {
	head, node, span := CommandString(c), CommandNode(c), CommandSpan(c)
	if w.opts.Spans {
		head += irtext.Origin(span)
	}
	w.Line(1, head)
	if node != nil {
		w.node(2, node)
	}
}

// CommandString returns the first line of a command's text, without its
// operators.
func CommandString(c Command) string {
	switch c := c.(type) {
	case *Insert:
		return "insert " + QuoteName(c.Var.Name)
	case *Assign:
		return "assign " + QuoteName(c.Var.Name)
	case *Merge:
		return "merge " + QuoteName(c.Var.Name)
	case *Clear:
		return "clear " + QuoteName(c.Var.Name)
	case *Check:
		if c.Result != nil {
			return "check " + c.About()
		}
		return "check " + scalar.Quote(c.Text)
	case *CheckKey:
		return "checkkey " + QuoteName(c.Var.Name)
	}
	return fmt.Sprintf("%T", c)
}

// CommandNode returns the operators that a command evaluates, or nil.
func CommandNode(c Command) Node {
	switch c := c.(type) {
	case *Insert:
		return c.Node
	case *Assign:
		return c.Node
	case *Check:
		return c.Node
	}
	return nil
}

var kindNames = [...]string{Input: "input", Table: "table", Derived: "derived", Temp: "temp"}

// String returns "input", "table", "derived" or "temp".
func (k VarKind) String() string { return kindNames[k] }

func columnsText(cols []Column) string {
	out := list.Map(cols, ColumnText)
	return "(" + strings.Join(out, ", ") + ")"
}

func namesText(names []string) string {
	return strings.Join(list.Map(names, irtext.QuoteColumn), ", ")
}

func (w *printer) node(indent int, n Node) {
	w.Line(indent, NodeHead(n))
	if v, ok := n.(*Values); ok {
		for _, row := range v.Rows {
			w.Line(indent+1, rowText(row))
		}
	}
	for _, in := range n.Inputs() {
		w.node(indent+1, in)
	}
}

func rowText(row []scalar.Value) string {
	out := list.Map(row, scalar.Literal)
	return "(" + strings.Join(out, ", ") + ")"
}

// NodeHead returns the line of an operator's text, without its inputs.
func NodeHead(n Node) string {
	switch n := n.(type) {
	case *Scan:
		names := make([]string, len(n.Names))
		for i, name := range n.Names {
			if names[i] = "_"; name != "" {
				names[i] = irtext.QuoteColumn(name)
			}
		}
		head := "scan "
		if n.Version != Full {
			head += n.Version.String() + " "
		}
		head += QuoteName(n.Var.Name) + "(" + strings.Join(names, ", ") + ")"
		if n.Position != "" {
			head += " position " + irtext.QuoteColumn(n.Position)
		}
		return head
	case *Values:
		return "values " + columnsText(n.Cols)
	case *Filter:
		return "filter " + ExprString(n.Cond)
	case *Map:
		out := make([]string, len(n.Exprs))
		for i, e := range n.Exprs {
			out[i] = irtext.QuoteColumn(e.Name) + " = " + ExprString(e.Expr)
		}
		return strings.TrimSuffix("map "+strings.Join(out, ", "), " ")
	case *Project:
		out := make([]string, len(n.Cols))
		for i, c := range n.Cols {
			if out[i] = irtext.QuoteColumn(c.From); c.From != c.To {
				out[i] += " as " + irtext.QuoteColumn(c.To)
			}
		}
		return strings.TrimSuffix("project "+strings.Join(out, ", "), " ")
	case *Dedup:
		return "dedup"
	case *Join:
		head := "join"
		if n.Kind != Inner {
			head = n.Kind.String() + " join"
		}
		if n.Unique {
			head = "unique " + head
		}
		return strings.TrimSuffix(head+" "+namesText(n.On()), " ")
	case *Aggregate:
		out := list.Map(n.Aggs, aggText)
		return strings.TrimSuffix("aggregate ["+namesText(n.By)+"] "+strings.Join(out, ", "), " ")
	case *Union:
		return "union"
	case *MultiJoin:
		head := "multijoin "
		if n.Uneven {
			head = "uneven " + head
		}
		return strings.TrimSuffix(head+namesText(n.Order), " ")
	case *Seq:
		return "seq " + irtext.QuoteColumn(n.Index) + groupText(n.Group) + " order " +
			OrderText(n.Order)
	case *TopK:
		return "topk " + strconv.FormatInt(n.Limit, 10) + groupText(n.Group) + " order " +
			OrderText(n.By)
	}
	return fmt.Sprintf("%T", n)
}

func aggText(a Agg) string {
	in := ""
	if a.Fn != Count {
		in = irtext.QuoteColumn(a.In)
	}
	return ColumnText(a.Out) + " = " + a.Fn.String() + "(" + in + ")"
}

func groupText(group []string) string {
	if len(group) == 0 {
		return ""
	}
	return " group [" + namesText(group) + "]"
}

func writeExpr(b *strings.Builder, e Expr) {
	switch e := e.(type) {
	case *ColRef:
		b.WriteString(irtext.QuoteColumn(e.Col.Name))
	case *Const:
		b.WriteString(scalar.Literal(e.Value))
	case *Call:
		b.WriteString(e.Func.Name)
		if !resultFollows(e) {
			b.WriteString(":" + e.Result.String())
		}
		b.WriteByte('(')
		for i, a := range e.Args {
			if i > 0 {
				b.WriteString(", ")
			}
			writeExpr(b, a)
		}
		b.WriteByte(')')
	}
}

// resultFollows reports whether the result type of a call is the one that its
// arguments' types give, so that the text need not say it.
func resultFollows(e *Call) bool {
	if e.Func.Name == "convert" {
		return false
	}
	sig, err := scalar.Resolve(e.Func.Name, exprTypes(e.Args))
	return err == nil && sig.Result == e.Result
}

func exprTypes(args []Expr) []scalar.Type {
	return list.Map(args, Expr.Type)
}

// QuoteName returns a name as plans write it: bare where it reads as one word,
// else between backquotes.
func QuoteName(name string) string { return irtext.QuoteName(name) }

func (v *Var) name() string { return v.Name }
