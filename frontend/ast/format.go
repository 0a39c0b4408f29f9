package ast

import (
	"strings"
	"unicode"
)

// Format returns the canonical text of a file, as the command fmt writes it. A
// clause takes one line. One of more than about 100 columns is broken, with the
// body indented by four spaces and one formula a line. Comments stay where they
// were. Empty lines between clauses become one.
//
// The file must have been parsed without errors, because the result has only
// what is in the tree. Formatting the result again does not change it.
func Format(f *File) string {
	if len(f.Clauses)+len(f.Comments) == 0 {
		return ""
	}
	p := &printer{text: f.Source.Text, comments: f.Comments}
	return render(concat(p.clauses(f.Clauses, len(f.Source.Text)), hardLine))
}

// printer turns the tree and its comments into a doc, in text order.
type printer struct {
	text     string
	comments []*Comment // not printed yet
}

// run is comments that share a line. Whether it starts and ends its line is
// chosen such that it does so again where it is printed.
type run struct {
	text         string
	start, end   int
	starts, ends bool // no token before, or behind, it on its line
	isLine       bool // runs to the end of the line
}

// nextRun takes the next run of comments that starts before limit.
func (p *printer) nextRun(limit int) (run, bool) {
	if len(p.comments) == 0 || p.comments[0].Span.Start >= limit {
		return run{}, false
	}
	r := run{start: p.comments[0].Span.Start}
	for {
		c := p.comments[0]
		p.comments = p.comments[1:]
		if r.text != "" {
			r.text += " "
		}
		r.text += strings.ReplaceAll(c.Text, "\r\n", "\n")
		r.end = c.Span.End
		r.isLine = !strings.HasPrefix(c.Text, "/*")
		if len(p.comments) == 0 || p.comments[0].Span.Start >= limit ||
			!p.sameLine(r.end, p.comments[0].Span.Start) {
			break
		}
	}
	before := strings.TrimRightFunc(p.text[:r.start], isBlank)
	behind := strings.TrimLeftFunc(p.text[r.end:], isBlank)
	r.starts = before == "" || before[len(before)-1] == '\n'
	r.ends = behind == "" || behind[0] == '\n'
	return r, true
}

// runs takes all comments before limit. Only punctuation stands between them,
// and it is printed elsewhere, so two comments on one line become one run.
func (p *printer) runs(limit int) []run {
	var out []run
	for r, ok := p.nextRun(limit); ok; r, ok = p.nextRun(limit) {
		if n := len(out); n > 0 && !out[n-1].ends && !r.starts {
			out[n-1].text += " " + r.text
			out[n-1].end, out[n-1].ends, out[n-1].isLine = r.end, r.ends, r.isLine
			continue
		} else if n > 0 {
			out[n-1].ends, r.starts = true, true
		}
		out = append(out, r)
	}
	return out
}

// isBlank reports whether r separates tokens without ending a line.
func isBlank(r rune) bool { return r != '\n' && (unicode.IsSpace(r) || r == '\ufeff') }

// sameLine reports whether there are only blanks between two offsets.
func (p *printer) sameLine(from, to int) bool {
	return from <= to && strings.TrimFunc(p.text[from:to], isBlank) == ""
}

// gap returns what is printed between two tokens, the second of which is at
// offset next: usual, and the comments that stand there.
func (p *printer) gap(next int, usual doc) doc {
	runs := p.runs(next)
	if runs == nil {
		return usual
	}
	var parts []doc
	for i, r := range runs {
		switch {
		case i > 0 || r.starts && r.ends:
			parts = append(parts, hardLine, text(r.text))
		case r.ends:
			parts = append(parts, text(" "+r.text))
		default:
			parts = append(parts, usual, text(r.text))
		}
	}
	if runs[len(runs)-1].ends {
		return concat(append(parts, hardLine)...)
	}
	return concat(append(parts, text(" "))...)
}

