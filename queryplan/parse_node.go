package queryplan

import (
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
)

// input reads the one operator tree under a line.
func (p *parser) input(ln *line) Node {
	if len(ln.kids) != 1 {
		p.failLine(ln, "expected one operator under this line, found %d", len(ln.kids))
	}
	return p.node(ln.kids[0])
}

func (p *parser) inputs(ln *line, n int) []Node {
	if len(ln.kids) != n {
		p.failLine(ln, "expected %d operators under this line, found %d", n, len(ln.kids))
	}
	out := make([]Node, n)
	for i, kid := range ln.kids {
		out[i] = p.node(kid)
	}
	return out
}

// node reads the operator of a line, after its inputs, on whose columns its
// types depend.
func (p *parser) node(ln *line) Node {
	rest := ln.tokens[1:]
	switch t := ln.tokens[0]; t.text {
	case "scan":
		p.leaf(ln)
		p.tokens = rest
		return p.scan(ln)
	case "values":
		return p.values(ln)
	case "filter":
		n := &Filter{Input: p.input(ln)}
		p.tokens = rest
		n.Cond = p.expr(n.Input.Columns())
		p.end()
		return n
	case "map":
		n := &Map{Input: p.input(ln)}
		p.tokens = rest
		cols := n.Input.Columns()
		for p.peek().kind != endToken {
			if len(n.Exprs) > 0 {
				p.expect(",")
			}
			e := NamedExpr{Name: p.name("a column")}
			p.expect("=")
			e.Expr = p.expr(cols)
			n.Exprs = append(n.Exprs, e)
		}
		return n
	case "project":
		n := &Project{Input: p.input(ln)}
		p.tokens = rest
		for p.peek().kind != endToken {
			if len(n.Cols) > 0 {
				p.expect(",")
			}
			r := Rename{From: p.name("a column")}
			if r.To = r.From; p.acceptWord("as") {
				r.To = p.name("a column")
			}
			n.Cols = append(n.Cols, r)
		}
		return n
	case "dedup":
		p.tokens = rest
		p.end()
		return &Dedup{Input: p.input(ln)}
	case "join", "unique", "semi", "anti":
		return p.join(ln)
	case "aggregate":
		n := &Aggregate{Input: p.input(ln)}
		p.tokens = rest
		n.By = p.names()
		for p.peek().kind != endToken {
			if len(n.Aggs) > 0 {
				p.expect(",")
			}
			n.Aggs = append(n.Aggs, p.agg())
		}
		return n
	case "union":
		p.tokens = rest
		p.end()
		if len(ln.kids) == 0 {
			p.failLine(ln, "a union needs an operator under it")
		}
		return &Union{Nodes: p.inputs(ln, len(ln.kids))}
	case "multijoin":
		return p.multiJoin(ln)
	case "seq":
		n := &Seq{Input: p.input(ln)}
		p.tokens = rest
		n.Index = p.name("a column")
		if p.acceptWord("group") {
			n.Group = p.names()
		}
		p.expectWord("order")
		n.Order = p.names()
		p.end()
		return n
	case "topk":
		n := &TopK{Input: p.input(ln)}
		p.tokens = rest
		n.Limit = p.integer()
		if p.acceptWord("group") {
			n.Group = p.names()
		}
		p.expectWord("order")
		n.By = p.orderKeys()
		p.end()
		return n
	default:
		p.unexpected(t, "an operator")
		return nil
	}
}

func (p *parser) leaf(ln *line) {
	if len(ln.kids) > 0 {
		p.failLine(ln.kids[0], "%s has no inputs", ln.tokens[0].text)
	}
}

func (p *parser) scan(ln *line) Node {
	n := &Scan{}
	if len(p.tokens) > 1 && p.tokens[1].kind != punctToken {
		switch {
		case p.acceptWord("delta"):
			n.Version = Delta
		case p.acceptWord("old"):
			n.Version = Old
		}
	}
	n.Var = p.varRef()
	p.expect("(")
	for !p.accept(")") {
		if len(n.Names) > 0 {
			p.expect(",")
		}
		if p.acceptWord("_") {
			n.Names = append(n.Names, "")
			continue
		}
		n.Names = append(n.Names, p.name("a column or _"))
	}
	if len(n.Names) != len(n.Var.Cols) {
		p.failLine(ln, "the scan names %d of the columns of %s, which are %s; write _ for one to leave out",
			len(n.Names), n.Var.Name, listNames(columnNames(n.Var.Cols)))
	}
	p.end()
	return n
}

