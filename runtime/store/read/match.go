package read

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/runtime/store"
)

// missingColumn means that a file has no column for an argument.
type missingColumn struct {
	pred, arg string
	columns   []string
	near      string
}

func (e *missingColumn) Error() string {
	s := fmt.Sprintf("there is no column %s for %s; ", e.arg, e.pred)
	if len(e.columns) == 0 {
		return s + "the file has none"
	}
	s += "the columns are " + strings.Join(e.columns, ", ")
	if e.near != "" {
		s += fmt.Sprintf("; did you mean %s?", e.near)
	}
	return s
}

// matchColumns returns the file's column for each column of a predicate.
func matchColumns(s *store.Schema, source *Source, explicit []string, offset bool) ([]int, error) {
	columns, err := matchArguments(s, source, explicit, offset)
	if err != nil {
		return nil, err
	}
	return twice(s, columns), nil
}

// matchArguments returns the file's column for each argument of a predicate.
// Columns that the user named win; without names, columns go by position.
func matchArguments(
	s *store.Schema, source *Source, explicit []string, offset bool,
) ([]int, error) {
	var out []int
	args, keys := arguments(s)
	if offset {
		if len(args) == 0 {
			return nil, &BindError{Reason: fmt.Sprintf("%s has no argument for the offset", s.Name)}
		}
		out, args, keys = append(out, offsetColumn), args[1:], keys-1
	}
	if explicit != nil {
		if len(explicit) != len(args) {
			return nil, &BindError{Reason: fmt.Sprintf("%s has %s; %d are named for it in %s",
				s.Name, counted(len(args), "argument"), len(explicit), source.Path)}
		}
		for _, name := range explicit {
			c, err := explicitColumn(s, source, name)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
		return out, nil
	}
	if source.Columns == nil {
		next := 0
		for _, a := range args {
			c := source.partNamed(a.Name)
			if c < 0 {
				c, next = next, next+1
			}
			out = append(out, c)
		}
		return out, nil
	}
	for i, a := range args {
		c, err := columnNamed(s, source, a.Name)
		if c < 0 && err == nil && i >= keys && len(args)-keys == 1 {
			c, err = valueColumn(s, source)
		}
		if err != nil {
			return nil, err
		}
		if c < 0 {
			near, _ := nearest(a.Name, source.columnNames())
			return nil, &missingColumn{pred: s.Name, arg: a.Name, columns: source.columnNames(),
				near: near}
		}
		out = append(out, c)
	}
	return out, nil
}

// placed returns the number of the column of each argument, if the columns have
// the names of all arguments, but in another order or among further columns.
// Otherwise it returns nil, and columns go by position. It notes a column that
// has the name of an argument at another position.
func (b *binder) placed(source *Source, s *store.Schema, offset bool) ([]string, error) {
	args, _ := arguments(s)
	if offset && len(args) > 0 {
		args = args[1:]
	}
	var numbers []string
	moved := -1
	for i, a := range args {
		at := slices.IndexFunc(source.named,
			func(name string) bool { return strings.EqualFold(strings.TrimSpace(name), a.Name) })
		if at < 0 {
			continue
		}
		numbers = append(numbers, strconv.Itoa(at+1))
		if at != i && moved < 0 {
			moved = at
		}
	}
	others := len(source.named) != len(args) // columns, which leave no places
	switch {
	case source.named == nil || len(args) == 0:
		return nil, nil
	case len(numbers) == len(args) && moved >= 0:
		b.note("%s names the arguments of %s in another order; its columns go to them by name",
			source.Path, s.Name)
		source.Arity = len(source.named)
		return numbers, nil
	case len(numbers) == len(args) && others:
		source.Arity = len(source.named)
		return numbers, nil
	case others && source.Format.isText():
		return nil, b.misplaced(source, s, args)
	case moved < 0:
		return nil, nil
	}
	b.note("the columns of %s go to the arguments of %s by place, because they do not have all of "+
		"their names; column %d is called %s", source.Path, s.Name, moved+1, source.named[moved])
	return nil, nil
}

// misplaced is the error of a text that the program names, if its columns go by
// position and there are more or fewer of them than arguments.
func (b *binder) misplaced(source *Source, s *store.Schema, args []store.Field) error {
	names := strings.Join(list.Map(args, func(a store.Field) string { return a.Name }), ", ")
	wrong := &LoadError{File: source.Path, Line: headerLine(source),
		Reason: fmt.Sprintf("found %s, expected %d: those of a file that the program names go to "+
			"the arguments of %s by place", counted(len(source.named), "column"), len(args), s.Name)}
	if len(source.named) > len(args) {
		wrong.Help = fmt.Sprintf("call the arguments (%s) as columns of the file (%s), which then go "+
			"to them by name", names, strings.Join(source.named, ", "))
	}
	return wrong
}

// explicitColumn finds a column by name or, failing that, by number from 1.
func explicitColumn(s *store.Schema, source *Source, name string) (int, error) {
	c, err := columnNamed(s, source, name)
	if c >= 0 || err != nil {
		return c, err
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 &&
		(source.Arity < 0 || n <= source.Arity) {
		return n - 1, nil
	}
	if source.Columns == nil {
		return 0, &BindError{
			Reason: fmt.Sprintf("the columns of %s have no names, but %s is to take %s",
				source.Path, s.Name,
				name),
			Help: "use numbers from 1, or write --header if the first line has the names",
		}
	}
	near, _ := nearest(name, source.columnNames())
	return 0, &missingColumn{pred: s.Name, arg: name, columns: source.columnNames(), near: near}
}

// columnNamed returns the column of that name, or -1. A name in the same case
// wins over those in another.
func columnNamed(s *store.Schema, source *Source, name string) (int, error) {
	var same, folded []int
	for i, c := range source.Columns {
		switch {
		case c == name:
			same = append(same, i)
		case strings.EqualFold(c, name):
			folded = append(folded, i)
		}
	}
	c, err := theColumn(s, source, name, same, folded)
	if c < 0 && err == nil {
		c = source.partNamed(name)
	}
	return c, err
}

// valueColumn finds the value of a predicate such as lineitem:quantity by the
// last part of the predicate's name.
func valueColumn(s *store.Schema, source *Source) (int, error) {
	part := s.Name[strings.LastIndexByte(s.Name, ':')+1:]
	c, err := columnNamed(s, source, part)
	if c >= 0 || err != nil {
		return c, err
	}
	var ending []int
	for i, c := range source.Columns {
		if strings.HasSuffix(strings.ToLower(c), "_"+strings.ToLower(part)) {
			ending = append(ending, i)
		}
	}
	return theColumn(s, source, part, ending)
}

// theColumn returns the only column of the first list that has any, or -1.
func theColumn(s *store.Schema, source *Source, name string, choices ...[]int) (int, error) {
	for _, list := range choices {
		if len(list) == 1 {
			return list[0], nil
		}
		if len(list) > 1 {
			names := make([]string, len(list))
			for i, c := range list {
				names[i] = fmt.Sprintf("%s (column %d)", source.Columns[c], c+1)
			}
			return -1, &BindError{
				Reason: fmt.Sprintf("%s of %s could be any of %s in %s", name, s.Name,
					strings.Join(names, ", "), source.Path),
				Help: "say which with PRED=FILE(column, ...)",
			}
		}
	}
	return -1, nil
}

// nearest returns the name with the least edit distance, if one is near enough
// to be meant: a third of the letters may differ. Of several, it is the first.
func nearest(name string, names []string) (string, bool) {
	best, least := "", 1+(len(name)+1)/3
	for _, n := range names {
		if d := editDistance(strings.ToLower(name), strings.ToLower(n)); d < min(least, len(n)) {
			best, least = n, d
		}
	}
	return best, best != ""
}

// editDistance counts the bytes to insert, delete, replace or swap with their
// neighbour, after Damerau, with no byte changed twice.
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
