package parse

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// This file knows forms of other languages, so that the message about one shows
// what LogiQL has for it.

// translate replaces the advice of a syntax error in a clause that is written
// in another language. It returns false if the next clause has the same error
// with more to say.
func (c *climber) translate(d *diag.Diagnostic) bool {
	if d.Code != diag.UnexpectedToken && d.Code != diag.EmptyClause || len(c.tokens) == 0 {
		return true
	}
	if d.Code == diag.EmptyClause && soufflePragma().MatchString(c.file.Text[d.Span.Start:]) {
		return false
	}
	at := max(0, slices.IndexFunc(c.tokens,
		func(t token) bool { return t.start >= d.Span.Start }))
	start := at
	for start > 0 && c.tokens[start-1].kind != tokDot {
		start--
	}
	help := c.souffle(start, at)
	if help != "" {
		d.Span = c.span(c.tokens[start-1], c.tokens[start])
		d.Message = d.Span.Text() + " is a directive of Soufflé, not of LogiQL"
	} else if help = c.statement(start); help != "" {
		d.Span = c.span(c.tokens[start], c.tokens[start])
		d.Message = d.Span.Text() + " is a statement of SQL, not of LogiQL"
	} else if help = c.ordering(at); help != "" {
		// It says what orders.
	} else if help = c.operator(at); help != "" {
		if word := c.word(at); slices.Contains(sqlOperators, word) {
			d.Message = word + " is not an operator of LogiQL"
		}
		c.replaceSet(d, at)
	}
	if help != "" {
		d.Helps = []string{help}
	}
	return true
}

// sqlOperators are operators of SQL that LogiQL writes in another way.
var sqlOperators = []string{"like", "rlike", "regexp", "matches", "between", "is"}

