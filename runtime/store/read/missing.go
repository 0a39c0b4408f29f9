package read

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// missingHelp advises how to read rows without a value for a field that a
// predicate needs.
func (l *load) missingHelp(f int) string {
	var help []string
	if l.fields[f].typ.Kind == scalar.String && l.source.Format == CSV && l.opts.Null == nil {
		help = append(help, `an empty string is written as ""`)
	}
	if l.opts.OnError == Stop {
		help = append(help, "--on-error skip leaves such rows out")
	}
	if declaration := l.functionOf(f); declaration != "" {
		help = append(help, "a function may lack a value: "+declaration)
	}
	return strings.Join(help, "; ")
}

// functionOf declares the relation that needs a field as a function to the
// field from its other arguments, or returns "" if the file could not be read
// by that declaration.
func (l *load) functionOf(f int) string {
	for u, use := range l.source.Uses {
		args, keys := arguments(&use.Schema)
		if keys < len(args) || len(args) < 2 {
			continue // a key always has a value
		}
		last := len(use.Columns) - 1
		for i, field := range l.args[u] {
			if field != f || i != last && l.source.Columns == nil {
				continue
			}
			at := places(&use.Schema)[i] - 1
			value := args[at]
			others := append(append([]store.Field{}, args[:at]...), args[at+1:]...)
			name := func(a store.Field) string { return a.Name }
			types := list.Map(append(others, value),
				func(a store.Field) string { return fmt.Sprintf("%s(%s)", a.Type, a.Name) })
			return fmt.Sprintf("%s[%s] = %s -> %s.", use.Schema.Name,
				strings.Join(list.Map(others, name), ", "), value.Name, strings.Join(types, ", "))
		}
	}
	return ""
}
