package answer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// Maker describes a predicate that numbers its keys, which are its columns
// except the last: each number stands for an entity of a family.
type Maker struct {
	Pred        string   // that has the keys and the numbers
	Name        string   // in terms
	Family      string   // of the entities
	Keys        []string // the family of each key; "" for one that is no entity
	Start, Step int64    // of the numbers; Step is 0 if they follow no rule
	Refmode     bool     // the entity shows as its one key
}

// terms shows entities as what made them: the value of a refmode, or a term
// such as cons[1, nil[]]. The relations of the makers belong to the same run as
// the numbers.
type terms struct {
	makers map[string][]*made // by family, in the order of Start
	// places has the place of each entity, by family and number, where numbers
	// follow no rule.
	places map[string][]place
}

// made is a maker and its entities.
type made struct {
	Maker
	rel *Relation
	// row has the row of each entity, by its place among those of the maker,
	// and text the term of each row once that is known.
	row  []int32
	text []string
}

// place is where an entity of a family was made.
type place struct {
	by  *made
	row int32
}

// maxTerm bounds the length of a term in bytes. Terms that share parts can be
// exponentially longer than what is stored.
const maxTerm = 1 << 20

// newTerms returns the terms of the entities that makers make. relations has
// the tuples of their predicates. An error says that makers of a family do not
// fit each other.
func newTerms(makers []Maker, relations map[string]*Relation) (*terms, error) {
	t := &terms{makers: map[string][]*made{}, places: map[string][]place{}}
	for _, m := range makers {
		t.makers[m.Family] = append(t.makers[m.Family], &made{Maker: m, rel: relations[m.Pred]})
	}
	for family, list := range t.makers {
		slices.SortFunc(list, func(a, b *made) int { return cmp.Compare(a.Start, b.Start) })
		for i, m := range list {
			if list[0].Step == 0 && m.Step == 0 {
				continue
			}
			if m.Start != int64(i) || m.Step != int64(len(list)) {
				return nil, fmt.Errorf("maker %d of %d of %s numbers from %d in steps of %d", i+1,
					len(list), family, m.Start, m.Step)
			}
		}
	}
	return t, nil
}

// shown returns a relation that shows the entities of another one as terms.
// families has the family of each column, "" for one without entities.
func (t *terms) shown(of *Relation, families []string) *Relation {
	return &Relation{name: of.name, names: of.names, Stored: of.Stored, order: of.order,
		limit: of.limit, threads: of.threads, of: of, terms: &shownTerms{t, families}}
}

// shownTerms are the columns of a relation that show as terms.
type shownTerms struct {
	*terms
	families []string
}

// show replaces columns of numbers by columns of terms.
func (s *shownTerms) show(ctx context.Context, of *Relation) (*store.Relation, error) {
	if err := of.Fetch(ctx); err != nil {
		return nil, err
	}
	w := &termWriter{terms: s.terms, ctx: ctx}
	columns := slices.Clone(of.Columns())
	fields := fieldsOf(columns)
	for i, family := range s.families {
		if family == "" {
			continue
		}
		shown, err := w.column(family, columns[fields[i]])
		if err != nil {
			return nil, err
		}
		columns[fields[i]] = shown
	}
	table := &store.Table{Columns: columns, Rows: of.rel.Rows()}
	out := &store.Relation{Name: of.name, Table: table}
	field := -1
	for i, c := range columns {
		if c.Type.Word != scalar.Low {
			field++
		}
		out.Cols = append(out.Cols, i)
		table.Names = append(table.Names, of.names[field])
	}
	return out, nil
}

// fieldsOf returns the column that each field of a tuple begins with: a wide
// decimal has two.
func fieldsOf(columns []*store.Column) []int {
	var out []int
	for i, c := range columns {
		if c.Type.Word != scalar.Low {
			out = append(out, i)
		}
	}
	return out
}

// valueOf returns the field of a row that begins with a column.
func valueOf(columns []*store.Column, at, row int) scalar.Value {
	if t := columns[at].Type; t.Word == scalar.High {
		return scalar.JoinWords(t.Scale, columns[at].Word(row), columns[at+1].Word(row))
	}
	return columns[at].Value(row)
}

// termWriter writes the terms of one relation.
type termWriter struct {
	terms *terms
	ctx   context.Context
}

// column returns the terms of a column of numbers.
func (w *termWriter) column(family string, c *store.Column) (*store.Column, error) {
	words := make([]int64, c.Len())
	c.Read(words, 0)
	text := map[int64]string{}
	for _, id := range words {
		if _, ok := text[id]; ok {
			continue
		}
		m, row, err := w.find(family, id)
		if err != nil {
			return nil, err
		}
		if m.Refmode {
			text[id] = w.plain(family, valueOf(m.rel.Columns(), 0, row))
		} else if text[id], err = w.term(family, id); err != nil {
			return nil, err
		}
	}
	sorted := make([]string, 0, len(text))
	for _, s := range text {
		sorted = append(sorted, s)
	}
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	for i, id := range words {
		at, _ := slices.BinarySearch(sorted, text[id])
		words[i] = int64(at)
	}
	return store.ColumnOf(scalar.StringType, words, store.NewDict(sorted)), nil
}

