package harmony

import (
	"slices"

	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// SyntaxError is an error in the text of a program, with its place.
type SyntaxError = irtext.SyntaxError

// Parse parses the text of a program in the form that String writes. name is
// the name of the text in errors, which are *SyntaxError, and in the spans of
// variables, kernels and commands. Parse checks only that names are defined;
// Verify checks the rest.
func Parse(name, text string) (p *Program, err error) {
	ps := &parser{
		Cursor: irtext.NewCursor(name, text),
		vars:   map[string]Managed{},
	}
	defer irtext.Catch(&err)
	return ps.program(), nil
}

// parser reads lines by recursive descent. It fails by a panic with a
// *SyntaxError, which irtext.Catch turns into a result.
type parser struct {
	irtext.Cursor
	vars map[string]Managed
	// The kernel that is being read.
	source Source
	regs   map[string]*Reg
}

func (p *parser) program() *Program {
	prog := &Program{}
	graph := cfg.Parser[Command, *Relation]{
		Cursor: &p.Cursor, Command: p.command, Variable: p.relationRef,
	}
	graph.Declaration = func(t irtext.Token, ln *irtext.Line) {
		var v Managed
		switch {
		case t.IsWord("relation"):
			r := (*Relation)(queryplan.ParseDecl(&p.Cursor, "the name of a relation"))
			r.Span = p.Span(ln)
			prog.Relations, v = append(prog.Relations, r), r
		case t.IsWord("index"):
			x := p.index()
			x.Span = p.Span(ln)
			prog.Indexes, v = append(prog.Indexes, x), x
		case t.IsWord("groups"):
			g := p.groups()
			g.Span = p.Span(ln)
			prog.Groups, v = append(prog.Groups, g), g
		default:
			p.Unexpected(t, `"relation", "index", "groups" or "block"`)
		}
		p.End()
		p.leaf(ln)
		if p.vars[v.ManagedName()] != nil {
			p.FailLine(ln, "a variable %s is there already", irtext.QuoteName(v.ManagedName()))
		}
		p.vars[v.ManagedName()] = v
	}
	prog.Blocks = graph.Parse()
	return prog
}

func (p *parser) leaf(ln *irtext.Line) { cfg.Leaf(&p.Cursor, ln, ln.Tokens[0].Text) }

// index reads `edge_x multi delta edge(x)`, `pair exists edge(x, y) busy` or
// `nth unique edge position`.
func (p *parser) index() *Index {
	x := &Index{Name: p.Name("the name of an index")}
	t := p.Next()
	at := slices.Index(indexKinds[:], t.Text)
	if at < 0 {
		p.Unexpected(t, `"unique", "multi" or "exists"`)
	}
	x.Kind = IndexKind(at)
	x.Of, x.Version = p.version()
	if p.AcceptWord("position") {
		x.Key = []int{x.Of.Position()}
	} else {
		p.Tuple(func() { x.Key = append(x.Key, p.columnOf(x.Of.Cols)) })
	}
	x.Busy = p.AcceptWord("busy")
	return x
}

// groups reads `g(x: int; n: int = count())`, with `of n` after an accumulator
// that shares n's cells.
func (p *parser) groups() *Groups {
	g := &Groups{Name: p.Name("the name of a group-by table")}
	owners := map[int]irtext.Token{}
	p.Expect("(")
	for !p.Accept(";") {
		if len(g.Keys) > 0 {
			p.Expect(",")
		}
		g.Keys = append(g.Keys, queryplan.ParseColumn(&p.Cursor))
	}
	for !p.Accept(")") {
		if len(g.Accs) > 0 {
			p.Expect(",")
		}
		a := Acc{Out: queryplan.ParseColumn(&p.Cursor)}
		p.Expect("=")
		a.Fn = queryplan.ParseAggFn(&p.Cursor)
		p.Expect("(")
		if a.Fn != queryplan.Count {
			a.In = p.Type()
		}
		p.Expect(")")
		if p.AcceptWord("of") {
			owners[len(g.Accs)] = p.Peek()
			p.Name("an accumulator")
		}
		g.Accs = append(g.Accs, a)
	}
	for i := range g.Accs {
		t, ok := owners[i]
		if !ok {
			continue
		}
		g.Accs[i].Shares = 1 + slices.IndexFunc(g.Accs, func(a Acc) bool {
			return a.Out.Name == t.Text
		})
		if g.Accs[i].Shares == 0 {
			p.Fail(t.Start, t.End, "there is no accumulator %s", irtext.QuoteName(t.Text))
		}
	}
	return g
}

// version reads `edge`, `delta edge` or `old edge`.
func (p *parser) version() (*Relation, Version) {
	v := queryplan.ParseVersion(&p.Cursor)
	return p.relationRef(), v
}

// managed reads the name of a variable of one type.
func managed[T Managed](p *parser, what string) T {
	t := p.Peek()
	name := p.Name(what)
	v, ok := p.vars[name].(T)
	switch {
	case p.vars[name] == nil:
		p.Fail(t.Start, t.End, "there is no variable %s", irtext.QuoteName(name))
	case !ok:
		p.Fail(t.Start, t.End, "%s is not %s", irtext.QuoteName(name), what)
	}
	return v
}

func (p *parser) relationRef() *Relation { return managed[*Relation](p, "a relation") }

// columnOf reads the name of one of the columns and returns its position.
func (p *parser) columnOf(cols []Column) int {
	t := p.Peek()
	p.Name("a column")
	return p.columnAt(cols, t)
}

// columnAt returns the position of the column with a name.
func (p *parser) columnAt(cols []Column, name irtext.Token) int {
	at := ColumnIndex(cols, name.Text)
	if at < 0 {
		names := queryplan.NamesOf(cols)
		p.Fail(name.Start, name.End, "there is no column %s; there are %s",
			irtext.QuoteColumn(name.Text), irtext.ListColumns(names))
	}
	return at
}

func (p *parser) command(ln *irtext.Line) Command {
	t := p.Next()
	if t.IsWord("run") {
		k := &Kernel{Name: p.Name("the name of a kernel"), Span: p.Span(ln)}
		if p.AcceptWord("on") {
			p.ExpectWord("host")
			k.Host = true
		}
		p.End()
		p.kernel(k, ln)
		return &Run{k}
	}
	var c Command
	switch t.Text {
	case "build":
		c = &Build{Index: managed[*Index](p, "an index"), Before: p.AcceptWord(Old.String())}
	case "number":
		n := &Number{Span: p.Span(ln)}
		n.To, n.From, n.Cols = p.taken(true)
		n.Group = p.group(n.From.Cols)
		p.ExpectWord("order")
		n.Order = queryplan.ParseOrder(&p.Cursor)
		c = n
	case "topk":
		n := &TopK{Span: p.Span(ln)}
		n.To, n.From, n.Cols = p.taken(false)
		p.ExpectWord("limit")
		n.Limit = p.Integer()
		n.Group = p.group(n.From.Cols)
		p.ExpectWord("order")
		n.By = queryplan.ParseOrder(&p.Cursor)
		c = n
	case "merge":
		c = &Merge{p.relationRef()}
	case "clear":
		c = &Clear{managed[Managed](p, "a variable")}
	case "check":
		r := p.relationRef()
		c = &Check{Rel: r, Text: p.Str(), Span: p.Span(ln)}
	case "checkkey":
		c = &CheckKey{Rel: p.relationRef(), Span: p.Span(ln)}
	default:
		p.Unexpected(t, "a command, jump, branch or halt")
	}
	p.End()
	p.leaf(ln)
	return c
}

// taken reads `n = t` or `n(x, *) = t`, where the star is the number.
func (p *parser) taken(numbered bool) (to, from *Relation, cols []int) {
	to = p.relationRef()
	listed := p.Peek().Text == "("
	var names []irtext.Token
	if listed {
		p.Tuple(func() {
			names = append(names, p.Peek())
			if !numbered || !p.Accept("*") {
				p.Name("a column")
			}
		})
	}
	p.Expect("=")
	from = p.relationRef()
	if !listed {
		return to, from, Whole(from.Cols, numbered)
	}
	for _, t := range names {
		if t.Kind == irtext.PunctToken {
			cols = append(cols, Numbered)
		} else {
			cols = append(cols, p.columnAt(from.Cols, t))
		}
	}
	return to, from, cols
}

func (p *parser) group(cols []Column) []int {
	var out []int
	if p.AcceptWord("group") {
		p.List(func() { out = append(out, p.columnOf(cols)) })
	}
	return out
}
