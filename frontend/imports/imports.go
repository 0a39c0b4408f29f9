package imports

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Extension ends the names of import scripts.
const Extension = ".import"

// File reads a script and adds its findings to diags.
func File(f *source.File, diags *diag.List) *ast.File {
	s := &script{Reporter: diag.NewReporter(diags), file: f, tree: &ast.File{Source: f}}
	for n := range f.Lines() {
		if fields := s.fields(n + 1); len(fields) > 0 {
			s.line(n+1, fields)
		}
	}
	s.finish()
	return s.tree
}

type script struct {
	*diag.Reporter
	file *source.File
	tree *ast.File

	delimiter, header *field // options, nil if they are not set
	from              *table
}

// field is one field of a line. Text is without quotes.
type field struct {
	text string
	span source.Span
}

// table is a file of facts: a predicate whose arguments are columns.
type table struct {
	pred string
	span source.Span
	vars []ast.Node     // of the columns; wildcards for those without a name
	at   map[string]int // column of each name
	used map[int]bool   // columns that a predicate takes
}

// fields splits a line at its commas. A line that is empty or a comment has
// none.
func (s *script) fields(n int) []field {
	text, start := s.file.Line(n), s.file.LineStart(n)
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "#") {
		return nil
	}
	var out []field
	add := func(from, to int) {
		raw := text[from:to]
		left := len(raw) - len(strings.TrimLeft(raw, " "))
		raw = strings.Trim(raw, " ")
		at := source.Span{File: s.file, Start: start + from + left,
			End: start + from + left + len(raw)}
		if unquoted, ok := strings.CutPrefix(raw, `"`); ok {
			raw = strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(
				strings.TrimSuffix(unquoted, `"`))
		}
		out = append(out, field{raw, at})
	}
	from, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ',' && !quoted:
			add(from, i)
			from = i + 1
		}
	}
	add(from, len(text))
	return out
}

// line reads one line of the script.
func (s *script) line(n int, f []field) {
	switch f[0].text {
	case "option":
		s.option(f)
	case "fromFile":
		s.fromFile(n, f)
	case "toPredicate":
		s.toPredicate(f)
	default:
		d := s.Errorf(diag.BadImport, f[0].span, "an import script has no line %s", f[0].text)
		known := []string{"option", "fromFile", "toPredicate"}
		if near, ok := diag.Suggest(f[0].text, known); ok {
			d.Help("did you mean %s?", near)
		} else {
			d.Help("its lines start with option, fromFile or toPredicate")
		}
	}
}

func (s *script) option(f []field) {
	if len(f) != 3 {
		d := s.Errorf(diag.BadImport, f[0].span, "an option has a name and a value")
		d.Help(`write for example option,delimiter,"\t"`)
		return
	}
	isTruth := f[2].text == "true" || f[2].text == "false"
	switch f[1].text {
	case "delimiter", "delimeter":
		if len(f[2].text) != 1 {
			s.Errorf(diag.BadImport, f[2].span, "a delimiter is one character, not %d bytes",
				len(f[2].text))
			return
		}
		s.delimiter = &f[2]
	case "hasColumnNames":
		if !isTruth {
			s.Errorf(diag.BadImport, f[2].span, "hasColumnNames is true or false")
			return
		}
		s.header = &f[2]
	case "quotedValues", "escapeQuotedValues":
		if f[2].text == "true" {
			s.ignored(f[1])
		}
	default:
		s.ignored(f[1])
	}
}

func (s *script) ignored(option field) {
	s.Add(&diag.Diagnostic{Severity: diag.Note, Code: diag.IgnoredDirective, Span: option.span,
		Message: "the option " + option.text + " has no effect",
		Notes:   []string{"the fields of files whose names end in .csv may be quoted"}})
}

// fromFile reads fromFile,"path",column,name,column,name,... A column is
// column:N, or stands for the next column of the file.
func (s *script) fromFile(n int, f []field) {
	s.finish()
	if len(f) < 4 || len(f)%2 == 1 {
		d := s.Errorf(diag.BadImport, f[0].span,
			"fromFile has a path, and pairs of a column and a name")
		d.Help(`write for example fromFile,"edges.txt",column:1,from,column:2,to`)
		return
	}
	base := strings.TrimSuffix(filepath.Base(s.file.Name), Extension)
	isOther := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}
	base = strings.Join(strings.FieldsFunc(base, isOther), "_")
	t := &table{pred: fmt.Sprintf("_%s_line%d", base, n), span: f[1].span, at: map[string]int{},
		used: map[int]bool{}}
	for i := 2; i < len(f); i += 2 {
		column, name := i/2, f[i+1]
		if number, ok := strings.CutPrefix(f[i].text, "column:"); ok {
			at, err := strconv.Atoi(number)
			if err != nil || at < 1 || at > 1000 {
				s.Errorf(diag.BadImport, f[i].span, "there is no column %s", number)
				return
			}
			column = at
		}
		if !s.isName(name) {
			return
		}
		if _, ok := t.at[name.text]; ok {
			s.Errorf(diag.BadImport, name.span, "%s names two columns", name.text)
			return
		}
		for len(t.vars) < column {
			t.vars = append(t.vars, &ast.Wildcard{Span: f[1].span})
		}
		t.at[name.text] = column - 1
		t.vars[column-1] = variable(name)
	}
	s.from = t
	s.directive(t, "filePath", &f[1], scalar.OfString(f[1].text))
	s.directive(t, "fileMode", &f[1], scalar.OfString("import"))
	if s.delimiter != nil {
		s.directive(t, "delimiter", s.delimiter, scalar.OfString(s.delimiter.text))
	}
	if s.header != nil {
		s.directive(t, "hasColumnNames", s.header, scalar.OfBool(s.header.text == "true"))
	}
}

