package parse

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// climber builds the tree of one formula at a time by precedence climbing:
//
//	;  <  ,  <  !  <  = != < <= > >=  <  + -  <  * /  <  ^  <  unary + -
//
// A parenthesis holds a whole formula wherever it stands, so that one token
// decides every step. After the first error the climber acts as if the formula
// had ended, which unwinds it without further reports.
type climber struct {
	*parser
	tokens  []token
	next    int // index of the token to look at
	end     int // where the formula ends
	depth   int
	failed  bool
	opening []token // brackets that are open, innermost last
}

// broken stands for a formula with an error. It is in no tree, because its
// clause is left out.
var broken ast.Node = &ast.Wildcard{}

// formula parses a run of tokens.
func (c *climber) formula(r run) ast.Node {
	c.next, c.end = r.from, r.to
	n := c.disjunction()
	if !c.failed && c.next < c.end {
		c.leftover()
	}
	return n
}

// kind returns the kind of the token to look at, EOF at the formula's end.
func (c *climber) kind() lexer.TokenType {
	if c.next >= c.end {
		return tokEOF
	}
	return c.tokens[c.next].kind
}

// ahead returns the kind of the token n places further.
func (c *climber) ahead(n int) lexer.TokenType {
	if c.next+n >= c.end {
		return tokEOF
	}
	return c.tokens[c.next+n].kind
}

// take consumes a token.
func (c *climber) take() token {
	t := c.tokens[c.next]
	c.next++
	return t
}

// last returns the token before the one to look at.
func (c *climber) last() token { return c.tokens[c.next-1] }

func (c *climber) name(t token) *ast.Name {
	return &ast.Name{Span: c.span(t, t), Text: c.text(t)}
}

// fail reports the first error of the clause and ends the formula.
func (c *climber) fail(d *diag.Diagnostic) {
	if !c.failed {
		c.failed = true
		if !isForeign(d.Span.Text()) && c.translate(d) {
			c.report(d)
		}
	}
	c.next = c.end
}

// enter guards a recursion; each call that returns true is paired with leave.
func (c *climber) enter() bool {
	if c.depth++; c.depth <= maxDepth {
		return true
	}
	t := c.tokens[min(c.next, len(c.tokens)-1)]
	c.fail(&diag.Diagnostic{
		Code:    diag.NestingTooDeep,
		Message: fmt.Sprintf("formula is nested more than %d deep", maxDepth),
		Span:    c.span(t, t),
		Helps:   []string{"name parts of it as predicates of their own"},
	})
	c.depth--
	return false
}

func (c *climber) leave() { c.depth-- }

// chain parses operands separated by one kind of token. If there is only one,
// it is first, and all is nil.
func (c *climber) chain(
	separator lexer.TokenType, operand func() ast.Node,
) (first ast.Node, all []ast.Node) {
	first = operand()
	for c.kind() == separator {
		if all == nil {
			all = append(make([]ast.Node, 0, 4), first)
		}
		c.next++
		all = append(all, operand())
	}
	return first, all
}

func (c *climber) disjunction() ast.Node {
	first, all := c.chain(tokSemicolon, c.conjunction)
	if all == nil {
		return first
	}
	return &ast.Disj{Span: ends(all), Items: all}
}

func (c *climber) conjunction() ast.Node {
	first, all := c.chain(tokComma, c.literalFormula)
	if all == nil {
		return first
	}
	return &ast.Conj{Span: ends(all), Items: all}
}

// ends returns the span from the first node to the last.
func ends(nodes []ast.Node) source.Span {
	return nodes[0].Pos().To(nodes[len(nodes)-1].Pos())
}

// literalFormula parses a formula under any number of negations, with the
// attributes of hierarchical syntax behind it.
func (c *climber) literalFormula() ast.Node {
	if c.kind() == tokNot || c.isNotWord() {
		return c.negation()
	}
	n := c.comparison(true)
	if c.kind() == tokLBrace {
		return c.block(n)
	}
	return n
}

