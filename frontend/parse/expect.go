package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// describe names a token in the words of the language.
func (c *climber) describe(t token) string {
	switch t.kind {
	case tokEOF:
		return "the end of the file"
	case tokDot:
		if c.text(t) == "" {
			return "the end of the clause"
		}
		return "the full stop"
	case tokComma:
		return "a comma"
	case tokSemicolon:
		return "a semicolon"
	case tokIdent, tokP2P:
		return "the name " + c.text(t)
	case tokInt, tokDecimal, tokFloat:
		return "the number " + c.text(t)
	case tokString:
		if n := strings.IndexByte(c.text(t), '\n'); n >= 0 {
			return "a string"
		}
		return "the string " + c.text(t)
	case tokDatetime:
		return "the datetime " + c.text(t)
	case tokRaw:
		return "text"
	}
	return c.text(t)
}

// expected reports what should stand at the current token.
func (c *climber) expected(what string, helps ...string) {
	if c.failed {
		return
	}
	found := c.tokens[c.next]
	if isClosing(found.kind) && len(c.opening) == 0 {
		c.closesNothing(found)
		return
	}
	at := c.span(found, found)
	if found.kind == tokEOF && c.next > 0 {
		at = c.span(c.last(), c.last())
		at.Start = at.End
	}
	c.fail(&diag.Diagnostic{
		Code:    diag.UnexpectedToken,
		Message: fmt.Sprintf("found %s, expected %s", c.describe(found), what),
		Span:    at,
		Helps:   helps,
	})
}