// soufflePragma matches the beginning of a directive of Soufflé.
var soufflePragma = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.(decl|input|output|type|printsize|comp|init)[ \t]+[\pL_]`)
})

// word returns a token in lower case.
func (c *climber) word(i int) string {
	if i < 0 || i >= len(c.tokens) {
		return ""
	}
	return strings.ToLower(c.text(c.tokens[i]))
}

// typeNames are the types of Soufflé.
var typeNames = map[string]string{
	"number": "int", "unsigned": "uint", "symbol": "string", "float": "float",
}

// souffle translates a directive of Soufflé, whose full stop is a clause of its
// own here. The clause behind it has its error at its second token.
func (c *climber) souffle(start, at int) string {
	if start == 0 || at != start+1 || c.tokens[start-1].end != c.tokens[start].start {
		return ""
	}
	name := c.text(c.tokens[at])
	switch c.word(start) {
	case "decl":
		return c.declaration(at)
	case "input":
		return fmt.Sprintf("leave it out: --facts DIR reads the facts of %s from DIR/%s.tsv", name,
			name)
	case "output", "printsize":
		return fmt.Sprintf("leave it out: --print %s prints it, and --out DIR writes all results",
			name)
	case "type":
		return "declare the columns with the type itself: p(x) -> string(x)."
	case "comp", "init":
		return "a component is a block: block(`name) { clauses(`{ p(1). }) } <-- ."
	}
	return ""
}

// declaration translates name(x: number, y: symbol), which begins at a token.
func (c *climber) declaration(at int) string {
	name := c.text(c.tokens[at])
	var args, types []string
	// x:number is one token, as the colon is part of names.
	for i := at + 2; i < len(c.tokens) && c.tokens[i].kind == tokIdent; i += 2 {
		arg, typ, ok := strings.Cut(c.text(c.tokens[i]), ":")
		if !ok && i+2 < len(c.tokens) && c.tokens[i+1].kind == tokColon {
			typ = c.text(c.tokens[i+2])
			i += 2
		}
		if known, ok := typeNames[typ]; ok {
			typ = known
		}
		args, types = append(args, arg), append(types, typ+"("+arg+")")
	}
	if len(args) == 0 {
		return "a predicate is declared as p(x, y) -> int(x), string(y)."
	}
	return fmt.Sprintf("a predicate is declared as %s(%s) -> %s.", name, strings.Join(args, ", "),
		strings.Join(types, ", "))
}

// statement translates a statement of SQL.
func (c *climber) statement(start int) string {
	switch c.word(start) {
	case "select":
		if c.word(start+2) == "from" && len(c.tokens) > start+3 &&
			c.tokens[start+1].kind == tokIdent && c.tokens[start+3].kind == tokIdent {
			x := c.text(c.tokens[start+1])
			return fmt.Sprintf("a query is a rule for _: _(%s) <- %s(%s).", x,
				c.text(c.tokens[start+3]), x)
		}
		return "a query is a rule for _: _(x, y) <- p(x, y), x > 1."
	case "create":
		if c.word(start+1) == "table" {
			return "a predicate is declared as p(x, y) -> int(x), string(y)."
		}
	case "insert":
		return "a fact is p(1, \"a\")."
	}
	return ""
}

// operator translates a word that is an operator elsewhere.
func (c *climber) operator(at int) string {
	before := "x"
	if at > 0 {
		before = c.text(c.tokens[at-1])
	}
	switch c.word(at) {
	case "in":
		if c.word(at+1) == "range" {
			return fmt.Sprintf("int:range(0, 4, 1, %[1]s) gives %[1]s the numbers from 0 to 4", before)
		}
		return fmt.Sprintf("a set of values has braces: %s in %s", before, c.set(at+1))
	case "not":
		if c.word(at+1) == "in" {
			return fmt.Sprintf("write !(%s in %s)", before, c.set(at+2))
		}
	case "like":
		return fmt.Sprintf("a pattern is tested by string:like(%s, \"a%%\")", before)
	case "rlike", "regexp", "matches":
		return fmt.Sprintf("a regular expression is tested by string:matches(%s, \"a+\")", before)
	case "between":
		low, high := "1", "2"
		if c.word(at+2) == "and" && at+3 < len(c.tokens) {
			low, high = c.text(c.tokens[at+1]), c.text(c.tokens[at+3])
		}
		return fmt.Sprintf("write %s <= %s <= %s", low, before, high)
	case "is":
		if c.word(at+1) == "null" || c.word(at+1) == "not" {
			return "f[k] = _ holds if f has a value for k, and !f[k] = _ if it has none"
		}
		return fmt.Sprintf("write %s = ...", before)
	}
	if help := c.arithmetic(before, at); help != "" {
		return help
	}
	if help := c.part(at); help != "" {
		return help
	}
	switch c.word(at - 1) {
	case "exists":
		return "an atom holds if there is such a tuple; leave the word out"
	case "if", "case":
		return "a conditional value is written if x > 1 then 2 else 3"
	}
	return ""
}

// wordFunctions are the functions for operators that are words elsewhere.
var wordFunctions = map[string]string{
	"mod": "int:mod", "rem": "int:mod", "band": "int:bitand", "bor": "int:bitor",
	"bxor": "int:bitxor", "xor": "int:bitxor", "bshl": "int:shl", "bshr": "int:shr",
}

// arithmetic translates an operator that is a word.
func (c *climber) arithmetic(before string, at int) string {
	if f := wordFunctions[c.word(at)]; f != "" {
		return fmt.Sprintf("write %s[%s, %s]", f, before, c.behind(at, "y"))
	}
	switch c.word(at) {
	case "div":
		return "integers are divided by /"
	case "as":
		return "a conversion is a function, as in int:string:convert[x]"
	}
	return ""
}

// part translates a part of a query of SQL, an aggregate of Soufflé, and the
// lists and the cut of Prolog.
func (c *climber) part(at int) string {
	word, last := c.word(at), c.word(at-1)
	if last == "order" || last == "group" {
		word = last
	}
	switch word {
	case "order":
		return fmt.Sprintf("the order of results is a directive: lang:output:orderBy[`%s] = \"%s\".",
			c.headOf(at), c.behind(at, "x desc"))
	case "limit":
		return fmt.Sprintf("a directive limits results: lang:output:limit[`%s] = %s.", c.headOf(at),
			c.behind(at, "10"))
	case "group":
		return "the keys of the head are the groups: n[x] = v <- agg<<v = count()>> p(x, _)."
	case "having":
		return "a condition on an aggregate is part of a rule that reads it: many(x) <- n[x] > 10."
	case "where":
		return "conditions stand behind a comma: p(x), x > 1"
	case "join":
		return "atoms with the same variable are joined: p(x, y), q(y, z)"
	case "union":
		return "alternatives are rules of their own, or formulas with a semicolon between them"
	case "exists":
		return "there is no such tuple: !p(x), or with a condition !(p(x), x > 1)"
	}
	switch text := c.text(c.tokens[at]); {
	case text == "[":
		return "there are no lists: write a tuple for each element, as in element(0, \"a\")"
	case text == "*" && c.word(at-2) == "count":
		return "count() has no argument: n[] = v <- agg<<v = count()>> p(x)."
	case last == "!" && (text == "." || text == ","):
		return "! is a negation, and there is no cut: the order of clauses has no meaning"
	}
	for _, fn := range []string{last, c.word(at - 2)} {
		switch fn {
		case "count", "sum", "min", "max", "mean":
			if c.word(at) == ":" || c.word(at+1) == ":" {
				return aggregateHelp(fn)
			}
		}
	}
	return ""
}

