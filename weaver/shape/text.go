package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// String returns the shapes as text, which Parse reads back for the same kernel
// graph and facts. A kernel's stages are numbered as the graph has them; order
// is left out if work follows it.
//
//	shapes "gpu:sm_90"
//	kernel k0
//	  tile 256 4
//	  parts 4
//	  registers 64
//	  order [0, 2, 1, 3]
//	  queue 3
//	  group g0 table places 1024 slots 4096
//	  memory scratch 36 shared 45072
//	  because [drops]
//	build_insert i
//	  tile 256 4
//	  because [build]
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "shapes %s\n", scalar.Quote(p.Options.Target.Name))
	for _, f := range p.Functions {
		b.WriteString(f.String())
	}
	return b.String()
}

// String returns the text of one function.
func (f *Function) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s %s", f.Role, irtext.QuoteName(f.Of))
	line("  tile %d %d", f.Threads, f.Items)
	if f.Parts > 1 {
		line("  parts %d", f.Parts)
	}
	if f.Registers > 0 {
		line("  registers %d", f.Registers)
	}
	if !slices.Equal(f.order, f.Kernel.Stages) {
		at := make([]string, len(f.order))
		for i, s := range f.order {
			at[i] = fmt.Sprint(slices.Index(f.Kernel.Stages, s))
		}
		line("  order [%s]", strings.Join(at, ", "))
	}
	if f.Queue != nil {
		line("  queue %d", f.Queue.Before)
	}
	for _, g := range f.Groups {
		line("  group %s %s%s", irtext.QuoteName(g.Sink.To.Name), g.How, g.Table)
	}
	if f.Memory != (Memory{}) {
		line("  memory%s", f.Memory)
	}
	if len(f.Why) > 0 {
		names := list.Map(f.Why, func(why *Reason) string { return why.Name })
		line("  because [%s]", strings.Join(names, ", "))
	}
	return b.String()
}

// Explain returns the shape of a kernel, with a line for each reason.
func (p *Program) Explain(kernel string) string {
	i := slices.IndexFunc(p.Functions, func(f *Function) bool {
		return f.Role == abi.Kernel && f.Of == kernel
	})
	if i < 0 {
		return ""
	}
	f := p.Functions[i]
	_, text, _ := strings.Cut(f.String(), "\n")
	text, _, _ = strings.Cut(text, "  because ")
	for _, why := range f.Why {
		text += fmt.Sprintf("  because %s: %s\n", why.Name, why.Doc)
	}
	return text
}

// String returns what a group's line says of a table, if there is one.
func (t *Table) String() string {
	if t == nil {
		return ""
	}
	text := number("places", t.Places) + number("slots", t.Slots) + number("sharing", t.Sharing)
	if t.Fits {
		text += " fits"
	}
	return text
}

// String returns the parts that are not empty, such as " scratch 64 shared 16".
func (m Memory) String() string {
	return number("scratch", m.Scratch) + number("shared", m.Shared) + number("dynamic", m.Dynamic)
}

// number returns a property; "" for 0.
func number(name string, n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s %d", name, n)
}

// Parse reads the shapes of a kernel graph, which is verified. Name stands for
// the text in errors. A shape that does not suit its function, or the target,
// is an error.
func Parse(name, text string, graph *harmony.Program, o Options) (p *Program, err error) {
	if p, err = newProgram(graph, o); err != nil {
		return nil, err
	}
	ps := &parser{Cursor: irtext.NewCursor(name, text), shapes: p}
	defer irtext.Catch(&err)
	ps.program()
	return p, nil
}

// parser reads lines by recursive descent. It fails by a panic with a
// *irtext.SyntaxError, which irtext.Catch turns into a result.
type parser struct {
	irtext.Cursor
	shapes *Program
	groups []placed // of the function at hand
}

// placed is a line that says where groups are kept.
type placed struct {
	name string
	*Group
}

func (p *parser) program() {
	lines := p.Lines()
	if len(lines) != 1+len(p.shapes.Functions) {
		p.Fail(0, 0, "expected a head and the shapes of %d functions, found %d lines",
			len(p.shapes.Functions), len(lines))
	}
	p.Tokens = lines[0].Tokens
	p.ExpectWord("shapes")
	if at, target := p.Peek(), p.shapes.Options.Target.Name; p.Str() != target {
		p.Fail(at.Start, at.End, "the target is %s", target)
	}
	p.End()
	for i, ln := range lines[1:] {
		f := p.shapes.Functions[i]
		p.Tokens = ln.Tokens
		p.ExpectWord(f.Role.String())
		if at := p.Peek(); p.Name("a kernel or an index") != f.Of {
			p.Fail(at.Start, at.End, "expected %s", f.Of)
		}
		p.End()
		p.groups = nil
		for _, kid := range ln.Kids {
			p.Tokens = kid.Tokens
			p.property(f)
			p.End()
		}
		p.check(f, ln)
	}
}

// integer reads a number of at least 0 that fits an int.
func (p *parser) integer() int {
	at := p.Peek()
	n := p.Integer()
	if n < 0 || n > 1<<30 {
		p.Fail(at.Start, at.End, "%d is out of range", n)
	}
	return int(n)
}

