package sema

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/sema/normal"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// operatorWords are the words for operators in names of columns.
var operatorWords = map[string]string{"+": "plus", "-": "minus", "*": "times", "/": "by", "^": "to"}

// longestName bounds names that are made of expressions.
const longestName = 24

// expressionName names a column after the expression that computes it in a
// head: x for x, x_plus_1 for x + 1, total for total[x], and x for a conversion
// of x. It is "" if the name would be long or no identifier.
func expressionName(n ast.Node) string {
	name := wordsOf(n)
	if len(name) > longestName || strings.ContainsAny(name, ":@$ ") || !startsName(name) {
		return ""
	}
	return name
}

// startsName reports whether a text starts like the name of a variable.
func startsName(text string) bool {
	return text != "" && (text[0] >= 'a' && text[0] <= 'z' || text[0] >= 'A' && text[0] <= 'Z')
}

// wordsOf renders an expression in words; "" if it cannot.
func wordsOf(n ast.Node) string {
	switch n := ast.Unparen(n).(type) {
	case *ast.Var:
		return normal.PlainName(n.Name)
	case *ast.Literal:
		if n.Value.Type.Kind == scalar.Int && n.Value.Int() >= 0 {
			return scalar.Format(n.Value)
		}
	case *ast.Unary:
		x := wordsOf(n.X)
		if word := operatorWords[n.Op]; x != "" && word != "" {
			return word + "_" + x
		}
	case *ast.Binary:
		x, y := wordsOf(n.X), wordsOf(n.Y)
		if word := operatorWords[n.Op]; x != "" && y != "" && word != "" {
			return x + "_" + word + "_" + y
		}
	case *ast.Apply:
		if last := n.Name.Text[strings.LastIndexByte(n.Name.Text, ':')+1:]; last != "convert" {
			return last
		}
		if args := arguments(n); len(args) == 1 {
			return wordsOf(args[0])
		}
	}
	return ""
}
