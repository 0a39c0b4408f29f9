package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// describe names a token in the words of the language.
func describe(t lexer.Token) string {
	switch t.Type {
	case tokEOF:
		return "the end of the file"
	case tokDot:
		if t.Value == "" {
			return "the end of the clause"
		}
		return "the full stop"
	case tokIdent, tokP2P:
		return "the name " + t.Value
	case tokInt, tokDecimal, tokFloat:
		return "the number " + t.Value
	case tokString:
		if n := strings.IndexByte(t.Value, '\n'); n >= 0 {
			return "a string"
		}
		return "the string " + t.Value
	case tokDatetime:
		return "the datetime " + t.Value
	case tokRaw:
		return "text"
	}
	return t.Value
}

// expected reports what should stand where the climber looks.
func (c *climber) expected(what string) {
	if c.failed {
		return
	}
	found := c.tokens[c.next]
	if isClosing(found.Type) && c.next >= c.end && len(c.opening) == 0 {
		c.closesNothing(found)
		return
	}
	at := c.span(found, found)
	if found.Type == tokEOF && c.next > 0 {
		at = c.span(c.last(), c.last())
		at.Start = at.End
	}
	c.fail(&diag.Diagnostic{
		Code:    diag.UnexpectedToken,
		Message: fmt.Sprintf("found %s, expected %s", describe(found), what),
		Span:    at,
	})
}

// missingOperand reports that no formula or expression starts where the climber
// looks, by what stands before.
func (c *climber) missingOperand() {
	if c.failed {
		return
	}
	what := "an atom, a comparison or a negation"
	if c.next > 0 {
		switch t := c.last(); t.Type {
		case tokEq, tokNe, tokLt, tokLe, tokGt, tokGe, tokPlus, tokMinus, tokStar, tokSlash, tokCaret, tokPlusEq:
			what = "an expression after " + t.Value
		case tokComma, tokSemicolon, tokNot:
			what = "an atom, a comparison or a negation after " + t.Value
			if n := len(c.opening); n > 0 && c.opening[n-1].Type != tokLBrace {
				what = "an argument or a formula after " + t.Value
			}
		case tokLParen, tokLBracket:
			what = "an argument or a formula after " + t.Value
		case tokColon:
			what = "the value of a reference mode after :"
		}
	}
	c.expected(what)
}

// leftover reports tokens behind a complete formula.
func (c *climber) leftover() {
	found := c.tokens[c.next]
	last := c.last()
	switch {
	case isClosing(found.Type):
		c.closesNothing(found)
	case found.Type == tokColon:
		c.expected("a comma, ; or the end of the clause; x:v is written only as an argument")
	case endsOperand[last.Type] && endsOperand[found.Type] || found.Type == tokNot || found.Type == tokLParen:
		c.expected(fmt.Sprintf("a comma, ; or the end of the clause after %s", describe(last)))
	default:
		c.expected("a comma, ; or the end of the clause")
	}
}

func isClosing(k lexer.TokenType) bool {
	return k == tokRParen || k == tokRBracket || k == tokRBrace
}

func (c *climber) closesNothing(found lexer.Token) {
	c.fail(&diag.Diagnostic{
		Code:    diag.UnbalancedBracket,
		Message: fmt.Sprintf("%s closes nothing", found.Value),
		Span:    c.span(found, found),
	})
}

// open consumes an opening bracket.
func (c *climber) open() lexer.Token {
	t := c.take()
	c.opening = append(c.opening, t)
	return t
}

// closers maps opening brackets to closing ones.
var closers = map[lexer.TokenType]string{
	tokLParen: ")", tokLBracket: "]", tokLBrace: "}", tokQuotedBrace: "}",
}

// close consumes the bracket that closes open.
func (c *climber) close(open lexer.Token, closing lexer.TokenType) {
	if c.failed {
		return
	}
	c.opening = c.opening[:len(c.opening)-1]
	found := c.tokens[c.next]
	switch {
	case c.kind() == closing:
		c.next++
	case isClosing(found.Type):
		c.fail(&diag.Diagnostic{
			Code:    diag.UnbalancedBracket,
			Message: fmt.Sprintf("%s is closed by %s", open.Value, found.Value),
			Span:    c.span(found, found),
			At:      "expected " + closers[open.Type],
			Labels:  []diag.Label{{Span: c.span(open, open), Message: "opened here"}},
		})
	case c.next >= c.end:
		c.fail(&diag.Diagnostic{
			Code:    diag.UnbalancedBracket,
			Message: fmt.Sprintf("%s is never closed", open.Value),
			Span:    c.span(open, open),
			At:      "opened here",
			Labels:  []diag.Label{{Span: c.span(found, found), Message: fmt.Sprintf("expected %s before %s", closers[open.Type], describe(found))}},
		})
	default:
		c.expected("a comma or " + closers[open.Type])
	}
}