// isNotWord recognises `not p(x)` and `not (...)`.
func (c *climber) isNotWord() bool {
	if c.kind() != tokIdent || c.text(c.tokens[c.next]) != "not" {
		return false
	}
	switch c.ahead(1) {
	case tokIdent, tokLParen, tokPlus, tokMinus, tokCaret, tokNot:
		return true
	}
	return false
}

func (c *climber) negation() ast.Node {
	not := c.take()
	if not.kind == tokIdent {
		c.report(&diag.Diagnostic{
			Code:    diag.NotKeyword,
			Message: "negation is not written as a word",
			Span:    c.span(not, not),
			At:      "write !",
			Fixes: []diag.Fix{{Text: "!", Span: source.Span{File: c.file, Start: not.start,
				End: c.tokens[c.next].start}}},
		})
	}
	if !c.enter() {
		return broken
	}
	defer c.leave()
	x := c.literalFormula()
	return &ast.Not{Span: c.span(not, not).To(x.Pos()), X: x}
}

// block parses `{ ... }` behind its head.
func (c *climber) block(head ast.Node) ast.Node {
	if c.failed || !c.enter() {
		return broken
	}
	defer c.leave()
	open := c.open()
	b := &ast.Block{Head: head}
	if c.kind() != tokRBrace {
		switch x := c.conjunction().(type) {
		case *ast.Conj:
			b.Items = x.Items
		default:
			b.Items = []ast.Node{x}
		}
	}
	c.close(open, tokRBrace)
	b.Span = head.Pos().To(c.span(c.last(), c.last()))
	return b
}

// comparisons are the operators of Compare.
var comparisons = map[lexer.TokenType]string{
	tokEq: "=", tokNe: "!=", tokLt: "<", tokLe: "<=", tokGt: ">", tokGe: ">=",
}

// arithmetic are the operators of Binary and the signs before atoms. A token's
// own text may be a look-alike, such as the typographic minus.
var arithmetic = map[lexer.TokenType]string{
	tokPlus: "+", tokMinus: "-", tokStar: "*", tokSlash: "/", tokCaret: "^",
}

// isComparison reports whether k is a comparison operator.
func isComparison(k lexer.TokenType) bool { return tokEq <= k && k <= tokGe }

// comparison parses a chain of comparisons. At the start of a formula a sign
// may be part of a delta atom: `+p(x)`, `-f[x] = v`. A single `=` behind f[x]
// belongs to the atom; any other comparison makes f[x] a number with a sign.
func (c *climber) comparison(formulaStart bool) ast.Node {
	first := c.sum(formulaStart)
	if c.isIn() {
		return c.in(signed(first))
	}
	if !isComparison(c.kind()) {
		return first
	}
	f, isApply := first.(*ast.Apply)
	n := &ast.Compare{Operands: []ast.Node{first}}
	for isComparison(c.kind()) {
		op := c.take()
		n.Ops = append(n.Ops, comparisons[op.kind])
		n.OpSpans = append(n.OpSpans, c.span(op, op))
		n.Operands = append(n.Operands, c.sum(false))
	}
	if !isApply || !f.Square || len(n.Ops) > 1 || n.Ops[0] != "=" {
		n.Operands[0] = signed(first)
	}
	n.Span = ends(n.Operands)
	return n
}

// isIn reports whether the tokens at hand are `in {`.
func (c *climber) isIn() bool {
	return c.kind() == tokIdent && c.text(c.tokens[c.next]) == "in" && c.ahead(1) == tokLBrace
}

// in parses `in {1, 2}` behind x.
func (c *climber) in(x ast.Node) ast.Node {
	if c.failed || !c.enter() {
		return broken
	}
	defer c.leave()
	word := c.take()
	n := &ast.In{X: x, OpSpan: c.span(word, word)}
	open := c.open()
	if c.kind() == tokRBrace {
		c.expected("a value of the set", "an empty set has no member; leave out what can never hold")
		return broken
	}
	for {
		n.Items = append(n.Items, c.sum(false))
		if c.kind() != tokComma {
			break
		}
		c.next++
	}
	c.close(open, tokRBrace)
	n.Span = x.Pos().To(c.span(c.last(), c.last()))
	return n
}