// plain returns the value of a refmode, which is between quotes if it looks
// like a term, so that a reader tells them apart.
func (w *termWriter) plain(family string, v scalar.Value) string {
	text := scalar.Format(v)
	for _, m := range w.terms.makers[family] {
		if v.Type.Kind == scalar.String && m.startsTerm(text) {
			return scalar.KeyLiteral(v)
		}
	}
	return text
}

// find returns the maker of an entity and its row there.
func (w *termWriter) find(family string, id int64) (*made, int, error) {
	list := w.terms.makers[family]
	if len(list) == 0 || id < 0 {
		return nil, 0, fmt.Errorf("no maker of %s has the number %d", family, id)
	}
	if list[0].Step == 0 {
		return w.findPlace(family, id)
	}
	m := list[id%int64(len(list))]
	if err := m.index(w.ctx); err != nil {
		return nil, 0, err
	}
	at := id / int64(len(list))
	if at >= int64(len(m.row)) {
		return nil, 0, fmt.Errorf("%s has made %d entities, not number %d", m.Name, len(m.row), id)
	}
	return m, int(m.row[at]), nil
}

// findPlace is find where numbers follow no rule.
func (w *termWriter) findPlace(family string, id int64) (*made, int, error) {
	places := w.terms.places[family]
	if places == nil {
		for _, m := range w.terms.makers[family] {
			if err := m.rel.Fetch(w.ctx); err != nil {
				return nil, 0, err
			}
			columns := m.rel.Columns()
			numbers := columns[len(columns)-1]
			m.text = make([]string, numbers.Len())
			for row := range numbers.Len() {
				at := numbers.Word(row)
				if at >= int64(len(places)) {
					places = append(places, make([]place, at+1-int64(len(places)))...)
				}
				places[at] = place{m, int32(row)}
			}
		}
		w.terms.places[family] = places
	}
	if id >= int64(len(places)) || places[id].by == nil {
		return nil, 0, fmt.Errorf("no maker of %s has made number %d", family, id)
	}
	return places[id].by, int(places[id].row), nil
}

// index reads the rows of a maker once.
func (m *made) index(ctx context.Context) error {
	if m.row != nil {
		return nil
	}
	if err := m.rel.Fetch(ctx); err != nil {
		return err
	}
	columns := m.rel.Columns()
	numbers := columns[len(columns)-1]
	m.row, m.text = make([]int32, numbers.Len()), make([]string, numbers.Len())
	for i := range m.row {
		at := (numbers.Word(i) - m.Start) / m.Step
		if at < 0 || at >= int64(len(m.row)) {
			return fmt.Errorf("%s has %d entities and one with number %d", m.Name, len(m.row),
				numbers.Word(i))
		}
		m.row[at] = int32(i)
	}
	return nil
}

// term returns the term of an entity. It keeps its own stack, because terms can
// be as deep as a recursion has rounds.
func (w *termWriter) term(family string, id int64) (string, error) {
	type entity struct {
		family string
		id     int64
	}
	stack := []entity{{family, id}}
	for {
		e := stack[len(stack)-1]
		m, row, err := w.find(e.family, e.id)
		if err != nil {
			return "", err
		}
		if m.text[row] == "" {
			missing := len(stack)
			keys := make([]string, len(m.Keys))
			length := 0
			columns := m.rel.Columns()
			fields := fieldsOf(columns)
			for i, f := range m.Keys {
				value := valueOf(columns, fields[i], row)
				if f == "" {
					keys[i] = scalar.KeyLiteral(value)
				} else {
					k, row, err := w.find(f, value.Int())
					if err != nil {
						return "", err
					}
					keys[i] = k.text[row]
					if keys[i] == "" {
						stack = append(stack, entity{f, value.Int()})
					}
				}
				length += len(keys[i])
			}
			if len(stack) > missing {
				continue
			}
			if length > maxTerm {
				return "", &failure.Environment{
					Message: fmt.Sprintf("the term of an entity of %s is longer than %d bytes",
						e.family, maxTerm),
					Help: "print a predicate that describes the entity instead of the entity"}
			}
			m.text[row] = m.Name + "[" + strings.Join(keys, ", ") + "]"
			if m.Refmode {
				m.text[row] = keys[0]
			}
		}
		if stack = stack[:len(stack)-1]; len(stack) == 0 {
			return m.text[row], nil
		}
	}
}
