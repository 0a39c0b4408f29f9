package queryplan

import (
	"fmt"

	"github.com/redfoxdb/redfox/queryplan/cfg"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// Parse reads the text of a plan, as String writes it. Name stands for the text
// in errors, which are *SyntaxError, and in the spans of variables and
// commands. The result has types, since a column has to exist where it is used,
// but is not verified otherwise.
func Parse(name, text string) (p *Plan, err error) {
	ps := newParser(name, text)
	defer irtext.Catch(&err)
	return ps.plan(), nil
}

// ParseNode reads one operator tree over the given variables.
func ParseNode(name, text string, vars []*Var) (n Node, err error) {
	ps := newParser(name, text)
	defer irtext.Catch(&err)
	for _, v := range vars {
		ps.vars[v.Name] = v
	}
	lines := ps.Lines()
	if len(lines) != 1 {
		ps.Fail(0, len(text), "expected one operator tree, found %d", len(lines))
	}
	return ps.node(lines[0]), nil
}

// SyntaxError is a place where the text of a plan is not one.
type SyntaxError = irtext.SyntaxError

// parser reads lines by recursive descent. It fails by a panic with a
// *SyntaxError, which irtext.Catch turns into a result.
type parser struct {
	irtext.Cursor
	vars  map[string]*Var
	depth int // of the expression
}

func newParser(name, text string) *parser {
	return &parser{
		Cursor: irtext.NewCursor(name, text),
		vars:   map[string]*Var{},
	}
}

func (p *parser) plan() *Plan {
	plan := &Plan{}
	graph := cfg.Parser[Command, *Var]{Cursor: &p.Cursor, Command: p.command, Variable: p.varRef}
	graph.Declaration = func(t irtext.Token, ln *irtext.Line) {
		if !t.IsWord("var") {
			p.Unexpected(t, `"var" or "block"`)
		}
		v := ParseDecl(&p.Cursor, "the name of a variable")
		p.End()
		v.Span = p.Span(ln)
		if p.vars[v.Name] != nil {
			p.Fail(ln.Start, ln.End, "a variable %s is there already", v.Name)
		}
		cfg.Leaf(&p.Cursor, ln, "a variable")
		p.vars[v.Name] = v
		plan.Vars = append(plan.Vars, v)
	}
	plan.Blocks = graph.Parse()
	return plan
}

func (p *parser) command(ln *irtext.Line) Command {
	span := p.Span(ln)
	t := p.Next()
	switch t.Text {
	case "insert", "assign":
		v := p.varRef()
		p.End()
		n := p.input(ln)
		if t.Text == "assign" {
			return &Assign{Var: v, Node: n}
		}
		return &Insert{Var: v, Node: n, Span: span}
	case "check":
		c := &Check{Span: span}
		if p.Peek().Kind == irtext.LiteralToken {
			c.Text = p.Str()
		} else {
			a := p.agg()
			c.Result = &a
		}
		p.End()
		c.Node = p.input(ln)
		return c
	}
	var c Command
	switch t.Text {
	case "merge":
		c = &Merge{p.varRef()}
	case "clear":
		c = &Clear{p.varRef()}
	case "checkkey":
		c = &CheckKey{Var: p.varRef(), Span: span}
	default:
		p.Unexpected(t,
			`"insert", "assign", "merge", "clear", "check", "checkkey", "jump", "branch" or "halt"`)
	}
	p.End()
	cfg.Leaf(&p.Cursor, ln, t.Text)
	return c
}

func (p *parser) varRef() *Var {
	t := p.Peek()
	name := p.Name("a variable")
	v := p.vars[name]
	if v == nil {
		p.Fail(t.Start, t.End, "there is no variable %s", name)
	}
	return v
}

func noColumn(name string, in []Column) string {
	if len(in) == 0 {
		return fmt.Sprintf("there is no column %s; the input has none", irtext.QuoteColumn(name))
	}
	return fmt.Sprintf("there is no column %s; the input has %s", irtext.QuoteColumn(name),
		irtext.ListColumns(NamesOf(in)))
}