// signed returns an operand in which a sign that was read as a delta, at the
// start of a formula, is the sign of a number.
func signed(n ast.Node) ast.Node {
	switch n := n.(type) {
	case *ast.Paren:
		n.X = signed(n.X)
	case *ast.Apply:
		if n.Delta == "+" || n.Delta == "-" {
			u := &ast.Unary{Span: n.Span, Op: n.Delta, X: n}
			n.Delta, n.Span.Start = "", n.Name.Span.Start
			return u
		}
	}
	return n
}

// sum parses operands joined by + and -.
func (c *climber) sum(formulaStart bool) ast.Node {
	return c.leftAssociative(formulaStart, tokPlus, tokMinus, c.product)
}

// product parses operands joined by * and /.
func (c *climber) product(formulaStart bool) ast.Node {
	return c.leftAssociative(formulaStart, tokStar, tokSlash, c.power)
}

// leftAssociative parses operands joined by one of two operators of equal rank.
func (c *climber) leftAssociative(
	formulaStart bool, a, b lexer.TokenType, operand func(bool) ast.Node,
) ast.Node {
	x := operand(formulaStart)
	for n := 1; c.kind() == a || c.kind() == b; n++ {
		op := c.take()
		if n > maxChain {
			c.fail(&diag.Diagnostic{
				Code:    diag.NestingTooDeep,
				Message: fmt.Sprintf("expression chains more than %d operators", maxChain),
				Span:    c.span(op, op),
				Helps:   []string{"name parts of it as predicates of their own"},
			})
			return broken
		}
		x = c.binary(op, x, operand(false))
	}
	return x
}

func (c *climber) binary(op token, x, y ast.Node) ast.Node {
	x = signed(x)
	return &ast.Binary{Span: x.Pos().To(y.Pos()), Op: arithmetic[op.kind], OpSpan: c.span(op, op),
		X: x, Y: y}
}

// power parses `x ^ y`, which groups to the right.
func (c *climber) power(formulaStart bool) ast.Node {
	x := c.unary(formulaStart)
	if c.kind() != tokCaret {
		return x
	}
	op := c.take()
	if !c.enter() {
		return broken
	}
	defer c.leave()
	return c.binary(op, x, c.power(false))
}

func (c *climber) unary(formulaStart bool) ast.Node {
	k := c.kind()
	if k != tokPlus && k != tokMinus && k != tokCaret {
		return c.primary(formulaStart)
	}
	switch {
	case formulaStart && c.isDelta():
		return c.atom(c.take())
	case k == tokCaret:
		return c.primary(formulaStart)
	}
	sign := c.take()
	if k == tokMinus {
		switch c.kind() {
		case tokInt, tokDecimal, tokFloat:
			return c.number(c.take(), sign)
		}
	}
	if !c.enter() {
		return broken
	}
	defer c.leave()
	x := c.unary(false)
	return &ast.Unary{Span: c.span(sign, sign).To(x.Pos()), Op: arithmetic[sign.kind], X: x}
}

// isDelta reports whether the sign at hand starts a delta atom. `-x` and `+x`
// with an operator behind them are arithmetic. So is the sign of a built-in
// function, which has no tuples to insert or delete.
func (c *climber) isDelta() bool {
	switch {
	case c.ahead(1) != tokIdent:
		return false
	case c.isAtom(1):
		return c.kind() == tokCaret || !scalar.IsBuiltin(c.text(c.tokens[c.next+1]))
	case c.kind() == tokPlus:
		k := c.ahead(2)
		return !isComparison(k) && arithmetic[k] == ""
	}
	return c.kind() == tokCaret
}