// isName reports whether a field is the name of a predicate or a column.
func (s *script) isName(f field) bool {
	isOther := func(r rune) bool {
		return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for _, part := range strings.Split(strings.TrimPrefix(f.text, "?"), ":") {
		if part == "" || part == "_" || strings.ContainsFunc(part, isOther) {
			at := f.span
			if at.Start == at.End {
				at.Start = max(at.Start-1, 0)
			}
			d := s.Errorf(diag.BadImport, at, "this is no name: %s", scalar.Quote(f.text))
			d.Help("a name has letters, digits and _, and for predicates colons between parts")
			return false
		}
	}
	return true
}

func variable(f field) ast.Node {
	return &ast.Var{Span: f.span, Name: strings.ReplaceAll(f.text, ":", "_")}
}

// directive adds lang:physical:NAME[`pred] = value.
func (s *script) directive(t *table, name string, at *field, value scalar.Value) {
	a := &ast.Apply{Span: t.span, Name: &ast.Name{Span: t.span, Text: "lang:physical:" + name},
		Square: true, Args: []ast.Node{&ast.PredRef{Span: t.span, Name: t.pred}}, Split: -1}
	lit := &ast.Literal{Span: at.span, Value: value, Raw: at.span.Text()}
	s.tree.Clauses = append(s.tree.Clauses, &ast.Clause{Span: at.span,
		Left: &ast.Compare{Span: at.span, Operands: []ast.Node{a, lit}, Ops: []string{"="},
			OpSpans: []source.Span{at.span}}})
}

// toPredicate reads toPredicate,PRED,name,..., a delta rule over the last file.
func (s *script) toPredicate(f []field) {
	t := s.from
	switch {
	case len(f) < 2:
		d := s.Errorf(diag.BadImport, f[0].span, "toPredicate has a predicate and names of columns")
		d.Help("write for example toPredicate,edge,from,to")
		return
	case t == nil:
		d := s.Errorf(diag.BadImport, f[0].span, "no file comes before this predicate")
		d.Help("name the file and its columns in a line fromFile")
		return
	}
	if !s.isName(f[1]) {
		return
	}
	span := f[0].span.To(f[len(f)-1].span)
	head := &ast.Apply{Span: span, Delta: "+", Name: &ast.Name{Span: f[1].span, Text: f[1].text},
		Split: -1}
	used := map[int]bool{} // here
	for _, name := range f[2:] {
		at, ok := t.at[name.text]
		if !ok {
			d := s.Errorf(diag.BadImport, name.span, "the file has no column that is named %s",
				name.text)
			var names []string
			for n := range t.at {
				names = append(names, n)
			}
			slices.Sort(names)
			d.Help("%s", diag.DidYouMean(name.text, names))
			return
		}
		used[at], t.used[at] = true, true
		head.Args = append(head.Args, variable(name))
	}
	body := &ast.Apply{Span: t.span, Name: &ast.Name{Span: t.span, Text: t.pred}, Split: -1}
	for i, v := range t.vars {
		if !used[i] {
			v = &ast.Wildcard{Span: v.Pos()}
		}
		body.Args = append(body.Args, v)
	}
	s.tree.Clauses = append(s.tree.Clauses,
		&ast.Clause{Span: span, Arrow: ast.Rule, Left: head, Right: body})
}

// finish ends a file. Columns that no predicate takes are strings, which every
// field is.
func (s *script) finish() {
	t := s.from
	s.from = nil
	if t == nil || len(t.used) == len(t.vars) {
		return
	}
	head := &ast.Apply{Span: t.span, Name: &ast.Name{Span: t.span, Text: t.pred}, Split: -1}
	types := &ast.Conj{Span: t.span}
	for i := range t.vars {
		v := &ast.Var{Span: t.span, Name: fmt.Sprintf("c%d", i+1)}
		head.Args = append(head.Args, v)
		if !t.used[i] {
			types.Items = append(types.Items, &ast.Apply{Span: t.span,
				Name: &ast.Name{Span: t.span, Text: "string"}, Args: []ast.Node{v}, Split: -1})
		}
	}
	s.tree.Clauses = append(s.tree.Clauses, &ast.Clause{Span: t.span, Arrow: ast.Constraint,
		Left: head, Right: types})
}
