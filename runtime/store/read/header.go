package read

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// record returns the fields of the record at p and the position behind it.
func (f textFormat) record(data []byte, p int) (fields []string, next int, err error) {
	var room []byte
	for {
		text, end, _, err := f.field(data, p, &room)
		if err != nil {
			return fields, p, err
		}
		fields = append(fields, string(text))
		p = end + 1
		if data[end] == '\n' {
			return fields, p, nil
		}
	}
}

// records returns the first records of a block, at most n.
func (f textFormat) records(data []byte, n int) (out [][]string) {
	for p := 0; len(out) < n && p < len(data); {
		fields, next, err := f.record(data, p)
		if err != nil {
			break
		}
		out, p = append(out, fields), next
	}
	return out
}

// headerHelp advises how to read a file whose first line does not fit but names
// the columns; "" if it does not name them. head holds the first two records.
func (l *load) headerHelp(head [][]string) string {
	s := l.source
	if s.Header || len(head) == 0 || !slices.ContainsFunc(head[0], isName) {
		return ""
	}
	flag := "write --header"
	if s.Open != nil { // the program names the file
		flag = fmt.Sprintf("write lang:physical:hasColumnNames[`%s] = true.",
			s.Uses[0].Schema.Name)
	}
	if l.named(head[0]) {
		return "the first line names the columns: " + flag
	}
	if len(head) < 2 || !l.fits(head[1]) || l.anyFits(head[0]) {
		return ""
	}
	help := "only the first line does not fit, so that it may name the columns: " + flag
	if s.Open != nil {
		return help
	}
	use := s.Uses[0]
	var names []string
	for _, c := range use.Columns {
		if c < 0 || c >= len(head[0]) || head[0][c] == "" ||
			strings.ContainsAny(head[0][c], "(),") {
			return ""
		}
		if n := len(names); n == 0 || names[n-1] != head[0][c] {
			names = append(names, head[0][c])
		}
	}
	return fmt.Sprintf("%s --fact '%s=%s(%s)'", help, use.Schema.Name, s.Path,
		strings.Join(names, ", "))
}

// headerNote returns a note if the first line was read as a fact, yet has the
// names of the predicate's columns; else "".
func (l *load) headerNote(head [][]string) string {
	s := l.source
	if s.Header || len(head) == 0 || len(l.fields) == 0 || !l.named(head[0]) {
		return ""
	}
	return fmt.Sprintf("the first line of %s has the names of columns and was read as a fact of %s; "+
		"--header reads it as a header", s.Path, s.Uses[0].Schema.Name)
}

// namesHelp advises how to read a file whose column names differ from the
// predicate's arguments: with other names, or without a header if the first
// line has values.
func namesHelp(s *Source, schema *store.Schema) string {
	args, _ := arguments(schema)
	if s.Open != nil || len(s.Columns) < len(args) {
		return ""
	}
	isTuple, isText := s.Header && len(s.Columns) == len(args), true
	for i, a := range args {
		_, err := scalar.ParseText(a.Type, s.Columns[i])
		isTuple = isTuple && err == nil
		isText = isText && a.Type.Kind == scalar.String
	}
	names := s.Columns[:len(args)]
	if isTuple && !isText {
		return fmt.Sprintf("the first line could be a fact: if %s has no header, leave --header out",
			s.Path)
	}
	if slices.ContainsFunc(names, func(n string) bool {
		return n == "" || strings.ContainsAny(n, "(),'")
	}) {
		return ""
	}
	return fmt.Sprintf("say which columns are the arguments: --fact '%s=%s(%s)'", schema.Name, s.Path,
		strings.Join(names, ", "))
}

// named reports whether a record has the name of each argument that the source
// fills.
func (l *load) named(record []string) bool {
	if l.source.Columns != nil {
		return false // they have names already
	}
	for _, u := range l.source.Uses {
		for i, a := range u.Schema.Args {
			if u.Columns[i] < 0 || u.Columns[i] >= firstPart {
				continue
			}
			same := func(field string) bool { return strings.EqualFold(field, a.Name) }
			if !slices.ContainsFunc(record, same) {
				return false
			}
		}
	}
	return true
}

// fits reports whether a record has a value for each field that is read.
func (l *load) fits(record []string) bool {
	return !slices.ContainsFunc(l.fields, func(f field) bool { return !l.takes(f, record) })
}

// anyFits reports whether a record has a value of a field that is no string.
func (l *load) anyFits(record []string) bool {
	return slices.ContainsFunc(l.fields, func(f field) bool {
		return f.index >= 0 && f.typ.Kind != scalar.String && l.takes(f, record)
	})
}

// takes reports whether a record has a value of the field's type at the field's
// column.
func (l *load) takes(f field, record []string) bool {
	if f.index < 0 {
		return true
	}
	if f.index >= len(record) {
		return false
	}
	text := record[f.index]
	if f.nullable && (text == "" || l.opts.Null != nil && text == *l.opts.Null) {
		return true
	}
	_, err := scalar.ParseText(f.typ.Joined(), text)
	return err == nil
}

// isName reports whether a text could be the name of a column.
func isName(text string) bool {
	return text != "" && (unicode.IsLetter([]rune(text)[0]) || text[0] == '_')
}

// adviseHeader adds the advice of headerHelp to the error of a first line.
func (l *load) adviseHeader(err error, head [][]string) {
	var bad *LoadError
	if errors.As(err, &bad) && bad.Line == 1 && !bad.missing &&
		(bad.Help == "" || len(head) > 0 && l.named(head[0])) {
		if help := l.headerHelp(head); help != "" {
			bad.Help = help
		}
	}
}