// isAtom reports whether the name n places ahead has arguments or a stage.
func (c *climber) isAtom(n int) bool {
	switch c.ahead(n + 1) {
	case tokLParen, tokLBracket, tokAt:
		return true
	}
	return false
}

func (c *climber) primary(formulaStart bool) ast.Node {
	switch c.kind() {
	case tokIdent:
		if c.isConditional() {
			return c.conditional()
		}
		return c.identifier()
	case tokInt, tokDecimal, tokFloat:
		return c.number(c.take(), token{})
	case tokString:
		return c.strings()
	case tokDatetime:
		return c.datetime(c.take())
	case tokLParen:
		return c.paren(formulaStart)
	case tokQuoted:
		t := c.take()
		return &ast.PredRef{Span: c.span(t, t), Name: c.text(t)[1:]}
	case tokQuotedBrace:
		return c.clauseLiteral()
	}
	c.missingOperand()
	return broken
}

// isConditional reports whether the name at hand is the word of `if c then a
// else b`: whether then stands behind an operand, in the same brackets.
func (c *climber) isConditional() bool {
	if c.text(c.tokens[c.next]) != "if" {
		return false
	}
	depth := 0
	for i := c.next + 1; i < c.end && depth >= 0; i++ {
		switch c.tokens[i].kind {
		case tokLParen, tokLBracket, tokLBrace:
			depth++
		case tokRParen, tokRBracket, tokRBrace:
			depth--
		case tokIdent:
			if depth == 0 && endsOperand[c.tokens[i-1].kind] && c.text(c.tokens[i]) == "then" {
				return i > c.next+1
			}
		}
	}
	return false
}

// conditional parses `if c then a else b`.
func (c *climber) conditional() ast.Node {
	if !c.enter() {
		return broken
	}
	defer c.leave()
	word := c.take()
	n := &ast.If{Cond: c.disjunction()}
	if n.ThenAt = c.keyword("then"); c.failed {
		return broken
	}
	n.Then = c.sum(false)
	if n.ElseAt = c.keyword("else"); c.failed {
		return broken
	}
	n.Else = c.sum(false)
	n.Span = c.span(word, word).To(n.Else.Pos())
	return n
}

// keyword consumes a word of a conditional value.
func (c *climber) keyword(word string) source.Span {
	if c.kind() != tokIdent || c.text(c.tokens[c.next]) != word {
		c.expected(word, "a conditional value has both cases: if x > 1 then 2 else 3")
		return source.Span{}
	}
	t := c.take()
	return c.span(t, t)
}

func (c *climber) paren(formulaStart bool) ast.Node {
	if !c.enter() {
		return broken
	}
	defer c.leave()
	open := c.open()
	var x ast.Node
	if formulaStart {
		x = c.disjunction()
	} else {
		// After an operator the parenthesis groups an expression, in which a
		// sign is arithmetic.
		x = c.comparison(false)
	}
	c.close(open, tokRParen)
	return &ast.Paren{Span: c.span(open, c.last()), X: x}
}

// identifier parses what starts with a name: a variable, an atom or a truth
// value.
func (c *climber) identifier() ast.Node {
	if c.isAtom(0) {
		return c.atom(token{})
	}
	t := c.take()
	at := c.span(t, t)
	switch {
	case c.text(t) == "_":
		return &ast.Wildcard{Span: at}
	case c.text(t) == "true" || c.text(t) == "false":
		return boolean(c.text(t), at)
	case strings.Contains(c.text(t), ":"):
		c.missingArguments(t)
		return broken
	}
	return &ast.Var{Span: at, Name: c.text(t)}
}

