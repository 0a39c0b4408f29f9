package abi

import (
	"math"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// SyntaxError is a place where a text is not that of a module.
type SyntaxError = irtext.SyntaxError

// Parse reads the text of a module, as String writes it. Name stands for the
// text in errors, which are *SyntaxError. What the text means is for Verify.
func Parse(name, text string) (m *Module, err error) {
	ps := &parser{irtext.NewCursor(name, text)}
	defer irtext.Catch(&err)
	return ps.module(), nil
}

// parser reads lines by recursive descent. It fails by a panic with a
// *SyntaxError, which irtext.Catch turns into a result.
type parser struct{ irtext.Cursor }

func (p *parser) module() *Module {
	lines := p.Lines()
	if len(lines) == 0 {
		p.Fail(0, 0, "expected a module, found nothing")
	}
	p.Tokens = lines[0].Tokens
	p.ExpectWord("module")
	m := &Module{Target: p.Str()}
	p.End()
	p.leaf(lines[0])
	for _, ln := range lines[1:] {
		p.Tokens = ln.Tokens
		switch t := p.Next(); {
		case t.IsWord("table"):
			m.Tables = append(m.Tables, p.table())
			p.leaf(ln)
		case t.IsWord("entry"):
			e := p.entry()
			p.End()
			for _, kid := range ln.Kids {
				p.item(e, kid)
			}
			m.Entries = append(m.Entries, e)
		default:
			p.Unexpected(t, `"table" or "entry"`)
		}
	}
	return m
}

func (p *parser) leaf(ln *irtext.Line) {
	if len(ln.Kids) > 0 {
		p.FailLine(ln.Kids[0], "nothing can be indented under %s", ln.Tokens[0].Text)
	}
}

// int reads a number of at least 0.
func (p *parser) int() int {
	at := p.Peek()
	n := p.Integer()
	if n > math.MaxInt32 {
		p.Fail(at.Start, at.End, "%d is too large", n)
	}
	return int(n)
}

// property reads a number behind a word, or 0 where the word is not next.
func (p *parser) property(word string) int {
	if !p.AcceptWord(word) {
		return 0
	}
	return p.int()
}

// table reads `like(_, "%green%") -> boolean in 0 out 2`.
func (p *parser) table() Table {
	t := Table{Func: p.Name("a function"), String: -1}
	open := p.Peek()
	p.Tuple(func() {
		if p.AcceptWord("_") {
			if t.String >= 0 {
				p.Fail(open.Start, open.End, "a table is a function of one string")
			}
			t.String = len(t.Args)
			t.Args = append(t.Args, scalar.Value{})
			return
		}
		t.Args = append(t.Args, p.Literal())
	})
	if t.String < 0 {
		p.Fail(open.Start, open.End, "none of the arguments is the string, _")
	}
	p.Expect("->")
	t.Result = p.Type()
	p.ExpectWord("in")
	t.In = p.int()
	t.Out = p.property("out")
	p.End()
	return t
}

// entry reads `k0 kernel k0 tile 256 16 scratch 36 queued 1280 expansions 1`.
func (p *parser) entry() *Entry {
	e := &Entry{Symbol: p.Name("a symbol")}
	t := p.Next()
	role, ok := find[Role](roleNames[:], t.Text)
	if !ok {
		p.Unexpected(t, "kernel, build_insert, build_count or build_fill")
	}
	e.Role = role
	e.Of = p.Name("a kernel or an index")
	p.ExpectWord("tile")
	e.Threads, e.Items = p.int(), p.int()
	e.Scratch = p.property("scratch")
	e.Dynamic = p.property("dynamic")
	e.Queued = p.property("queued")
	e.Expansions = p.property("expansions")
	e.Sharing = p.property("sharing")
	e.Loop.Operations = p.property("operations")
	e.Loop.Kernels = p.property("kernels")
	e.Loop.Relations = p.property("relations")
	return e
}

// item reads a line under an entry.
func (p *parser) item(e *Entry, ln *irtext.Line) {
	p.Tokens = ln.Tokens
	switch t := p.Next(); {
	case t.IsWord("param"):
		e.Params = append(e.Params, p.param())
	case t.IsWord("literal"):
		e.Literals = append(e.Literals, Literal{Value: p.Literal(), Domain: p.property("domain")})
	case t.IsWord("host"):
		e.Hosts = append(e.Hosts, p.host())
	default:
		p.Unexpected(t, `"param", "literal" or "host"`)
	}
	p.End()
	p.leaf(ln)
}

// param reads `column_data edge 1`.
func (p *parser) param() Param {
	t := p.Next()
	kind, ok := find[Kind](kindNames[:], t.Text)
	if !ok {
		p.Unexpected(t, "a kind of parameter")
	}
	out := Param{Kind: kind}
	if k := p.Peek().Kind; k == irtext.WordToken || k == irtext.NameToken {
		out.Var = p.Name("a variable")
	}
	if p.Peek().Kind != irtext.EndToken {
		out.Index = p.int()
	}
	return out
}

// host reads `string:lower(string) domains [0] -> string domain 2`.
func (p *parser) host() Host {
	h := Host{Func: p.Name("a function")}
	p.Tuple(func() { h.Args = append(h.Args, p.Type()) })
	if p.AcceptWord("domains") {
		p.List(func() { h.Domains = append(h.Domains, p.int()) })
	}
	p.Expect("->")
	h.Result = p.Type()
	h.Domain = p.property("domain")
	return h
}
