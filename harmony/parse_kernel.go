package harmony

import (
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// kernel reads the lines under run: a source, stages, sinks.
func (p *parser) kernel(k *Kernel, ln *irtext.Line) {
	if len(ln.Kids) == 0 {
		p.FailLine(ln, "kernel %s has no source", irtext.QuoteName(k.Name))
	}
	p.Tokens = ln.Kids[0].Tokens
	k.Source = p.kernelSource(ln.Kids[0])
	p.source, p.regs = k.Source, map[string]*Reg{}
	for _, kid := range ln.Kids[1:] {
		p.Tokens = kid.Tokens
		if s := p.sink(); s != nil {
			k.Sinks = append(k.Sinks, s)
		} else if len(k.Sinks) > 0 {
			p.FailLine(kid, "only sinks can follow a sink")
		} else {
			k.Stages = append(k.Stages, p.stage())
		}
		p.End()
		p.leaf(kid)
	}
}

func (p *parser) kernelSource(ln *irtext.Line) Source {
	t := p.Next()
	if t.IsWord("values") {
		cols, rows := queryplan.ParseValues(&p.Cursor, ln)
		return &Values{Cols: cols, Rows: rows}
	}
	var s Source
	switch t.Text {
	case "rows":
		r := &Rows{}
		r.Rel, r.Version = p.version()
		s = r
	case "groups":
		s = &GroupRows{managed[*Groups](p, "a group-by table")}
	default:
		p.Unexpected(t, `"rows", "groups" or "values"`)
	}
	p.End()
	p.leaf(ln)
	return s
}

// sink reads a sink. It returns nil, and reads nothing, for any other line.
func (p *parser) sink() Sink {
	switch t := p.Peek(); {
	case p.AcceptWord("store"):
		return &Store{To: p.relationRef(), Vals: p.operands()}
	case p.AcceptWord("insert"):
		return &Insert{To: p.relationRef(), Vals: p.operands()}
	case p.AcceptWord("group"):
		s := &Group{To: managed[*Groups](p, "a group-by table")}
		p.List(func() { s.Key = append(s.Key, p.operand()) })
		for i, a := range s.To.Accs {
			if i > 0 {
				p.Expect(",")
			}
			t = p.Peek()
			if fn := queryplan.ParseAggFn(&p.Cursor); fn != a.Fn {
				p.Fail(t.Start, t.End, "accumulator %d of %s is a %s", i+1,
					irtext.QuoteName(s.To.Name), a.Fn)
			}
			p.Expect("(")
			var o Operand
			if a.Fn != queryplan.Count {
				o = p.operand()
			}
			p.Expect(")")
			s.Vals = append(s.Vals, o)
		}
		return s
	}
	return nil
}

func (p *parser) stage() Stage {
	switch {
	case p.AcceptWord("filter"):
		return &Filter{Cond: p.operand()}
	case p.AcceptWord("need"):
		return &Need{Reg: p.reg()}
	case p.AcceptWord("probe"):
		return p.probe(nil)
	}
	t := p.Peek()
	name := p.Name("a stage or a sink")
	if t.Kind != irtext.WordToken || t.Text == "true" || t.Text == "false" || p.Peek().Text != ":" {
		p.Unexpected(t, "a stage or a sink")
	}
	p.Expect(":")
	out := &Reg{}
	isRow := p.AcceptWord("row")
	if !isRow {
		out.Type = p.Type()
	}
	p.Expect("=")
	var s Stage
	op := p.Next()
	switch {
	case op.IsWord("probe") && isRow:
		s = p.probe(out)
	case op.IsWord("load") && !isRow:
		s = &Load{Out: out, Col: p.columnOf(p.source.Columns())}
	case op.IsWord("map") && !isRow:
		s = p.mapStage(out)
	case op.IsWord("gather") && !isRow:
		s = p.gather(out)
	case op.IsWord("position") && !isRow:
		s = p.position(op, out)
	case isRow:
		p.Unexpected(op, `"probe"`)
	default:
		p.Unexpected(op, `"load", "map", "gather" or "position"`)
	}
	// The register is defined from the next line on.
	if p.regs[name] != nil {
		p.Fail(t.Start, t.End, "%s is defined already", name)
	}
	p.regs[name] = out
	return s
}

// probe reads `multi edge_x(v1)`; out is the register of the row, if there is
// one.
func (p *parser) probe(out *Reg) *Probe {
	t := p.Next()
	s := &Probe{Out: out}
	switch t.Text {
	case "unique":
		s.Kind = ProbeUnique
	case "multi":
		s.Kind = ProbeMulti
	case "exists":
		s.Kind = ProbeExists
	case "absent":
		s.Kind = ProbeAbsent
	default:
		p.Unexpected(t, `"unique", "multi", "exists" or "absent"`)
	}
	switch {
	case s.Kind.Finds() && out == nil:
		p.Fail(t.Start, t.End, "a %s probe defines a row", s.Kind)
	case !s.Kind.Finds() && out != nil:
		p.Fail(t.Start, t.End, "a probe for %s defines no row", s.Kind)
	}
	if s.Index = managed[*Index](p, "an index"); out != nil {
		out.Row = s.Index.Of
	}
	s.Key = p.operands()
	return s
}

func (p *parser) mapStage(out *Reg) *Map {
	t := p.Next()
	s := &Map{Out: out}
	if t.Kind == irtext.WordToken {
		s.Func = scalar.Lookup(t.Text)
	}
	if s.Func == nil || s.Func.Name != t.Text {
		p.Fail(t.Start, t.End, "there is no function %s", t)
	}
	s.Args = p.operands()
	return s
}

func (p *parser) gather(out *Reg) *Gather {
	// The name of the column comes before the register whose relation has it.
	col := p.Next()
	p.Expect("[")
	t := p.Peek()
	s := &Gather{Out: out, Row: p.reg()}
	p.Expect("]")
	if s.Row.Row == nil {
		p.Fail(t.Start, t.End, "%s is a value, not a row", t.Text)
	}
	rest := p.Tokens
	p.Tokens = []irtext.Token{col, rest[0]}
	s.Col = p.columnOf(s.Row.Row.Cols)
	p.Tokens = rest
	return s
}

// position reads the register of a row, whose position the stage defines.
// Without a register, it is the source's row.
func (p *parser) position(word irtext.Token, out *Reg) Stage {
	t := p.Peek()
	if t.Kind == irtext.EndToken {
		rows, ok := p.source.(*Rows)
		if !ok {
			p.Fail(word.Start, word.End, "only rows of a relation have a position")
		}
		return &Load{Out: out, Col: rows.Rel.Position()}
	}
	s := &Gather{Out: out, Row: p.reg()}
	if s.Row.Row == nil {
		p.Fail(t.Start, t.End, "%s is a value, not a row", t.Text)
	}
	s.Col = s.Row.Row.Position()
	return s
}

func (p *parser) reg() *Reg {
	t := p.Next()
	if t.Kind != irtext.WordToken {
		p.Unexpected(t, "a register")
	}
	r := p.regs[t.Text]
	if r == nil {
		p.Fail(t.Start, t.End, "no register %s is defined before", t.Text)
	}
	return r
}

func (p *parser) operand() Operand {
	if t := p.Peek(); t.Kind == irtext.LiteralToken || t.IsWord("true") || t.IsWord("false") {
		return Operand{Const: p.Literal()}
	}
	return Operand{Reg: p.reg()}
}

func (p *parser) operands() []Operand {
	var out []Operand
	p.Tuple(func() { out = append(out, p.operand()) })
	return out
}
