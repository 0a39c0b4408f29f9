package queryplan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Parse reads the text of a plan, as String writes it. Name stands for the text
// in errors, which are *SyntaxError, and in the spans of variables and commands.
// The result has types, since a column has to exist where it is used, but is not
// verified otherwise.
func Parse(name, text string) (p *Plan, err error) {
	ps := newParser(name, text)
	defer ps.catch(&err)
	return ps.plan(), nil
}

// ParseNode reads one operator tree over the given variables.
func ParseNode(name, text string, vars []*Var) (n Node, err error) {
	ps := newParser(name, text)
	defer ps.catch(&err)
	for _, v := range vars {
		ps.vars[v.Name] = v
	}
	lines := ps.lines()
	if len(lines) != 1 {
		ps.fail(0, len(text), "expected one operator tree, found %d", len(lines))
	}
	return ps.node(lines[0]), nil
}

// parser reads lines by recursive descent. It fails by a panic with a
// *SyntaxError, which catch turns into a result.
type parser struct {
	lexer
	vars   map[string]*Var
	blocks map[string]*Block
	// tokens are those of the current line that are not read yet.
	tokens []token
	depth  int // of the expression
}

func newParser(name, text string) *parser {
	return &parser{
		lexer:  lexer{file: source.NewFile(name, text)},
		vars:   map[string]*Var{},
		blocks: map[string]*Block{},
	}
}

func (p *parser) catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *SyntaxError:
		*err = r
	default:
		panic(r)
	}
}

func (p *parser) plan() *Plan {
	plan := &Plan{}
	lines := p.lines()
	// Blocks are named first, as jumps go forwards too.
	for _, ln := range lines {
		p.tokens = ln.tokens
		switch t := p.next(); {
		case t.isWord("var"):
			v := p.variable()
			v.Span = source.Span{File: p.file, Start: ln.start, End: ln.end}
			if p.vars[v.Name] != nil {
				p.fail(ln.start, ln.end, "a variable %s is there already", v.Name)
			}
			if len(ln.kids) > 0 {
				p.failLine(ln.kids[0], "nothing can be indented under a variable")
			}
			p.vars[v.Name] = v
			plan.Vars = append(plan.Vars, v)
		case t.isWord("block"):
			b := &Block{Name: p.name("the name of a block")}
			p.expect(":")
			p.end()
			if p.blocks[b.Name] != nil {
				p.fail(ln.start, ln.end, "a block %s is there already", b.Name)
			}
			p.blocks[b.Name] = b
			plan.Blocks = append(plan.Blocks, b)
		default:
			p.unexpected(t, `"var" or "block"`)
		}
	}
	next := 0
	for _, ln := range lines {
		if ln.tokens[0].text == "block" {
			p.block(plan.Blocks[next], ln)
			next++
		}
	}
	return plan
}

// variable reads `edge(x: int, y: int) input "edge"` after the word var.
func (p *parser) variable() *Var {
	v := &Var{Name: p.name("the name of a variable"), Limit: -1, Keys: -1}
	p.expect("(")
	for !p.accept(")") {
		switch {
		case v.Keys < 0 && p.accept(";"):
			v.Keys = len(v.Cols)
		case len(v.Cols) > 0:
			p.expect(",")
		}
		v.Cols = append(v.Cols, p.column())
	}
	if v.Keys < 0 {
		v.Keys = len(v.Cols)
	}
	switch t := p.next(); t.text {
	case "input":
		v.Kind, v.Source = Input, p.str()
	case "table":
		v.Kind, v.Source = Table, p.str()
		p.expectWord("stored")
		p.list(func() { v.Stored = append(v.Stored, int(p.integer())) })
	case "derived":
		v.Kind = Derived
	case "temp":
		v.Kind = Temp
	default:
		p.unexpected(t, `"input", "table", "derived" or "temp"`)
	}
	v.Unique = p.acceptWord("unique")
	v.Checked = p.acceptWord("checked")
	if p.acceptWord("output") {
		v.Output = true
		if p.acceptWord("order") {
			v.OrderBy = p.orderKeys()
		}
		if p.acceptWord("limit") {
			v.Limit = p.integer()
		}
	}
	p.end()
	return v
}

func (p *parser) column() Column {
	c := Column{Name: p.name("a column")}
	p.expect(":")
	c.Type = p.typ()
	return c
}

// typ reads a type such as decimal[18,2].
func (p *parser) typ() scalar.Type {
	t := p.next()
	if t.kind != wordToken {
		p.unexpected(t, "a type")
	}
	text, end := t.text, t.end
	if p.accept("[") {
		text, end = p.brackets(text)
	}
	typ, ok := scalar.ParseType(text)
	if !ok {
		p.fail(t.start, end, "there is no type %s", text)
	}
	return typ
}

// brackets appends the numbers up to a closing bracket to the name of a type.
func (p *parser) brackets(text string) (string, int) {
	text += "["
	for {
		t := p.next()
		text += t.text
		switch {
		case t.text == "]" && t.kind == punctToken:
			return text, t.end
		case t.kind != literalToken && t.text != ",":
			p.unexpected(t, "a number or ]")
		}
	}
}

