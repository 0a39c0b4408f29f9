package parse

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// maxDepth limits how deep a clause nests, and maxChain how many operators of
// one kind follow each other. They keep every later recursion over the tree
// shallow.
const (
	maxDepth = 200
	maxChain = 1000
)

// File parses a file and adds its findings to diags. The tree has all clauses
// without errors.
func File(f *source.File, diags *diag.List) *ast.File {
	s := newScanner(f, diags)
	p := &parser{file: f, diags: diags}
	return &ast.File{Source: f, Clauses: p.clauses(s.all(), 0), Comments: s.comments}
}

// parser turns tokens into clauses.
type parser struct {
	file  *source.File
	diags *diag.List
}

func (p *parser) span(from, to token) source.Span {
	return source.Span{File: p.file, Start: from.start, End: to.end}
}

// text returns a token as written.
func (p *parser) text(t token) string { return p.file.Text[t.start:t.end] }

func (p *parser) report(d *diag.Diagnostic) {
	d.Severity = diag.Error
	p.diags.Add(d)
}

// clauses parses a whole list of clauses, which ends with an EOF token. Depth
// is how deep it is nested.
func (p *parser) clauses(tokens []token, depth int) []*ast.Clause {
	tokens, ends := p.split(tokens)
	out := make([]*ast.Clause, 0, len(ends))
	start := 0
	for _, end := range ends {
		isBad := func(t token) bool { return t.kind == tokBad }
		// The scanner has reported this clause.
		if !slices.ContainsFunc(tokens[start:end.stop], isBad) {
			c := &climber{parser: p, tokens: tokens, depth: depth}
			if clause := c.clause(start, end); clause != nil {
				out = append(out, clause)
			}
		}
		start = end.stop
	}
	return out
}

// clause parses tokens[start:end.stop]. It returns nil if the clause has an
// error.
func (c *climber) clause(start int, end clauseEnd) *ast.Clause {
	shape, at, ok := c.shape(start, end.stop-1)
	if !ok {
		c.shapeError(c.tokens[start:end.stop], shape, at-start)
		return nil
	}
	out := &ast.Clause{Left: c.formula(shape.left), Arrow: arrows[shape.arrow]}
	if shape.arrow == tokPlusEq {
		out.Update = "+="
	}
	if shape.p2p != nil {
		out.P2P = c.specifier(shape.p2p)
	}
	if !shape.right.empty() {
		out.Right = c.formula(shape.right)
	}
	if c.failed {
		return nil
	}
	if end.missing {
		c.missingFullStop(c.tokens[end.stop-2], c.tokens[end.stop])
	}
	out.Span = c.span(c.tokens[start], c.tokens[end.stop-1])
	return out
}

// run is a range of tokens.
type run struct{ from, to int }

func (r run) empty() bool { return r.from == r.to }

// clauseShape is a clause before its formulas are parsed.
type clauseShape struct {
	left, right run
	arrow       lexer.TokenType // also tokPlusEq; 0 for a fact
	p2p         *p2pSyntax
}

// shape finds the parts of the clause in tokens[at:stop]. If they are not those
// of a clause, it returns the first token that belongs to no part.
func (c *climber) shape(at, stop int) (s clauseShape, end int, ok bool) {
	part := func() run {
		from := at
		at = c.formulaEnd(from, stop)
		return run{from, at}
	}
	s.left = part()
	kind := c.tokens[at].kind
	if s.left.empty() || !isArrow(kind) && kind != tokPlusEq {
		return s, at, !s.left.empty() && at == stop
	}
	s.arrow = kind
	at++
	if isArrow(kind) && c.tokens[at].kind == tokP2P {
		if s.p2p, at = c.p2p(at, stop); s.p2p == nil {
			return s, at, false
		}
	}
	s.right = part()
	return s, at, at == stop && (isArrow(kind) || !s.right.empty())
}

// formulaEnd returns the index of the first token, from the given one on, that
// belongs to a clause and not to a formula, or that closes a bracket opened
// before.
func (c *climber) formulaEnd(from, stop int) int {
	brackets, braces := 0, 0
	i := from
	for ; i < stop; i++ {
		switch c.tokens[i].kind {
		case tokLParen, tokLBracket:
			brackets++
		case tokRParen, tokRBracket:
			if brackets == 0 && braces == 0 {
				return i
			}
			brackets--
		case tokLBrace, tokQuotedBrace:
			braces++
		case tokRBrace:
			braces--
		case tokLArrow, tokRArrow, tokLLArrow, tokRRArrow, tokPlusEq, tokP2P, tokLShift, tokRShift:
			if braces <= 0 {
				return i
			}
		}
	}
	return i
}

var arrows = map[lexer.TokenType]ast.Arrow{
	tokLArrow: ast.Rule, tokRArrow: ast.Constraint, tokLLArrow: ast.MetaRule,
	tokRRArrow: ast.MetaConstraint,
}

// specifier builds the tree of a specifier.
func (c *climber) specifier(syntax *p2pSyntax) *ast.P2P {
	name, open, closing := c.scanned(syntax.Name), c.scanned(syntax.Open), c.scanned(syntax.Close)
	out := &ast.P2P{
		Span: c.span(name, closing),
		Name: c.text(name),
		Text: c.file.Text[open.end:closing.start],
	}
	for _, s := range syntax.Specs {
		outName, fn := c.scanned(s.Out), c.scanned(s.Fn)
		spec := &ast.Spec{Span: c.span(outName, c.scanned(s.Close)), Out: c.name(outName),
			Fn: c.name(fn)}
		if s.In != nil {
			args := c.formula(tokens(*s.In))
			spec.Args = []ast.Node{args}
			if list, ok := args.(*ast.Conj); ok {
				spec.Args = list.Items
			}
			if out.Name != "seq" {
				spec.In, spec.Args = spec.Args[0], spec.Args[1:]
			}
		}
		out.Specs = append(out.Specs, spec)
	}
	return out
}