func (p *parser) values(ln *line) Node {
	p.tokens = ln.tokens[1:]
	n := &Values{}
	p.expect("(")
	for !p.accept(")") {
		if len(n.Cols) > 0 {
			p.expect(",")
		}
		n.Cols = append(n.Cols, p.column())
	}
	p.end()
	for _, kid := range ln.kids {
		p.leaf(kid)
		p.tokens = kid.tokens
		p.expect("(")
		row := make([]scalar.Value, 0, len(n.Cols))
		for !p.accept(")") {
			if len(row) > 0 {
				p.expect(",")
			}
			row = append(row, p.literal())
		}
		p.end()
		if len(row) != len(n.Cols) {
			p.failLine(kid, "the values of this row do not match the columns: %d of %d", len(row), len(n.Cols))
		}
		n.Rows = append(n.Rows, row)
	}
	return n
}

// join reads `unique semi join x, y`. The columns are those that both sides
// have; a text may leave them out.
func (p *parser) join(ln *line) Node {
	sides := p.inputs(ln, 2)
	n := &Join{Left: sides[0], Right: sides[1]}
	p.tokens = ln.tokens
	n.Unique = p.acceptWord("unique")
	switch {
	case p.acceptWord("semi"):
		n.Kind = Semi
	case p.acceptWord("anti"):
		n.Kind = Anti
	}
	p.expectWord("join")
	if p.peek().kind == endToken {
		return n
	}
	on := []string{p.name("a column")}
	for p.accept(",") {
		on = append(on, p.name("a column"))
	}
	p.end()
	if both := n.On(); !slices.Equal(slices.Sorted(slices.Values(on)), slices.Sorted(slices.Values(both))) {
		p.failLine(ln, "the join names %s, but the columns that both sides have are %s", listNames(on), listNames(both))
	}
	return n
}

// multiJoin reads `multijoin x, y, z`.
func (p *parser) multiJoin(ln *line) Node {
	n := &MultiJoin{Nodes: p.inputs(ln, len(ln.kids))}
	p.tokens = ln.tokens[1:]
	for p.peek().kind != endToken {
		if len(n.Order) > 0 {
			p.expect(",")
		}
		n.Order = append(n.Order, p.name("a column"))
	}
	return n
}

func (p *parser) agg() Agg {
	a := Agg{Out: p.column()}
	p.expect("=")
	t := p.next()
	at := slices.Index(aggNames[:], t.text)
	if at < 0 || t.kind != wordToken {
		p.unexpected(t, "count, total, min, max or avg")
	}
	a.Fn = AggFn(at)
	p.expect("(")
	if a.Fn != Count {
		a.In = p.name("a column")
	}
	p.expect(")")
	return a
}

func (p *parser) expr(cols []Column) Expr {
	if p.depth++; p.depth > maxDepth {
		t := p.peek()
		p.fail(t.start, t.end, "the expression is nested deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.peek()
	switch {
	case t.kind == literalToken, t.isWord("true"), t.isWord("false"):
		return &Const{p.literal()}
	case t.kind != wordToken && t.kind != nameToken:
		p.unexpected(t, "a column, a constant or a function")
	}
	p.next()
	if t.kind == wordToken {
		name, end := t.text, t.end
		if p.accept("[") {
			name, end = p.brackets(name)
			if !p.accept("(") {
				p.unexpected(p.peek(), `"("`)
			}
			return p.call(t.start, end, name, cols)
		}
		if p.accept("(") {
			return p.call(t.start, end, name, cols)
		}
	}
	c, ok := FindColumn(cols, t.text)
	if !ok {
		p.fail(t.start, t.end, "%s", noColumn(t.text, cols))
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
		p.fail(start, end, "there is no function %s", name)
	}
	for !p.accept(")") {
		if len(e.Args) > 0 {
			p.expect(",")
		}
		e.Args = append(e.Args, p.expr(cols))
	}
	if typed {
		return e
	}
	if e.Func.Name == "convert" {
		p.fail(start, end, "convert needs its result type, for example convert:float(x)")
	}
	sig, err := scalar.Resolve(e.Func.Name, exprTypes(e.Args))
	if err != nil {
		p.fail(start, end, "%s", err)
	}
	e.Result = sig.Result
	return e
}

func (p *parser) literal() scalar.Value {
	t := p.next()
	switch {
	case t.kind == literalToken:
		return t.value
	case t.isWord("true"), t.isWord("false"):
		return scalar.OfBool(t.text == "true")
	}
	p.unexpected(t, "a constant")
	return scalar.Value{}
}
