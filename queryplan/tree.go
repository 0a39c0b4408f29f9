package queryplan

import (
	"io"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// Annotate returns text to stand behind an operator (a Node), a command or a
// variable of a tree: estimated rows, times. It may return "".
type Annotate func(any) string

// Tree returns the plan in the form that people read: operators as trees with
// the columns they yield. Nothing parses it. Note may be nil.
func (p *Plan) Tree(note Annotate) string {
	var b strings.Builder
	t := treePrinter{w: &b, note: note}
	for _, v := range p.Vars {
		t.line("", "var "+DeclText(v), v)
	}
	for _, blk := range p.Blocks {
		t.line("", cfg.BlockText(blk), blk)
		for _, c := range blk.Cmds {
			t.line("", CommandString(c), c)
			if n := CommandNode(c); n != nil {
				t.node(" └── ", "     ", n)
			}
		}
		t.line("", cfg.TermText(blk.Term, (*Var).name), blk.Term)
	}
	return b.String()
}

type treePrinter struct {
	w    io.Writer
	note Annotate
	err  error
}

func (t *treePrinter) line(prefix, text string, of any) {
	if t.note != nil {
		if s := t.note(of); s != "" {
			text += "  " + s
		}
	}
	if t.err == nil {
		_, t.err = io.WriteString(t.w, prefix+text+"\n")
	}
}

// maxTreeRows bounds the rows that a tree shows of a constant.
const maxTreeRows = 3

// node writes an operator behind first and its inputs behind rest.
func (t *treePrinter) node(first, rest string, n Node) {
	t.line(first, treeHead(n), n)
	inputs := n.Inputs()
	for i, in := range inputs {
		if i+1 < len(inputs) {
			t.node(rest+" ├── ", rest+" │   ", in)
		} else {
			t.node(rest+" └── ", rest+"     ", in)
		}
	}
}

// treeHead returns an operator's line: its name and arguments, and the columns
// with types where it makes new ones.
func treeHead(n Node) string {
	switch n := n.(type) {
	case *Scan:
		name := QuoteName(n.Var.Name)
		if n.Version != Full {
			name = n.Version.String() + " " + name
		}
		head := "scan " + name + " " + treeColumns(n.Columns())
		if n.Position != "" {
			head += " position " + irtext.QuoteColumn(n.Position)
		}
		return head
	case *Values:
		head := "values " + treeColumns(n.Cols)
		for i, row := range n.Rows {
			if i == maxTreeRows {
				head += " ..."
				break
			}
			head += " " + rowText(row)
		}
		return head
	case *Map:
		out := make([]string, len(n.Exprs))
		for i, e := range n.Exprs {
			out[i] = ColumnText(Column{e.Name, e.Expr.Type()}) + " = " + ExprString(e.Expr)
		}
		return "map " + strings.Join(out, ", ")
	case *Project:
		var cols []string
		for _, c := range n.Cols {
			if c.From == c.To {
				cols = append(cols, irtext.QuoteColumn(c.To))
			} else {
				cols = append(cols, irtext.QuoteColumn(c.To)+"="+irtext.QuoteColumn(c.From))
			}
		}
		return "project [" + strings.Join(cols, " ") + "]"
	case *Join:
		head := "join"
		if n.Kind != Inner {
			head = n.Kind.String() + " join"
		}
		if n.Unique {
			head = "unique " + head
		}
		on := n.On()
		if len(on) == 0 && n.Kind == Inner {
			return head + " (product)"
		}
		for _, name := range on {
			head += " " + irtext.QuoteColumn(name) + "=" + irtext.QuoteColumn(name)
		}
		return head
	}
	return NodeHead(n)
}

func treeColumns(cols []Column) string {
	return "[" + strings.Join(list.Map(cols, ColumnText), ", ") + "]"
}