// scanned returns the scanner's token that t stands for.
func (c *climber) scanned(t lexer.Token) token { return c.tokens[tokens(t).from] }

// clauseEnd says where a clause ends: tokens[stop-1] is its full stop.
type clauseEnd struct {
	stop    int
	missing bool // the full stop is not in the text
}

// split finds the ends of the clauses in tokens, which end with EOF. It inserts
// missing full stops: at the end, and between a line that is complete and a
// line that starts with a name.
func (p *parser) split(tokens []token) ([]token, []clauseEnd) {
	var (
		ends     []clauseEnd
		missing  []int // tokens before which a full stop is put
		closing  = closingBraces(tokens)
		brackets = 0
		start    = 0
	)
	end := func(next int, inserted bool) {
		if inserted {
			missing = append(missing, next)
		}
		ends = append(ends, clauseEnd{stop: next + len(missing), missing: inserted})
		brackets, start = 0, next
	}
	for i := 0; i < len(tokens); i++ {
		switch tokens[i].kind {
		case tokDot:
			end(i+1, false)
			continue
		case tokEOF:
			if i > start {
				end(i, true)
			}
			continue
		case tokLParen, tokLBracket:
			brackets++
		case tokRParen, tokRBracket:
			brackets--
		case tokLArrow, tokRArrow, tokLLArrow, tokRRArrow:
			brackets = 0
		case tokLBrace, tokQuotedBrace:
			i = max(i, closing[i])
		case tokBad:
			// A string that is not closed has swallowed the rest of its line.
			if p.file.Text[tokens[i].start] == '"' {
				end(i+1, true)
				continue
			}
		}
		if endsOperand[tokens[i].kind] && p.startsClause(tokens[i:], brackets) {
			end(i+1, true)
		}
	}
	if len(missing) == 0 {
		return tokens, ends
	}
	out := make([]token, 0, len(tokens)+len(missing))
	from := 0
	for _, at := range missing {
		out = append(out, tokens[from:at]...)
		out = append(out, token{kind: tokDot, start: tokens[at-1].end, end: tokens[at-1].end})
		from = at
	}
	return append(out, tokens[from:]...), ends
}

// closingBraces maps the index of each brace to the index of the one that
// closes it. Within braces, full stops stand only in a clause literal. One in
// plain braces shows that they are never closed.
func closingBraces(tokens []token) map[int]int {
	var open []int
	closing := map[int]int{}
	for i := range tokens {
		switch tokens[i].kind {
		case tokLBrace, tokQuotedBrace:
			open = append(open, i)
		case tokDot:
			for n := len(open); n > 0 && tokens[open[n-1]].kind == tokLBrace; n = len(open) {
				open = open[:n-1]
			}
		case tokRBrace:
			if n := len(open); n > 0 {
				closing[open[n-1]] = i
				open = open[:n-1]
			}
		}
	}
	return closing
}

// endsOperand are the kinds of token that may be the last of a formula.
var endsOperand = map[lexer.TokenType]bool{
	tokIdent: true, tokInt: true, tokDecimal: true, tokFloat: true, tokString: true,
	tokDatetime: true, tokQuoted: true, tokRParen: true, tokRBracket: true, tokRBrace: true,
}

// startsClause reports whether the second of the tokens, after one that may end
// a formula, is the start of a clause on a line of its own.
func (p *parser) startsClause(tokens []token, brackets int) bool {
	last, next := tokens[0], tokens[1]
	between := p.file.Text[last.end:next.start]
	line := strings.LastIndexByte(between, '\n') + 1
	atMargin := line == len(between)
	switch {
	case line == 0 || p.text(last) == "not":
		return false
	case p.text(next) == "then", p.text(next) == "else":
		return false
	case next.kind == tokIdent, next.kind == tokNot:
		return brackets <= 0 || atMargin && !closesBracket(tokens[1:])
	case next.kind == tokPlus, next.kind == tokMinus, next.kind == tokCaret:
		// An expression goes on in a line further in, a delta atom stands here.
		return atMargin && tokens[2].kind == tokIdent && tokens[2].start == next.end
	}
	return false
}

// closesBracket reports whether tokens close a bracket that they do not open.
// In that case a comma is missing before them, and not a full stop. The first
// few tokens are enough for a guess.
func closesBracket(tokens []token) bool {
	const few = 100
	open := 0
	for _, t := range tokens[:min(few, len(tokens))] {
		switch t.kind {
		case tokLParen, tokLBracket:
			open++
		case tokRParen, tokRBracket:
			if open--; open < 0 {
				return true
			}
		case tokDot, tokLArrow, tokRArrow, tokLLArrow, tokRRArrow, tokEOF:
			return false
		}
	}
	return false
}

func (p *parser) missingFullStop(last, next token) {
	end := last.end
	d := &diag.Diagnostic{
		Code:    diag.MissingFullStop,
		Message: "clause does not end with a full stop",
		Span:    source.Span{File: p.file, Start: end, End: end},
		At:      "put . here",
	}
	d.Replace(d.Span, ".")
	if next.kind != tokEOF {
		d.Labels = []diag.Label{{Span: p.span(next, next), Message: "the next clause starts here"}}
	}
	p.report(d)
}