// behind reads a number behind a word, or 0 if the word is not next.
func (p *parser) behind(word string) int {
	if !p.AcceptWord(word) {
		return 0
	}
	return p.integer()
}

// property reads a line under a function.
func (p *parser) property(f *Function) {
	switch t := p.Next(); t.Text {
	case "tile":
		f.Threads, f.Items = p.integer(), p.integer()
	case "parts":
		f.Parts = p.integer()
	case "registers":
		f.Registers = p.integer()
	case "order":
		p.order(f)
	case "queue":
		at := p.Peek()
		before := p.integer()
		if before < 1 || before > len(f.order) || f.Role != abi.Kernel || !f.canQueue() {
			p.Fail(at.Start, at.End, "a queue cannot be put there")
		}
		p.shapes.putQueue(f, before, 1)
	case "group":
		p.group()
	case "memory":
		f.Memory = Memory{
			Scratch: p.behind("scratch"),
			Shared:  p.behind("shared"),
			Dynamic: p.behind("dynamic"),
		}
	case "because":
		p.List(func() {
			at := p.Next()
			i := slices.IndexFunc(Reasons(), func(r *Reason) bool { return r.Name == at.Text })
			if i < 0 {
				p.Unexpected(at, "a reason")
			}
			f.because(Reasons()[i])
		})
	default:
		p.Unexpected(t, "a property of a shape")
	}
}

// order reads the stages in the order of work, each once, behind what it uses.
func (p *parser) order(f *Function) {
	stages, at := f.Kernel.Stages, p.Peek()
	var order []harmony.Stage
	defined := map[*harmony.Reg]bool{}
	p.List(func() {
		at := p.Peek()
		i := p.integer()
		if i >= len(stages) || slices.Contains(order, stages[i]) ||
			slices.ContainsFunc(harmony.Uses(stages[i]), func(r *harmony.Reg) bool {
				return !defined[r]
			}) {
			p.Fail(at.Start, at.End, "stage %d cannot come here", i)
		}
		defined[harmony.Def(stages[i])] = true
		order = append(order, stages[i])
	})
	if len(order) != len(stages) {
		p.Fail(at.Start, at.End, "expected %d stages", len(stages))
	}
	f.setOrder(order)
}

// group reads `g0 table places 1024 slots 4096`.
func (p *parser) group() {
	name := p.Name("groups")
	at := p.Next()
	how := slices.Index(howNames[:], at.Text)
	if how < 0 {
		p.Unexpected(at, "a way of grouping")
	}
	g := &Group{How: How(how)}
	if g.How == InTable {
		g.Table = &Table{
			Places:  p.behind("places"),
			Slots:   p.behind("slots"),
			Sharing: p.behind("sharing"),
		}
		g.Table.Fits = p.AcceptWord("fits")
	}
	p.groups = append(p.groups, placed{name, g})
}

// check lays out what a function's text says, and compares the memory.
func (p *parser) check(f *Function, ln *irtext.Line) {
	to := p.shapes.Options.Target
	to.Threads, to.Items = f.Threads, f.Items
	if err := to.Verify(); err != nil {
		p.FailLine(ln, "%v", err)
	}
	said, missing := f.Memory, false
	f.layOut(func(s *harmony.Group) *Group {
		if len(p.groups) == 0 || p.groups[0].name != s.To.Name || !f.suits(s, p.groups[0].Group) {
			missing = true
			return f.chooseGroup(s)
		}
		g := p.groups[0].Group
		p.groups = p.groups[1:]
		return g
	})
	switch {
	case missing, len(p.groups) > 0:
		p.FailLine(ln, "%s has a group that the text does not place, or places where it cannot be",
			f.Of)
	case f.Memory != said:
		p.FailLine(ln, "%s takes %d bytes of shared memory%s, not %d%s",
			f.Of, f.Memory.Total(), f.Memory, said.Total(), said)
	case !f.fits():
		p.FailLine(ln, "the tile of %s exceeds the memory of the target", f.Of)
	}
}

// suits reports whether a way of grouping can serve a sink, and completes it.
func (f *Function) suits(s *harmony.Group, g *Group) bool {
	g.Sink, g.Accs = s, make([]Acc, len(s.To.Accs))
	chosen := f.chooseGroup(s)
	switch g.How {
	case InCells:
		g.Cells = f.layCells(s)
		return chosen.How >= InCells && chosen.How <= InMemory && g.Cells != nil
	case InTable:
		t := g.Table
		if chosen.How < InCells || chosen.How > InMemory || t.Places < 1 || t.Places > mostPlaces ||
			t.Slots > mostPlaces || t.Sharing > mostSharing {
			return false
		}
		bits := bitsOf(t.Places)
		if t.Slots > 0 &&
			(t.Slots < t.Places || t.Places != 1<<bits || t.Slots != 1<<bitsOf(t.Slots)) {
			return false
		}
		if t.Slots > 0 {
			t.Bits, t.SlotBits = bits, bitsOf(t.Slots)
		}
		f.setSink(t, s)
		f.place(t)
		return true
	case InMemory:
		return chosen.How >= InCells && chosen.How <= InMemory
	}
	return g.How == chosen.How
}
