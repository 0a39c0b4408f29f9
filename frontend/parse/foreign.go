package parse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
)

// This file knows forms of other languages, so that the message about one shows
// what LogiQL has for it.

// translate replaces the advice of a syntax error in a clause that is written
// in another language.
func (c *climber) translate(d *diag.Diagnostic) {
	if d.Code != diag.UnexpectedToken && d.Code != diag.EmptyClause || len(c.tokens) == 0 {
		return
	}
	at := max(0, slices.IndexFunc(c.tokens,
		func(t token) bool { return t.start >= d.Span.Start }))
	start := at
	for start > 0 && c.tokens[start-1].kind != tokDot {
		start--
	}
	help := c.souffle(start, at)
	if help == "" {
		help = c.statement(start)
	}
	if help == "" {
		help = c.operator(at)
	}
	if help != "" {
		d.Helps = []string{help}
	}
}

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
	if c.tokens[at].kind == tokDot {
		rest, _, _ := strings.Cut(c.file.Text[c.tokens[at].end:], "\n")
		word, _, _ := strings.Cut(rest, " ")
		switch word {
		case "decl", "input", "output", "type", "printsize":
			return "a clause ends with a full stop, and none begins with one"
		}
		return ""
	}
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
		return "one of several values is an alternative of each: " + c.alternatives(before, at+1)
	case "like":
		return fmt.Sprintf("a pattern is tested by string:like(%s, \"a%%\")", before)
	case "between":
		return fmt.Sprintf("write 1 <= %s <= 2", before)
	case "is":
		if c.word(at+1) == "null" || c.word(at+1) == "not" {
			return "f[k] = _ holds if f has a value for k, and !f[k] = _ if it has none"
		}
		return fmt.Sprintf("write %s = ...", before)
	}
	for _, word := range []string{"if", "case"} {
		if before == word {
			return "each case is a rule of its own, with its condition in the body"
		}
	}
	return ""
}

// alternatives writes what the list that begins at a token stands for.
func (c *climber) alternatives(x string, at int) string {
	var out []string
	for i := at + 1; i < len(c.tokens) && len(out) < 10; i += 2 {
		out = append(out, x+" = "+c.text(c.tokens[i]))
		if i+1 >= len(c.tokens) || c.tokens[i+1].kind != tokComma {
			break
		}
	}
	if len(out) == 0 {
		out = []string{x + " = 1", x + " = 2"}
	}
	return "(" + strings.Join(out, " ; ") + ")"
}
