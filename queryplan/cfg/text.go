package cfg

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// BlockText returns the line that begins a block.
func BlockText[C, V any](b *Block[C, V]) string {
	return "block " + irtext.QuoteName(b.Name) + ":"
}

// TermText returns the line that ends a block; name returns the name of a
// variable.
func TermText[C, V any](t Terminator[C, V], name func(V) string) string {
	switch t := t.(type) {
	case *Jump[C, V]:
		return "jump " + irtext.QuoteName(t.To.Name)
	case *Branch[C, V]:
		names := list.Map(t.Vars, func(v V) string { return irtext.QuoteName(name(v)) })
		head := "branch delta "
		if t.Unbounded {
			head = "branch unbounded delta "
		}
		return head + strings.Join(names, ", ") + " -> " + irtext.QuoteName(t.Then.Name) +
			" else " + irtext.QuoteName(t.Else.Name)
	case *Halt[C, V]:
		return "halt"
	}
	return fmt.Sprintf("%T", t)
}

// Parser reads the text of a graph: declarations of variables, and blocks. Its
// functions fail as those of the cursor do.
type Parser[C, V any] struct {
	*irtext.Cursor
	// Declaration reads the line of a variable, whose first token is keyword.
	Declaration func(keyword irtext.Token, ln *irtext.Line)
	// Command reads a command; its first token is next.
	Command func(ln *irtext.Line) C
	// Variable reads the name of a variable that a branch tests.
	Variable func() V

	blocks map[string]*Block[C, V]
}

// Parse reads the whole text and returns its blocks.
func (p *Parser[C, V]) Parse() []*Block[C, V] {
	p.blocks = map[string]*Block[C, V]{}
	var out []*Block[C, V]
	lines := p.Lines()
	// Blocks are named first, because jumps also go forwards.
	for _, ln := range lines {
		p.Tokens = ln.Tokens
		t := p.Next()
		if !t.IsWord("block") {
			p.Declaration(t, ln)
			continue
		}
		b := &Block[C, V]{Name: p.Name("the name of a block")}
		p.Expect(":")
		p.End()
		if p.blocks[b.Name] != nil {
			p.FailLine(ln, "a block %s is there already", b.Name)
		}
		p.blocks[b.Name] = b
		out = append(out, b)
	}
	next := 0
	for _, ln := range lines {
		if ln.Tokens[0].IsWord("block") {
			p.block(out[next], ln)
			next++
		}
	}
	return out
}

// Leaf fails if anything is indented under a line.
func Leaf(c *irtext.Cursor, ln *irtext.Line, what string) {
	if len(ln.Kids) > 0 {
		c.FailLine(ln.Kids[0], "nothing can be indented under %s", what)
	}
}

func (p *Parser[C, V]) block(b *Block[C, V], ln *irtext.Line) {
	if len(ln.Kids) == 0 {
		p.FailLine(ln, "block %s is empty; it needs at least a jump, branch or halt", b.Name)
	}
	for _, kid := range ln.Kids {
		if b.Term != nil {
			p.FailLine(kid, "nothing can follow the end of block %s", b.Name)
		}
		p.Tokens = kid.Tokens
		if t := p.Peek(); t.IsWord("jump") || t.IsWord("branch") || t.IsWord("halt") {
			b.Term = p.terminator(p.Span(kid))
			Leaf(p.Cursor, kid, "the end of a block")
			continue
		}
		b.Cmds = append(b.Cmds, p.Command(kid))
	}
	if b.Term == nil {
		p.FailLine(ln.Kids[len(ln.Kids)-1], "block %s does not end with a jump, branch or halt",
			b.Name)
	}
}

func (p *Parser[C, V]) terminator(span source.Span) Terminator[C, V] {
	var term Terminator[C, V]
	switch t := p.Next(); t.Text {
	case "jump":
		term = &Jump[C, V]{p.blockRef()}
	case "branch":
		b := &Branch[C, V]{}
		if p.AcceptWord("unbounded") {
			b.Unbounded, b.Span = true, span
		}
		p.ExpectWord("delta")
		for b.Vars = append(b.Vars, p.Variable()); p.Accept(","); {
			b.Vars = append(b.Vars, p.Variable())
		}
		p.Expect("->")
		b.Then = p.blockRef()
		p.ExpectWord("else")
		b.Else = p.blockRef()
		term = b
	default:
		term = &Halt[C, V]{}
	}
	p.End()
	return term
}

func (p *Parser[C, V]) blockRef() *Block[C, V] {
	t := p.Peek()
	name := p.Name("a block")
	b := p.blocks[name]
	if b == nil {
		p.Fail(t.Start, t.End, "there is no block %s", name)
	}
	return b
}