// missingOperand reports that no formula or expression starts at the current
// token. The message depends on the token before it.
func (c *climber) missingOperand() {
	if c.failed {
		return
	}
	what := "an atom, a comparison or a negation"
	if c.next > 0 {
		switch t := c.last(); t.kind {
		case tokEq, tokNe, tokLt, tokLe, tokGt, tokGe,
			tokPlus, tokMinus, tokStar, tokSlash, tokCaret, tokPlusEq:
			what = "an expression after " + c.text(t)
		case tokComma, tokSemicolon, tokNot:
			what = "an atom, a comparison or a negation after " + c.describe(t)
			if n := len(c.opening); n > 0 && c.opening[n-1].kind != tokLBrace {
				what = "an argument or a formula after " + c.describe(t)
			}
		case tokLParen, tokLBracket:
			what = "an argument or a formula after " + c.text(t)
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
	var helps []string
	switch strings.ToLower(c.text(found)) {
	case "and":
		helps = []string{"and is written as a comma"}
	case "or":
		helps = []string{"or is written as a semicolon"}
	}
	switch {
	case isClosing(found.kind):
		c.closesNothing(found)
	case found.kind == tokColon:
		c.expected("a comma, a semicolon or the full stop; x:v is written only as an argument")
	case endsOperand[last.kind] && endsOperand[found.kind] || found.kind == tokNot ||
		found.kind == tokLParen:
		c.expected(fmt.Sprintf("a comma, a semicolon or the full stop after %s", c.describe(last)),
			helps...)
	default:
		c.expected("a comma, a semicolon or the full stop")
	}
}

// numbersRows reports whether the last specifier that tokens open is seq<<>>.
func (c *climber) numbersRows(tokens []token) bool {
	for i := len(tokens) - 1; i > 0; i-- {
		if tokens[i].kind == tokLShift {
			return c.text(tokens[i-1]) == "seq"
		}
	}
	return false
}

func isClosing(k lexer.TokenType) bool {
	return k == tokRParen || k == tokRBracket || k == tokRBrace
}

func (c *climber) closesNothing(found token) {
	c.fail(&diag.Diagnostic{
		Code:    diag.UnbalancedBracket,
		Message: fmt.Sprintf("%s closes nothing", c.text(found)),
		Span:    c.span(found, found),
	})
}

// open consumes an opening bracket.
func (c *climber) open() token {
	t := c.take()
	c.opening = append(c.opening, t)
	return t
}

// closers maps opening brackets to closing ones.
var closers = map[lexer.TokenType]string{
	tokLParen: ")", tokLBracket: "]", tokLBrace: "}", tokQuotedBrace: "}",
}

// close consumes the bracket that closes open.
func (c *climber) close(open token, closing lexer.TokenType) {
	if c.failed {
		return
	}
	c.opening = c.opening[:len(c.opening)-1]
	found := c.tokens[c.next]
	switch {
	case c.kind() == closing:
		c.next++
	case isClosing(found.kind):
		c.fail(&diag.Diagnostic{
			Code:    diag.UnbalancedBracket,
			Message: fmt.Sprintf("%s is closed by %s", c.text(open), c.text(found)),
			Span:    c.span(found, found),
			At:      "expected " + closers[open.kind],
			Labels:  []diag.Label{{Span: c.span(open, open), Message: "opened here"}},
		})
	case c.next >= c.end:
		c.fail(&diag.Diagnostic{
			Code:    diag.UnbalancedBracket,
			Message: fmt.Sprintf("%s is never closed", c.text(open)),
			Span:    c.span(open, open),
			At:      "opened here",
			Labels: []diag.Label{{Span: c.span(found, found),
				Message: fmt.Sprintf("expected %s before %s",
					closers[open.kind], c.describe(found))}},
		})
	case found.kind == tokComma: // one would have been taken where a list may stand
		c.expected(closers[open.kind], "one expression stands between these brackets")
	default:
		c.expected("a comma or " + closers[open.kind])
	}
}

func (c *climber) missingArguments(name token) {
	c.fail(&diag.Diagnostic{
		Code:    diag.MissingArguments,
		Message: fmt.Sprintf("predicate %s stands without arguments", c.text(name)),
		Span:    c.span(name, name),
		Helps: []string{fmt.Sprintf("write them behind the name: %s(...), or %s() when there are none",
			c.text(name), c.text(name))},
	})
}

// shapeError reports why the tokens of a clause do not have the shape of one:
// tokens[i] belongs to no part of it.
func (c *climber) shapeError(tokens []token, shape clauseShape, i int) {
	found := tokens[i]
	at := c.span(found, found)

	if found.kind == tokP2P || found.kind == tokLShift {
		c.misplacedSpecifier(tokens, i)
		return
	}
	// An error inside a formula before the place explains more than the place.
	for _, f := range []run{shape.left, shape.right} {
		if !f.empty() {
			c.formula(f)
		}
	}
	if c.failed {
		return
	}
	switch {
	case isClosing(found.kind):
		c.closesNothing(found)
	case i == 0 && found.kind == tokDot:
		c.fail(&diag.Diagnostic{
			Code:    diag.EmptyClause,
			Message: "full stop ends no clause",
			Span:    at,
			Helps:   []string{"remove it, or write the clause before it"},
		})
	case i == 0 && (isArrow(found.kind) || found.kind == tokPlusEq):
		c.fail(&diag.Diagnostic{
			Code:    diag.EmptyClause,
			Message: fmt.Sprintf("nothing stands before %s", c.text(found)),
			Span:    at,
			Helps: []string{"write the head of the rule before the arrow; a condition that must never " +
				"hold is written !(...)."},
		})
	case isArrow(found.kind):
		d := &diag.Diagnostic{
			Code:    diag.SecondArrow,
			Message: "clause has a second arrow",
			Span:    at,
			Helps:   []string{"end the first clause with a full stop, or join conditions with a comma"},
		}
		if found.kind == tokLArrow && i+1 < len(tokens) && tokens[i+1].start == found.end &&
			isNumber(tokens[i+1].kind) {
			d.Helps = []string{"to compare with a negative number, separate the two signs: < -" +
				c.text(tokens[i+1])}
		}
		if n := slices.IndexFunc(tokens[:i], func(t token) bool {
			return isArrow(t.kind)
		}); n >= 0 {
			d.Labels = []diag.Label{{Span: c.span(tokens[n], tokens[n]),
				Message: "the first is here"}}
		}
		c.fail(d)
	default:
		c.unexpected(tokens, i)
	}
}

func isNumber(k lexer.TokenType) bool { return k == tokInt || k == tokDecimal || k == tokFloat }

func isArrow(k lexer.TokenType) bool {
	return k == tokLArrow || k == tokRArrow || k == tokLLArrow || k == tokRRArrow
}

func (c *climber) misplacedSpecifier(tokens []token, i int) {
	d := &diag.Diagnostic{
		Code:    diag.MisplacedSpecifier,
		Message: "<< >> stands in the wrong place",
		Span:    c.span(tokens[i], tokens[i]),
		Helps: []string{"it stands directly after <-, before the formula: n[] = c <- agg<<c = " +
			"count()>> p(x)."},
	}
	if tokens[i].kind == tokLShift && i > 0 && tokens[i-1].kind == tokIdent {
		name := c.text(tokens[i-1])
		d.Message = fmt.Sprintf("%s does not go with << >>", name)
		d.Span = c.span(tokens[i-1], tokens[i])
		switch name {
		case "total", "sum", "min", "max", "avg", "count_distinct", "median":
			d.Helps = []string{fmt.Sprintf("write agg<<v = %s(x)>>", name)}
		case "count":
			d.Helps = []string{"write agg<<v = count()>>"}
		case "quantile":
			d.Helps = []string{"write agg<<v = quantile(x, 0.9)>>"}
		case "string_join":
			d.Helps = []string{`write agg<<v = string_join(s, ", ")>>`}
		case "number", "rank", "row_number":
			d.Helps = []string{"write seq<<i = number(order(x))>>"}
		default:
			d.Helps = []string{"the words before << are agg, seq, list, list_to_seq, series, predict and " +
				"uid"}
		}
	}
	c.fail(d)
}

// unexpected reports tokens[i], which has no place in the clause.
func (c *climber) unexpected(tokens []token, i int) {
	found := tokens[i]
	inside := 0
	for _, t := range tokens[:i] {
		switch t.kind {
		case tokLShift:
			inside++
		case tokRShift:
			inside--
		}
	}
	what := "an arrow or the full stop that ends the clause"
	switch {
	case inside > 0 && c.numbersRows(tokens[:i]):
		what = "a specifier such as i = number(order(x)), then >>"
	case inside > 0:
		what = "specifiers such as v = total(x), then >>"
	case i > 0 && tokens[i-1].kind == tokPlusEq:
		what = "an expression after +="
	case slices.ContainsFunc(tokens[:i], func(t token) bool { return isArrow(t.kind) }):
		what = "a formula or the full stop that ends the clause"
	case i == 0:
		what = "the start of a clause"
	}
	c.fail(&diag.Diagnostic{
		Code:    diag.UnexpectedToken,
		Message: fmt.Sprintf("found %s, expected %s", c.describe(found), what),
		Span:    c.span(found, found),
	})
}