func (p *parser) block(b *Block, ln *line) {
	if len(ln.kids) == 0 {
		p.failLine(ln, "block %s is empty; it needs at least a jump, branch or halt", b.Name)
	}
	for _, kid := range ln.kids {
		if b.Term != nil {
			p.failLine(kid, "nothing can follow the end of block %s", b.Name)
		}
		p.tokens = kid.tokens
		if t := p.peek(); t.isWord("jump") || t.isWord("branch") || t.isWord("halt") {
			b.Term = p.terminator()
			if len(kid.kids) > 0 {
				p.failLine(kid.kids[0], "nothing can be indented under the end of a block")
			}
			continue
		}
		b.Cmds = append(b.Cmds, p.command(kid))
	}
	if b.Term == nil {
		p.failLine(ln.kids[len(ln.kids)-1], "block %s does not end with a jump, branch or halt", b.Name)
	}
}

func (p *parser) terminator() Terminator {
	var term Terminator
	switch t := p.next(); t.text {
	case "jump":
		term = &Jump{p.blockRef()}
	case "branch":
		b := &Branch{}
		p.expectWord("delta")
		for b.Vars = append(b.Vars, p.varRef()); p.accept(","); {
			b.Vars = append(b.Vars, p.varRef())
		}
		p.expect("->")
		b.Then = p.blockRef()
		p.expectWord("else")
		b.Else = p.blockRef()
		term = b
	default:
		term = &Halt{}
	}
	p.end()
	return term
}

func (p *parser) command(ln *line) Command {
	span := source.Span{File: p.file, Start: ln.start, End: ln.end}
	t := p.next()
	switch t.text {
	case "insert", "assign":
		v := p.varRef()
		p.end()
		n := p.input(ln)
		if t.text == "assign" {
			return &Assign{Var: v, Node: n}
		}
		return &Insert{Var: v, Node: n, Span: span}
	case "check":
		text := p.str()
		p.end()
		return &Check{Node: p.input(ln), Text: text, Span: span}
	}
	var c Command
	switch t.text {
	case "merge":
		c = &Merge{p.varRef()}
	case "clear":
		c = &Clear{p.varRef()}
	case "checkkey":
		c = &CheckKey{Var: p.varRef(), Span: span}
	default:
		p.unexpected(t, `"insert", "assign", "merge", "clear", "check", "checkkey", "jump", "branch" or "halt"`)
	}
	p.end()
	if len(ln.kids) > 0 {
		p.failLine(ln.kids[0], "nothing can be indented under %s", t.text)
	}
	return c
}

func (t token) isWord(text string) bool { return t.kind == wordToken && t.text == text }

func (t token) String() string {
	switch t.kind {
	case endToken:
		return "the end of the line"
	case nameToken:
		return QuoteName(t.text)
	}
	return strconv.Quote(t.text)
}

func (p *parser) failLine(ln *line, format string, args ...any) {
	p.fail(ln.start, ln.end, format, args...)
}

func (p *parser) unexpected(t token, want string) {
	p.fail(t.start, t.end, "expected %s, found %s", want, t)
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != endToken {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *parser) accept(punct string) bool {
	if t := p.peek(); t.kind != punctToken || t.text != punct {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(punct string) {
	if !p.accept(punct) {
		p.unexpected(p.peek(), strconv.Quote(punct))
	}
}

func (p *parser) acceptWord(word string) bool {
	if !p.peek().isWord(word) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expectWord(word string) {
	if !p.acceptWord(word) {
		p.unexpected(p.peek(), strconv.Quote(word))
	}
}

func (p *parser) end() {
	if t := p.peek(); t.kind != endToken {
		p.unexpected(t, "the end of the line")
	}
}

func (p *parser) name(what string) string {
	t := p.next()
	if t.kind != wordToken && t.kind != nameToken {
		p.unexpected(t, what)
	}
	return t.text
}

func (p *parser) varRef() *Var {
	t := p.peek()
	name := p.name("a variable")
	v := p.vars[name]
	if v == nil {
		p.fail(t.start, t.end, "there is no variable %s", name)
	}
	return v
}

func (p *parser) blockRef() *Block {
	t := p.peek()
	name := p.name("a block")
	b := p.blocks[name]
	if b == nil {
		p.fail(t.start, t.end, "there is no block %s", name)
	}
	return b
}

func (p *parser) str() string {
	t := p.next()
	if t.kind != literalToken || t.value.Type != scalar.StringType {
		p.unexpected(t, "a string")
	}
	return t.value.Str()
}

func (p *parser) integer() int64 {
	t := p.next()
	if t.kind != literalToken || t.value.Type != scalar.IntType || t.value.Int() < 0 {
		p.unexpected(t, "a number of at least 0")
	}
	return t.value.Int()
}

// list reads elements between brackets, separated by commas.
func (p *parser) list(element func()) {
	p.expect("[")
	for first := true; !p.accept("]"); first = false {
		if !first {
			p.expect(",")
		}
		element()
	}
}

func (p *parser) names() []string {
	var out []string
	p.list(func() { out = append(out, p.name("a column")) })
	return out
}

func (p *parser) orderKeys() []OrderKey {
	var out []OrderKey
	p.list(func() {
		k := OrderKey{Col: p.name("a column")}
		k.Desc = p.acceptWord("desc")
		out = append(out, k)
	})
	return out
}

// listNames words names for a message.
func listNames(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = columnName(n)
	}
	return strings.Join(out, ", ")
}

func columnNames(cols []Column) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.Name
	}
	return out
}

func noColumn(name string, in []Column) string {
	if len(in) == 0 {
		return fmt.Sprintf("there is no column %s; the input has none", columnName(name))
	}
	return fmt.Sprintf("there is no column %s; the input has %s", columnName(name), listNames(columnNames(in)))
}