// atom parses `p(a)`, `f[a]`, `p@prev(a)`, `int[64](a)`, after a sign if there
// is one.
func (c *climber) atom(sign token) ast.Node {
	name := c.take()
	a := &ast.Apply{Delta: arithmetic[sign.kind], Name: c.name(name), Split: -1}
	if c.kind() == tokAt {
		c.next++
		if c.kind() != tokIdent {
			c.expected("the name of a stage after @, such as prev")
			return broken
		}
		a.Stage = c.text(c.take())
	}
	if c.kind() != tokLParen && c.kind() != tokLBracket {
		c.missingArguments(name)
		return broken
	}
	if !c.enter() {
		return broken
	}
	defer c.leave()
	c.arguments(a)
	if !c.failed && a.Square && c.kind() == tokLParen {
		if !c.typeParameters(a) {
			return broken
		}
		c.arguments(a)
	}
	a.Span = a.Name.Span.To(c.span(c.last(), c.last()))
	if a.Delta != "" {
		a.Span.Start = sign.start
	}
	return a
}

// typeParameters makes the arguments that were in brackets the parameters of a
// type, as in int[64] and decimal[18,2].
func (c *climber) typeParameters(a *ast.Apply) bool {
	var text []string
	for _, arg := range a.Args {
		lit, ok := arg.(*ast.Literal)
		if !ok || a.Split >= 0 || !isDigit(lit.Raw[0]) || strings.ContainsAny(lit.Raw, ".defE") {
			text = nil
			break
		}
		text = append(text, lit.Raw)
	}
	if text == nil {
		c.expected("a comparison or the end of the atom; only the parameters of a type, as in " +
			"int[64](x), stand in brackets before parentheses")
		return false
	}
	a.Index, a.Args, a.Square = strings.Join(text, ","), nil, false
	return true
}

// arguments parses `(a, b)`, `[a, b]` or `(k; a, b)` into a.
func (c *climber) arguments(a *ast.Apply) {
	open := c.open()
	closing := tokRParen
	if open.kind == tokLBracket {
		a.Square, closing = true, tokRBracket
	}
	if c.kind() != closing {
		for {
			a.Args = append(a.Args, c.argument())
			if c.kind() == tokSemicolon && a.Split < 0 {
				a.Split = len(a.Args)
			} else if c.kind() != tokComma {
				break
			}
			c.next++
		}
	}
	c.close(open, closing)
}

// argument parses an expression, or `x:v` of a reference mode.
func (c *climber) argument() ast.Node {
	if c.kind() == tokIdent && !c.isAtom(0) {
		t := c.tokens[c.next]
		if x, v, ok := strings.Cut(c.text(t), ":"); ok && !strings.Contains(v, ":") {
			c.next++
			start, colon := t.start, t.start+len(x)
			return &ast.RefMode{
				Span: c.span(t, t),
				X:    c.variable(start, colon),
				V:    c.variable(colon+1, t.end),
			}
		}
	}
	x := c.sum(false)
	if c.kind() != tokColon {
		return x
	}
	c.next++
	v := c.sum(false)
	return &ast.RefMode{Span: x.Pos().To(v.Pos()), X: x, V: v}
}

// variable returns the variable or truth value that the text names.
func (c *climber) variable(start, end int) ast.Node {
	at := source.Span{File: c.file, Start: start, End: end}
	switch name := at.Text(); name {
	case "_":
		return &ast.Wildcard{Span: at}
	case "true", "false":
		return boolean(name, at)
	default:
		return &ast.Var{Span: at, Name: name}
	}
}

// clauseLiteral parses `{ clauses }.
func (c *climber) clauseLiteral() ast.Node {
	if !c.enter() {
		return broken
	}
	defer c.leave()
	open := c.open()
	from, depth := c.next, 1
	for ; c.next < c.end; c.next++ {
		switch c.tokens[c.next].kind {
		case tokLBrace, tokQuotedBrace:
			depth++
		case tokRBrace:
			depth--
		}
		if depth == 0 {
			break
		}
	}
	to := c.next
	c.close(open, tokRBrace)
	inside := append([]token(nil), c.tokens[from:to]...)
	inside = append(inside, token{kind: tokEOF, start: c.tokens[to].start, end: c.tokens[to].start})
	return &ast.PredRef{Span: c.span(open, c.last()), Clauses: c.clauses(inside, c.depth)}
}
