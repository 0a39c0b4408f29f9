package queryplan

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// input reads the one operator tree under a line.
func (p *parser) input(ln *irtext.Line) Node {
	if len(ln.Kids) != 1 {
		p.FailLine(ln, "expected one operator under this line, found %d", len(ln.Kids))
	}
	return p.node(ln.Kids[0])
}

func (p *parser) inputs(ln *irtext.Line, n int) []Node {
	if len(ln.Kids) != n {
		p.FailLine(ln, "expected %d operators under this line, found %d", n, len(ln.Kids))
	}
	out := make([]Node, n)
	for i, kid := range ln.Kids {
		out[i] = p.node(kid)
	}
	return out
}

// node reads the operator of a line, after its inputs, on whose columns its
// types depend.
func (p *parser) node(ln *irtext.Line) Node {
	rest := ln.Tokens[1:]
	switch t := ln.Tokens[0]; t.Text {
	case "scan":
		p.leaf(ln)
		p.Tokens = rest
		return p.scan(ln)
	case "values":
		p.Tokens = rest
		cols, rows := ParseValues(&p.Cursor, ln)
		return &Values{Cols: cols, Rows: rows}
	case "filter":
		n := &Filter{Input: p.input(ln)}
		p.Tokens = rest
		n.Cond = p.expr(n.Input.Columns())
		p.End()
		return n
	case "map":
		n := &Map{Input: p.input(ln)}
		p.Tokens = rest
		cols := n.Input.Columns()
		for p.Peek().Kind != irtext.EndToken {
			if len(n.Exprs) > 0 {
				p.Expect(",")
			}
			e := NamedExpr{Name: p.Name("a column")}
			p.Expect("=")
			e.Expr = p.expr(cols)
			n.Exprs = append(n.Exprs, e)
		}
		return n
	case "project":
		n := &Project{Input: p.input(ln)}
		p.Tokens = rest
		for p.Peek().Kind != irtext.EndToken {
			if len(n.Cols) > 0 {
				p.Expect(",")
			}
			r := Rename{From: p.Name("a column")}
			if r.To = r.From; p.AcceptWord("as") {
				r.To = p.Name("a column")
			}
			n.Cols = append(n.Cols, r)
		}
		return n
	case "dedup":
		p.Tokens = rest
		p.End()
		return &Dedup{Input: p.input(ln)}
	case "join", "unique", "semi", "anti":
		return p.join(ln)
	case "aggregate":
		n := &Aggregate{Input: p.input(ln)}
		p.Tokens = rest
		n.By = p.Names()
		for p.Peek().Kind != irtext.EndToken {
			if len(n.Aggs) > 0 {
				p.Expect(",")
			}
			n.Aggs = append(n.Aggs, p.agg())
		}
		return n
	case "union":
		p.Tokens = rest
		p.End()
		if len(ln.Kids) == 0 {
			p.FailLine(ln, "a union needs an operator under it")
		}
		return &Union{Nodes: p.inputs(ln, len(ln.Kids))}
	case "multijoin", "uneven":
		return p.multiJoin(ln)
	case "seq":
		n := &Seq{Input: p.input(ln)}
		p.Tokens = rest
		n.Index = p.Name("a column")
		if p.AcceptWord("group") {
			n.Group = p.Names()
		}
		p.ExpectWord("order")
		n.Order = ParseOrder(&p.Cursor)
		p.End()
		return n
	case "topk":
		n := &TopK{Input: p.input(ln)}
		p.Tokens = rest
		n.Limit = p.Integer()
		if p.AcceptWord("group") {
			n.Group = p.Names()
		}
		p.ExpectWord("order")
		n.By = ParseOrder(&p.Cursor)
		p.End()
		return n
	default:
		p.Unexpected(t, "an operator")
		return nil
	}
}

func (p *parser) leaf(ln *irtext.Line) {
	if len(ln.Kids) > 0 {
		p.FailLine(ln.Kids[0], "%s has no inputs", ln.Tokens[0].Text)
	}
}

func (p *parser) scan(ln *irtext.Line) Node {
	n := &Scan{Version: ParseVersion(&p.Cursor)}
	n.Var = p.varRef()
	p.Expect("(")
	for !p.Accept(")") {
		if len(n.Names) > 0 {
			p.Expect(",")
		}
		if p.AcceptWord("_") {
			n.Names = append(n.Names, "")
			continue
		}
		n.Names = append(n.Names, p.Name("a column or _"))
	}
	if len(n.Names) != len(n.Var.Cols) {
		p.FailLine(ln,
			"the scan names %d of the columns of %s, which are %s; write _ for one to leave "+
				"out",
			len(n.Names), n.Var.Name, irtext.ListColumns(NamesOf(n.Var.Cols)))
	}
	if p.AcceptWord("position") {
		n.Position = p.Name("a column")
	}
	p.End()
	return n
}