// closing returns the comments before a closing bracket at offset next, and the
// bracket.
func (p *printer) closing(next int, bracket string) doc {
	runs := p.runs(next)
	if runs == nil {
		return text(bracket)
	}
	var parts []doc
	for _, r := range runs {
		if r.starts {
			parts = append(parts, hardLine, text(r.text))
		} else {
			parts = append(parts, text(" "+r.text))
		}
	}
	if runs[len(runs)-1].ends {
		parts = append(parts, hardLine)
	}
	return concat(append(parts, text(bracket))...)
}

// separator returns a comma, or another mark, that stands between two offsets,
// with the comments before it that share its line.
func (p *printer) separator(from, to int, mark string) doc {
	at := from
	for _, c := range p.comments {
		if c.Span.Start >= to {
			break
		}
		if strings.Contains(p.text[at:max(at, c.Span.Start)], mark) {
			break
		}
		at = max(at, c.Span.End)
	}
	n := strings.Index(p.text[at:to], mark)
	if n < 0 {
		return text(mark)
	}
	rest := p.comments
	runs := p.runs(at + n)
	if len(runs) != 1 || runs[0].starts || runs[0].ends {
		p.comments = rest
		return text(mark)
	}
	return text(" " + runs[0].text + mark)
}

// clauses prints a list of clauses and the comments before offset end, each on
// lines of its own.
func (p *printer) clauses(list []*Clause, end int) doc {
	var parts []doc
	last := -1 // where the text of what is printed ends
	add := func(start, stop int, d doc) {
		if len(parts) > 0 {
			if last < start && p.hasEmptyLine(last, start) {
				parts = append(parts, blank)
			} else {
				parts = append(parts, hardLine)
			}
		}
		parts = append(parts, d)
		last = max(last, stop)
	}
	for _, c := range list {
		start := c.Span.Start
		prefix := text("")
		for r, ok := p.nextRun(start); ok; r, ok = p.nextRun(start) {
			if !r.ends && p.sameLine(r.end, start) {
				prefix, start = text(r.text+" "), r.start
				break
			}
			add(r.start, r.end, text(r.text))
		}
		add(start, c.Span.End, concat(prefix, p.clause(c)))
		// Comments before the full stop go behind it; then the ones that stand
		// behind it on its line.
		lineEnds := false
		for len(p.comments) > 0 {
			next := p.comments[0].Span.Start
			if next >= c.Span.End && !p.sameLine(last, next) {
				break
			}
			rest := p.comments
			r, ok := p.nextRun(max(c.Span.End, min(end, p.lineEnd(last))))
			if !ok || next >= c.Span.End && !r.ends {
				p.comments = rest
				break
			}
			if r.starts || lineEnds {
				add(r.start, r.end, text(r.text))
			} else {
				parts = append(parts, text(" "+r.text))
				last = max(last, r.end)
			}
			lineEnds = lineEnds || r.isLine
		}
	}
	for r, ok := p.nextRun(end); ok; r, ok = p.nextRun(end) {
		add(r.start, r.end, text(r.text))
	}
	return concat(parts...)
}

// lineEnd returns the offset at which the line of offset ends.
func (p *printer) lineEnd(offset int) int {
	if n := strings.IndexByte(p.text[offset:], '\n'); n >= 0 {
		return offset + n
	}
	return len(p.text)
}

// hasEmptyLine reports whether there is a line with nothing on it between two
// offsets.
func (p *printer) hasEmptyLine(from, to int) bool {
	between := p.text[from:to]
	for {
		n := strings.IndexByte(between, '\n')
		if n < 0 {
			return false
		}
		between = strings.TrimLeftFunc(between[n+1:], isBlank)
		if strings.HasPrefix(between, "\n") {
			return true
		}
	}
}

var arrowTexts = [...]string{
	Rule: " <-", Constraint: " ->", MetaRule: " <--", MetaConstraint: " -->",
}