func (c *climber) missingArguments(name lexer.Token) {
	c.fail(&diag.Diagnostic{
		Code:    diag.MissingArguments,
		Message: fmt.Sprintf("predicate %s stands without arguments", name.Value),
		Span:    c.span(name, name),
		Helps:   []string{fmt.Sprintf("write them behind the name: %s(...), or %s() when there are none", name.Value, name.Value)},
	})
}

// shapeError reports why the tokens of a clause do not have the shape of one.
// Syntax is what participle understood before err.
func (c *climber) shapeError(tokens []lexer.Token, syntax *clauseSyntax, err error) {
	i := len(tokens) - 1
	if perr, ok := err.(participle.Error); ok {
		if n := slices.IndexFunc(tokens, func(t lexer.Token) bool { return t.Pos == perr.Position() }); n >= 0 {
			i = n
		}
	}
	found := tokens[i]
	at := c.span(found, found)

	// An error inside the formula before the place explains more than the place.
	if syntax != nil && syntax.Left != nil {
		if c.formula(syntax.Left); c.failed {
			return
		}
	}
	var arrow *arrowSyntax
	if syntax != nil {
		arrow = syntax.Arrow
	}
	if arrow != nil && arrow.Right != nil {
		if c.formula(arrow.Right); c.failed {
			return
		}
	}
	switch {
	case isClosing(found.Type):
		c.closesNothing(found)
	case i == 0 && found.Type == tokDot:
		c.fail(&diag.Diagnostic{
			Code:    diag.EmptyClause,
			Message: "full stop ends no clause",
			Span:    at,
			Helps:   []string{"remove it, or write the clause before it"},
		})
	case i == 0 && (isArrow(found.Type) || found.Type == tokPlusEq):
		c.fail(&diag.Diagnostic{
			Code:    diag.EmptyClause,
			Message: fmt.Sprintf("nothing stands before %s", found.Value),
			Span:    at,
			Helps:   []string{"write the head of the rule before the arrow; a condition that must never hold is written !(...)."},
		})
	case isArrow(found.Type):
		d := &diag.Diagnostic{
			Code:    diag.SecondArrow,
			Message: "clause has a second arrow",
			Span:    at,
			Helps:   []string{"end the first clause with a full stop, or join conditions with a comma"},
		}
		if n := slices.IndexFunc(tokens[:i], func(t lexer.Token) bool { return isArrow(t.Type) }); n >= 0 {
			d.Labels = []diag.Label{{Span: c.span(tokens[n], tokens[n]), Message: "the first is here"}}
		}
		c.fail(d)
	case found.Type == tokP2P, found.Type == tokLShift:
		c.misplacedSpecifier(tokens, i)
	default:
		c.unexpected(tokens, i)
	}
}

func isArrow(k lexer.TokenType) bool {
	return k == tokLArrow || k == tokRArrow || k == tokLLArrow || k == tokRRArrow
}

func (c *climber) misplacedSpecifier(tokens []lexer.Token, i int) {
	d := &diag.Diagnostic{
		Code:    diag.MisplacedSpecifier,
		Message: "<< >> stands in the wrong place",
		Span:    c.span(tokens[i], tokens[i]),
		Helps:   []string{"it stands directly after <-, before the formula: n[] = c <- agg<<c = count()>> p(x)."},
	}
	if tokens[i].Type == tokLShift && i > 0 && tokens[i-1].Type == tokIdent {
		name := tokens[i-1].Value
		d.Message = fmt.Sprintf("%s does not go with << >>", name)
		d.Span = c.span(tokens[i-1], tokens[i])
		switch name {
		case "count", "total", "sum", "min", "max", "avg":
			d.Helps = []string{fmt.Sprintf("write agg<<v = %s(x)>>", name)}
		default:
			d.Helps = []string{"the words before << are agg, seq, list, list_to_seq, series, predict and uid"}
		}
	}
	c.fail(d)
}

// unexpected reports tokens[i], which has no place in the clause.
func (c *climber) unexpected(tokens []lexer.Token, i int) {
	found := tokens[i]
	inside := 0
	for _, t := range tokens[:i] {
		switch t.Type {
		case tokLShift:
			inside++
		case tokRShift:
			inside--
		}
	}
	what := "an arrow or the full stop that ends the clause"
	switch {
	case inside > 0:
		what = "specifiers such as v = total(x), then >>"
	case i > 0 && tokens[i-1].Type == tokPlusEq:
		what = "an expression after +="
	case slices.ContainsFunc(tokens[:i], func(t lexer.Token) bool { return isArrow(t.Type) }):
		what = "a formula or the full stop that ends the clause"
	case i == 0:
		what = "the start of a clause"
	}
	c.fail(&diag.Diagnostic{
		Code:    diag.UnexpectedToken,
		Message: fmt.Sprintf("found %s, expected %s", describe(found), what),
		Span:    c.span(found, found),
	})
}