// join reads `unique semi join x, y`. The columns are those that both sides
// have; a text may leave them out.
func (p *parser) join(ln *irtext.Line) Node {
	sides := p.inputs(ln, 2)
	n := &Join{Left: sides[0], Right: sides[1]}
	p.Tokens = ln.Tokens
	n.Unique = p.AcceptWord("unique")
	switch {
	case p.AcceptWord("semi"):
		n.Kind = Semi
	case p.AcceptWord("anti"):
		n.Kind = Anti
	}
	p.ExpectWord("join")
	if p.Peek().Kind == irtext.EndToken {
		return n
	}
	on := []string{p.Name("a column")}
	for p.Accept(",") {
		on = append(on, p.Name("a column"))
	}
	p.End()
	if both := n.On(); !slices.Equal(slices.Sorted(slices.Values(on)),
		slices.Sorted(slices.Values(both))) {
		p.FailLine(ln, "the join names %s, but the columns that both sides have are %s",
			irtext.ListColumns(on), irtext.ListColumns(both))
	}
	return n
}

// multiJoin reads `uneven multijoin x, y, z`.
func (p *parser) multiJoin(ln *irtext.Line) Node {
	n := &MultiJoin{Nodes: p.inputs(ln, len(ln.Kids))}
	p.Tokens = ln.Tokens
	n.Uneven = p.AcceptWord("uneven")
	p.ExpectWord("multijoin")
	for p.Peek().Kind != irtext.EndToken {
		if len(n.Order) > 0 {
			p.Expect(",")
		}
		n.Order = append(n.Order, p.Name("a column"))
	}
	return n
}

func (p *parser) agg() Agg {
	a := Agg{Out: ParseColumn(&p.Cursor)}
	p.Expect("=")
	a.Fn = ParseAggFn(&p.Cursor)
	p.Expect("(")
	if a.Fn != Count {
		a.In = p.Name("a column")
	}
	p.Expect(")")
	return a
}

func (p *parser) expr(cols []Column) Expr {
	if p.depth++; p.depth > irtext.MaxDepth {
		t := p.Peek()
		p.Fail(t.Start, t.End, "the expression is nested deeper than %d levels", irtext.MaxDepth)
	}
	defer func() { p.depth-- }()
	t := p.Peek()
	switch {
	case t.Kind == irtext.LiteralToken, t.IsWord("true"), t.IsWord("false"):
		return &Const{p.Literal()}
	case t.Kind != irtext.WordToken && t.Kind != irtext.NameToken:
		p.Unexpected(t, "a column, a constant or a function")
	}
	p.Next()
	if t.Kind == irtext.WordToken {
		name, end := t.Text, t.End
		if p.Accept("[") {
			name, end = p.Brackets(name)
			if !p.Accept("(") {
				p.Unexpected(p.Peek(), `"("`)
			}
			return p.call(t.Start, end, name, cols)
		}
		if p.Accept("(") {
			return p.call(t.Start, end, name, cols)
		}
	}
	c, ok := FindColumn(cols, t.Text)
	if !ok {
		p.Fail(t.Start, t.End, "%s", noColumn(t.Text, cols))
	}
	return &ColRef{c}
}

// call reads the arguments after `name(`. The name may end with a colon and the
// result type, which convert needs always.
func (p *parser) call(start, end int, name string, cols []Column) Expr {
	e := &Call{Func: scalar.Lookup(name)}
	typed := false
	if e.Func == nil || e.Func.Name != name {
		if colon := strings.LastIndexByte(name, ':'); colon > 0 {
			if typ, ok := scalar.ParseType(name[colon+1:]); ok {
				if f := scalar.Lookup(name[:colon]); f != nil && f.Name == name[:colon] {
					e.Func, e.Result, typed = f, typ, true
				}
			}
		}
	}
	if e.Func == nil {
		p.Fail(start, end, "there is no function %s", name)
	}
	for !p.Accept(")") {
		if len(e.Args) > 0 {
			p.Expect(",")
		}
		e.Args = append(e.Args, p.expr(cols))
	}
	if typed {
		return e
	}
	if e.Func.Name == "convert" {
		p.Fail(start, end, "convert needs its result type, for example convert:float(x)")
	}
	sig, err := scalar.Resolve(e.Func.Name, exprTypes(e.Args))
	if err != nil {
		p.Fail(start, end, "%s", err)
	}
	e.Result = sig.Result
	return e
}