func (p *printer) clause(c *Clause) doc {
	const indent = 4
	if c.Arrow == Fact {
		if c.Update != "" {
			left := p.node(c.Left)
			return group(left, text(" "+c.Update), nest(indent, p.before(c.Right, line)), text("."))
		}
		left := p.node(c.Left)
		if _, ok := c.Left.(*Conj); ok {
			left = nest(indent, left)
		}
		return concat(group(left), text("."))
	}
	parts := []doc{group(p.node(c.Left)), text(arrowTexts[c.Arrow])}
	if c.P2P != nil {
		usual := line
		if len(c.P2P.Specs) == 0 {
			usual = text(" ")
		}
		parts = append(parts, nest(indent, p.gap(c.P2P.Span.Start, usual), p.p2p(c.P2P)))
		parts = []doc{group(parts...)}
	}
	if c.Right == nil {
		return concat(append(parts, text(" ."))...)
	}
	return group(append(parts, nest(indent, p.before(c.Right, line)), text("."))...)
}

func (p *printer) p2p(s *P2P) doc {
	if len(s.Specs) == 0 {
		if s.Name == "agg" {
			return text("agg<<>>")
		}
		return text(s.Name + "<<" + s.Text + ">>")
	}
	parts := []doc{text(s.Name + "<<")}
	for i, spec := range s.Specs {
		usual := text("")
		if i > 0 {
			parts = append(parts, text(","))
			usual = line
		}
		parts = append(parts, group(p.gap(spec.Span.Start, usual),
			text(spec.Out.Text+" = "+spec.Fn.Text+"(")))
		if args := spec.Arguments(); len(args) > 0 {
			parts = append(parts, group(p.list(args, ",")))
		}
		parts = append(parts, p.closing(spec.Span.End-1, ")"))
	}
	return concat(nest(4, parts...), p.closing(s.Span.End-2, ">>"))
}

// before returns the gap before n, and n.
func (p *printer) before(n Node, usual doc) doc {
	g := p.gap(n.Pos().Start, usual)
	return concat(g, p.node(n))
}

// list prints nodes with a separator and a possible break between them. The
// breaks belong to the group around the list.
func (p *printer) list(nodes []Node, separator string) doc {
	var parts []doc
	for i, n := range nodes {
		if i > 0 {
			from := nodes[i-1].Pos().End
			parts = append(parts, p.separator(from, n.Pos().Start, separator), p.before(n, line))
		} else {
			parts = append(parts, p.before(n, text("")))
		}
	}
	return concat(parts...)
}

func (p *printer) node(n Node) doc {
	switch n := n.(type) {
	case *Conj:
		return p.list(n.Items, ",")
	case *Disj:
		var parts []doc
		for i, item := range n.Items {
			usual := text("")
			if i > 0 {
				parts = append(parts, p.separator(n.Items[i-1].Pos().End, item.Pos().Start, ";"))
				usual = line
			}
			g := p.gap(item.Pos().Start, usual)
			parts = append(parts, g, group(p.node(item)))
		}
		return concat(parts...)
	case *Not:
		return concat(text("!"), p.before(n.X, text("")))
	case *Paren:
		inside := p.before(n.X, text(""))
		return group(text("("), nest(1, inside), p.closing(n.Span.End-1, ")"))
	case *Compare:
		parts := []doc{p.node(n.Operands[0])}
		for i, op := range n.Ops {
			parts = append(parts, text(" "+op), nest(4, group(p.before(n.Operands[i+1], line))))
		}
		return concat(parts...)
	case *In:
		return p.in(n)
	case *If:
		return p.conditional(n)
	case *Binary:
		x := p.node(n.X)
		g := p.gap(n.OpSpan.Start, line)
		return concat(x, nest(4, group(g, text(n.Op), p.before(n.Y, text(" ")))))
	case *Unary:
		return concat(text(n.Op), p.before(n.X, text("")))
	case *Apply:
		return p.apply(n)
	case *Var:
		return text(n.Name)
	case *Wildcard:
		return text("_")
	case *Literal:
		return text(n.Raw)
	case *PredRef:
		return p.predRef(n)
	case *RefMode:
		return p.refMode(n)
	case *Block:
		head := p.node(n.Head)
		items := p.braces(n.Items)
		return group(head, text(" {"), items, p.closingLine(n.Span.End-1, "}"))
	}
	return doc{}
}