// ordering translates what SQL writes about the order and the different values
// of an aggregate or a number.
func (c *climber) ordering(at int) string {
	if at == 0 {
		return ""
	}
	before := c.text(c.tokens[at-1])
	switch c.word(at) {
	case "desc":
		return fmt.Sprintf("write desc(%s)", before)
	case "asc":
		return fmt.Sprintf("ascending is the default; write %s", before)
	case "over":
		return "numbers are written seq<<i = number(order(desc(x), y), partition(z))>>"
	case "within":
		return "write median(x), or quantile(x, 0.9)"
	case "order":
		if c.word(at+1) == "by" {
			return "the order is an argument of its own: string_join(s, \", \", order(x, desc(y)))"
		}
	case "by":
		switch before {
		case "order":
			return "write order(x, desc(y))"
		case "partition":
			return "write partition(x)"
		}
	}
	if before != "distinct" || c.tokens[at].kind != tokIdent {
		return ""
	}
	if c.word(at-2) == "(" && c.word(at-3) == "count" {
		return fmt.Sprintf("write count_distinct(%s)", c.text(c.tokens[at]))
	}
	return "a predicate has each tuple once: aggregate over a helper predicate"
}

// headOf returns the first name of the clause with a token.
func (c *climber) headOf(at int) string {
	for at > 0 && c.tokens[at-1].kind != tokDot {
		at--
	}
	return c.text(c.tokens[at])
}

// behind returns the operand that follows a token, or a default.
func (c *climber) behind(at int, otherwise string) string {
	if at+1 < len(c.tokens) && endsOperand[c.tokens[at+1].kind] {
		return c.text(c.tokens[at+1])
	}
	return otherwise
}

// aggregateHelp shows the rule for an aggregate of Soufflé.
func aggregateHelp(fn string) string {
	switch fn {
	case "count":
		return "an aggregate is a rule of its own: n[x] = v <- agg<<v = count()>> p(x, _)."
	case "mean":
		fn = "avg"
	}
	return "an aggregate is a rule of its own: n[x] = v <- agg<<v = " + fn + "(y)>> p(x, y)."
}

// replaceSet replaces in (1, 2) by in {1, 2}.
func (c *climber) replaceSet(d *diag.Diagnostic, at int) {
	if c.word(at) != "in" || at+1 >= len(c.tokens) || c.tokens[at+1].kind != tokLParen {
		return
	}
	for i := at + 2; i+1 < len(c.tokens) && c.tokens[i].kind != tokIdent &&
		endsOperand[c.tokens[i].kind]; i += 2 {
		if c.tokens[i+1].kind == tokRParen {
			first, last := c.tokens[at+1], c.tokens[i+1]
			inside := c.file.Text[first.end:last.start]
			d.Replace(c.span(first, last), "{"+inside+"}")
			return
		}
		if c.tokens[i+1].kind != tokComma {
			return
		}
	}
}

// set writes the list that begins at a token as a set.
func (c *climber) set(at int) string {
	var items []string
	for i := at + 1; i < len(c.tokens) && endsOperand[c.tokens[i].kind]; i += 2 {
		if c.tokens[i].kind == tokIdent {
			break
		}
		items = append(items, c.text(c.tokens[i]))
		if len(items) == 10 || c.tokens[i+1].kind != tokComma {
			break
		}
	}
	if len(items) == 0 {
		items = []string{"1", "2"}
	}
	return "{" + strings.Join(items, ", ") + "}"
}
