package lsp

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// describeFunction shows the forms of a built-in function and its examples.
func describeFunction(name string) string {
	f, ok := scalar.EntryOf(name)
	if !ok {
		return ""
	}
	text := code(strings.Join(f.Forms, "\n")) + "\n" + f.Doc
	if len(f.Examples) > 0 {
		text += "\n\n" + code(strings.Join(f.Examples, "\n"))
	}
	return text
}

// describeKeyword shows the form that has a word.
func describeKeyword(word string) string {
	e, ok := vocabulary.ExtensionOf(word)
	if !ok {
		return ""
	}
	return code(e.Form) + "\n" + e.Doc + " An extension of LogiQL."
}

// describeAggregation shows the form of a function of agg<<>> or seq<<>>.
func describeAggregation(name string) string {
	if a, ok := vocabulary.AggregationOf(name); ok {
		return code("agg<<"+a.Form+">>") + "\n" + a.Doc
	}
	if n, ok := vocabulary.NumberingOf(name); ok {
		return code("seq<<"+n.Form+">>") + "\n" + n.Doc
	}
	return ""
}

// describeType says what the values of a primitive type are, and of its widths.
func describeType(name string) string {
	var out []string
	for _, t := range vocabulary.Types {
		if typeWord(t) == name {
			out = append(out, code(t.Name)+"\n"+t.Doc)
		}
	}
	return strings.Join(out, "\n\n")
}

// typeWord returns the name of a type without its width.
func typeWord(t vocabulary.Type) string {
	word, _, _ := strings.Cut(t.Name, ",")
	word, _, _ = strings.Cut(word, "[")
	return word
}

// describeDirective shows the form of a directive, which may name a warning
// behind its own name.
func describeDirective(name string) string {
	for _, d := range vocabulary.Directives {
		if name == d.Name || strings.HasPrefix(name, d.Name+":") {
			return code(d.Form) + "\n" + d.Doc
		}
	}
	return ""
}