// in prints x in {1, 2}. A long set fills its lines.
func (p *printer) in(n *In) doc {
	x, g := p.node(n.X), p.gap(n.OpSpan.Start, text(" "))
	parts := []doc{p.before(n.Items[0], text(""))}
	for i, item := range n.Items[1:] {
		from, to := n.Items[i].Pos().End, item.Pos().Start
		parts = append(parts, p.separator(from, to, ","), group(p.before(item, line)))
	}
	return concat(x, g, text("in {"), nest(4, parts...), p.closing(n.Span.End-1, "}"))
}

// conditional prints if c then a else b, with breaks before the words.
func (p *printer) conditional(n *If) doc {
	cond := group(p.before(n.Cond, text("")))
	then := concat(p.gap(n.ThenAt.Start, line), text("then "), group(p.before(n.Then, text(""))))
	other := concat(p.gap(n.ElseAt.Start, line), text("else "), group(p.before(n.Else, text(""))))
	return group(text("if "), nest(4, cond, then, other))
}

// braces prints the attributes of a block, indented.
func (p *printer) braces(items []Node) doc {
	var parts []doc
	for i, n := range items {
		if i > 0 {
			parts = append(parts, p.separator(items[i-1].Pos().End, n.Pos().Start, ","))
		}
		parts = append(parts, p.before(n, line))
	}
	return nest(4, parts...)
}

// closingLine is closing with a break before the bracket.
func (p *printer) closingLine(next int, bracket string) doc {
	return concat(p.gap(next, line), text(bracket))
}

func (p *printer) apply(n *Apply) doc {
	name := n.Delta + n.Name.Text
	if n.Stage != "" {
		name += "@" + n.Stage
	}
	if n.Index != "" {
		name += "[" + n.Index + "]"
	}
	opening, bracket := "(", ")"
	if n.Square {
		opening, bracket = "[", "]"
	}
	parts := []doc{text(name + opening)}
	for i, arg := range n.Args {
		if i == 0 {
			parts = append(parts, p.before(arg, text("")))
			continue
		}
		mark := ","
		if i == n.Split {
			mark = ";"
		}
		separator := p.separator(n.Args[i-1].Pos().End, arg.Pos().Start, mark)
		parts = append(parts, separator, group(p.before(arg, line)))
	}
	indent := 4
	if len(n.Args) == 1 {
		if _, ok := n.Args[0].(*PredRef); ok {
			indent = 0 // a clause literal has its own
		}
	}
	return concat(nest(indent, parts...), p.closing(n.Span.End-1, bracket))
}

func (p *printer) predRef(n *PredRef) doc {
	if n.Name != "" {
		return text("`" + n.Name)
	}
	end := n.Span.End - 1
	if len(n.Clauses) == 0 && (len(p.comments) == 0 || p.comments[0].Span.Start >= end) {
		return text("`{ }")
	}
	inside := p.clauses(n.Clauses, end)
	between := hardLine
	if len(n.Clauses) == 1 && !inside.forced {
		between = line
	}
	return group(text("`{"), nest(4, between, inside), between, text("}"))
}

// refMode prints x:v without a blank where the parts stay apart, or are taken
// apart by the parser.
func (p *printer) refMode(n *RefMode) doc {
	x := p.node(n.X)
	_, simple := n.X.(*Var)
	switch n.V.(type) {
	case *Var, *Wildcard, *Literal:
	default:
		simple = false
	}
	separator := text(" ")
	if simple {
		separator = text("")
	}
	return concat(x, text(":"), p.before(n.V, separator))
}
