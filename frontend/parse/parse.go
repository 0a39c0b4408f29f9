package parse

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
)

// maxDepth limits how deep a clause nests, maxChain how many operators of one
// kind follow each other. They keep every later recursion over the tree shallow.
const (
	maxDepth = 200
	maxChain = 1000
)

// File parses a file. Findings go to diags; a clause with an error is left out
// of the tree, the others are there.
func File(f *source.File, diags *diag.List) *ast.File {
	s := newScanner(f, diags)
	tokens := make([]lexer.Token, 0, len(f.Text)/3+1)
	for {
		t, _ := s.Next() // a scanner reports, it does not fail
		tokens = append(tokens, t)
		if t.EOF() {
			break
		}
	}
	p := &parser{file: f, diags: diags}
	return &ast.File{Source: f, Clauses: p.clauses(tokens, 0), Comments: s.comments}
}

// parser turns tokens into clauses.
type parser struct {
	file  *source.File
	diags *diag.List
}

func (p *parser) span(from, to lexer.Token) source.Span {
	return source.Span{File: p.file, Start: from.Pos.Offset, End: tokenEnd(to)}
}

func tokenEnd(t lexer.Token) int { return t.Pos.Offset + len(t.Value) }

func (p *parser) report(d *diag.Diagnostic) {
	d.Severity = diag.Error
	p.diags.Add(d)
}

// tokenList lets participle read tokens that are there already.
type tokenList struct {
	tokens []lexer.Token
	next   int
}

// Next implements lexer.Lexer.
func (l *tokenList) Next() (lexer.Token, error) {
	t := l.tokens[l.next]
	l.next++
	return t, nil
}

// clauses parses a whole list of clauses, which ends with an EOF token. Depth is
// how many blocks they stand in.
func (p *parser) clauses(tokens []lexer.Token, depth int) []*ast.Clause {
	tokens, ends := p.split(tokens)
	lex, _ := lexer.Upgrade(&tokenList{tokens: tokens})
	out := make([]*ast.Clause, 0, len(ends))
	start := 0
	for _, end := range ends {
		part := tokens[start:end.stop]
		// What the scanner has reported has no consequences to report.
		if !hasBad(part) {
			if c := p.clause(lex, tokens, start, end, depth); c != nil {
				out = append(out, c)
			}
		}
		start = end.stop
		if lex.RawCursor() < lexer.RawCursor(start) {
			lex.FastForward(lexer.RawCursor(start - 1))
		}
	}
	return out
}

func hasBad(tokens []lexer.Token) bool {
	for i := range tokens {
		if tokens[i].Type == tokBad {
			return true
		}
	}
	return false
}

// clause parses tokens[start:end.stop]; nil when it has an error.
func (p *parser) clause(lex *lexer.PeekingLexer, tokens []lexer.Token, start int, end clauseEnd, depth int) *ast.Clause {
	c := &climber{parser: p, tokens: tokens, depth: depth}
	syntax, err := clauseParser.ParseFromLexer(lex, participle.AllowTrailing(true))
	if err != nil {
		c.shapeError(tokens[start:end.stop], syntax, err)
		return nil
	}
	out := c.convert(syntax)
	if c.failed {
		return nil
	}
	if end.missing {
		p.missingFullStop(tokens[end.stop-2], tokens[end.stop])
	}
	out.Span = p.span(tokens[start], syntax.Dot)
	return out
}

// convert builds the tree of a clause.
func (c *climber) convert(syntax *clauseSyntax) *ast.Clause {
	out := &ast.Clause{Left: c.formula(syntax.Left)}
	switch {
	case syntax.Arrow != nil:
		out.Arrow = arrows[syntax.Arrow.Arrow.Type]
		if syntax.Arrow.P2P != nil {
			out.P2P = c.p2p(syntax.Arrow.P2P)
		}
		if syntax.Arrow.Right != nil {
			out.Right = c.formula(syntax.Arrow.Right)
		}
	case syntax.Update != nil:
		out.Update = "+="
		out.Right = c.formula(syntax.Update.Right)
	}
	return out
}

var arrows = map[lexer.TokenType]ast.Arrow{
	tokLArrow: ast.Rule, tokRArrow: ast.Constraint, tokLLArrow: ast.MetaRule, tokRRArrow: ast.MetaConstraint,
}

func (c *climber) p2p(syntax *p2pSyntax) *ast.P2P {
	out := &ast.P2P{
		Span: c.span(syntax.Name, syntax.Close),
		Name: syntax.Name.Value,
		Text: c.file.Text[tokenEnd(syntax.Open):syntax.Close.Pos.Offset],
	}
	for _, s := range syntax.Specs {
		spec := &ast.Spec{Span: c.span(s.Out, s.Close), Out: c.name(s.Out), Fn: c.name(s.Fn)}
		if s.In != nil {
			spec.In = c.formula(s.In)
		}
		out.Specs = append(out.Specs, spec)
	}
	return out
}

// clauseEnd says where a clause ends: tokens[stop-1] is its full stop.
type clauseEnd struct {
	stop    int
	missing bool // the full stop is not in the text
}

// split finds the ends of the clauses in tokens, which end with EOF. Where a
// full stop is missing, at the end or before a line that starts with a name
// after a line that is complete, one is put in.
func (p *parser) split(tokens []lexer.Token) ([]lexer.Token, []clauseEnd) {
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
		switch tokens[i].Type {
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
			if strings.HasPrefix(tokens[i].Value, `"`) {
				end(i+1, true)
				continue
			}
		}
		if endsOperand[tokens[i].Type] && p.startsClause(tokens[i], tokens[i+1], brackets) {
			end(i+1, true)
		}
	}
	if len(missing) == 0 {
		return tokens, ends
	}
	out := make([]lexer.Token, 0, len(tokens)+len(missing))
	from := 0
	for _, at := range missing {
		out = append(out, tokens[from:at]...)
		out = append(out, lexer.Token{Type: tokDot, Pos: lexer.Position{Offset: tokenEnd(tokens[at-1])}})
		from = at
	}
	return append(out, tokens[from:]...), ends
}

// closingBraces maps the index of each brace that is closed to the index of the
// one that closes it.
func closingBraces(tokens []lexer.Token) map[int]int {
	var open []int
	closing := map[int]int{}
	for i := range tokens {
		switch tokens[i].Type {
		case tokLBrace, tokQuotedBrace:
			open = append(open, i)
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

// startsClause reports whether next, after a token that may end a formula, is
// the start of a clause on a line of its own.
func (p *parser) startsClause(last, next lexer.Token, brackets int) bool {
	if next.Type != tokIdent && next.Type != tokNot || last.Value == "not" {
		return false
	}
	line := 0
	between := p.file.Text[tokenEnd(last):next.Pos.Offset]
	for i := 0; i < len(between); i++ {
		if between[i] == '\n' {
			line = i + 1
		}
	}
	// Inside brackets a comma may as well be missing; then only a name at the
	// very start of a line is taken for a clause.
	return line > 0 && (brackets <= 0 || line == len(between))
}

func (p *parser) missingFullStop(last, next lexer.Token) {
	end := tokenEnd(last)
	d := &diag.Diagnostic{
		Code:    diag.MissingFullStop,
		Message: "clause does not end with a full stop",
		Span:    source.Span{File: p.file, Start: end, End: end},
		At:      "put . here",
	}
	if !next.EOF() {
		d.Labels = []diag.Label{{Span: p.span(next, next), Message: "the next clause starts here"}}
	}
	p.report(d)
}
