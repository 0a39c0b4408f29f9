package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// TermReader numbers entities by the terms that results show, such as
// cons[1, nil[]]. It makes the relations of the makers that show these terms.
type TermReader struct {
	makers  map[string][]*reading // by family
	numbers map[string]int64      // of a family that are in use
}

// reading is a maker and the keys that were read.
type reading struct {
	Maker
	types []scalar.Type    // of the keys, int for an entity
	known map[string]int64 // by the spelling of the keys
	// named are the entities that facts name, loaded those that the facts of
	// this load name.
	named, loaded listing
}

// listing is entities of a maker, once each.
type listing struct {
	pred string // that gets them; "" if the program has none
	keys [][]scalar.Value
	ids  []int64
	has  map[int64]bool
}

func (l *listing) add(keys []scalar.Value, id int64) {
	if !l.has[id] {
		l.has[id] = true
		l.keys, l.ids = append(l.keys, keys), append(l.ids, id)
	}
}

// NewTermReader returns a reader of terms without makers.
func NewTermReader() *TermReader {
	return &TermReader{makers: map[string][]*reading{}, numbers: map[string]int64{}}
}

// Add adds a maker with the types of its keys. Named is the predicate that gets
// the entities which facts name, and loaded the one that gets those of this
// load. They are "" if the program has none.
func (t *TermReader) Add(m Maker, types []scalar.Type, named, loaded string) {
	t.makers[m.Family] = append(t.makers[m.Family], &reading{Maker: m, types: types,
		known: map[string]int64{}, named: listing{pred: named, has: map[int64]bool{}},
		loaded: listing{pred: loaded, has: map[int64]bool{}}})
}

// Makes reports whether a predicate has the numbers of a maker.
func (t *TermReader) Makes(pred string) bool {
	return t.find(func(m *reading) bool {
		return m.Pred == pred || m.named.pred == pred || m.loaded.pred == pred
	}) != nil
}

// Constructs reports whether a predicate is a constructor.
func (t *TermReader) Constructs(pred string) bool {
	return t.find(func(m *reading) bool { return m.Name == pred && !m.Refmode }) != nil
}

// Takes reports whether the program takes terms of a family.
func (t *TermReader) Takes(family string) bool {
	return slices.ContainsFunc(t.makers[family], func(m *reading) bool { return m.named.pred != "" })
}

func (t *TermReader) find(is func(*reading) bool) *reading {
	for _, list := range t.makers {
		if i := slices.IndexFunc(list, is); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// Know enters entities that have numbers: relations returns what is held of a
// predicate, or nil.
func (t *TermReader) Know(relation func(pred string) *store.Relation) {
	for _, list := range t.makers {
		for _, m := range list {
			if rel := relation(m.Pred); rel != nil {
				t.know(m, rel, false)
			}
			if rel := relation(m.named.pred); rel != nil {
				t.know(m, rel, true)
			}
		}
	}
}

// know enters the entities of a relation of a maker. Read says that earlier
// facts have named them.
func (t *TermReader) know(m *reading, rel *store.Relation, read bool) {
	columns := rel.Columns()
	fields := fieldsOf(columns)
	last := len(fields) - 1
	for row := range rel.Rows() {
		keys := make([]scalar.Value, last)
		for i := range keys {
			keys[i] = valueOf(columns, fields[i], row)
		}
		id := columns[fields[last]].Word(row)
		m.known[spelling(keys)] = id
		t.numbers[m.Family] = max(t.numbers[m.Family], id+1)
		if read {
			m.named.add(keys, id)
		}
	}
}

// Column returns the numbers of a column of terms. Bad gets each field that
// shows no entity, and its row. If it returns nil, the number is -1.
func (t *TermReader) Column(family string, c *store.Column,
	bad func(row int, err *TermError) error) (*TermColumn, error) {
	out := &TermColumn{words: make([]int64, c.Len()), texts: map[int64]string{}}
	c.Read(out.words, 0)
	byCode := map[int64]int64{}
	for row, code := range out.words {
		id, ok := byCode[code]
		if !ok {
			var wrong *TermError
			text := c.ValueOf(code).Str()
			if id, wrong = t.number(family, text); wrong != nil {
				if err := bad(row, wrong); err != nil {
					return nil, err
				}
				id = -1
			} else if _, seen := out.texts[id]; seen {
				out.Repeats = true
			} else {
				out.texts[id] = text
			}
			byCode[code] = id
		}
		out.words[row] = id
	}
	return out, nil
}

// TermColumn is a column of entities.
type TermColumn struct {
	words []int64
	texts map[int64]string
	// Repeats is set if an entity has two spellings.
	Repeats bool
}

// Has reports whether the field of a row shows an entity.
func (c *TermColumn) Has(row int) bool { return c.words[row] >= 0 }

// Numbers returns the column of numbers.
func (c *TermColumn) Numbers() *store.Column {
	return store.ColumnOf(scalar.IntType, slices.Clone(c.words), nil)
}

// Text returns a field with the entity of a number.
func (c *TermColumn) Text(number int64) string { return c.texts[number] }

// number returns the number of the entity that a field shows.
func (t *TermReader) number(family, text string) (int64, *TermError) {
	wrong := &TermError{Family: family, Text: text, Example: t.example(family)}
	p := termParser{makers: t.makers, text: text}
	if isTerm(t.makers[family], text) {
		if p.term(family); p.wrong == "" && p.at < len(text) {
			p.fail("the end")
		}
		if wrong.Reason = p.wrong; p.wrong == "" {
			return t.make(p.steps), nil
		}
		return 0, wrong
	}
	for _, m := range t.makers[family] {
		if !m.Refmode {
			continue
		}
		v, err := scalar.ParseText(m.types[0], text)
		if err == nil {
			return t.enter(m, []scalar.Value{v}), nil
		}
		wrong.Reason = err.Error()
	}
	return 0, wrong
}

// isTerm reports whether a field of entities is a term or a literal. Another
// one is the value of a refmode, without quotes.
func isTerm(makers []*reading, text string) bool {
	return slices.ContainsFunc(makers, func(m *reading) bool {
		return m.startsTerm(text)
	})
}

// startsTerm reports whether a text begins as terms of the maker do.
func (m *Maker) startsTerm(text string) bool {
	if m.Refmode {
		return strings.HasPrefix(text, `"`)
	}
	rest, ok := strings.CutPrefix(text, m.Name)
	return ok && strings.HasPrefix(strings.TrimLeft(rest, " \t"), "[")
}

// termParser parses a term into steps. It keeps its own stack, because terms
// can be as deep as they are long.
type termParser struct {
	makers map[string][]*reading
	text   string
	at     int
	wrong  string // what is wrong, or ""
	steps  []termStep
}

// termStep pushes a value, or replaces the keys of a maker, which are on top of
// the stack, by their entity.
type termStep struct {
	maker *reading // nil for a value
	value scalar.Value
}

// term parses the term of an entity.
func (p *termParser) term(family string) {
	type open struct {
		m    *reading
		keys int // that were read
	}
	var stack []open
	for {
		m := p.maker(family)
		switch {
		case p.wrong != "":
			return
		case m.Refmode:
			p.literal(m.types[0])
			p.steps = append(p.steps, termStep{maker: m})
		default:
			stack = append(stack, open{m: m})
		}
		// Read literals and close terms up to the next key that is an entity.
		for family = ""; family == ""; {
			if p.wrong != "" || len(stack) == 0 {
				return
			}
			top := &stack[len(stack)-1]
			switch {
			case top.keys == len(top.m.Keys):
				if !p.take("]") {
					p.fail(`"]"`)
				}
				p.steps = append(p.steps, termStep{maker: top.m})
				stack = stack[:len(stack)-1]
				continue
			case top.keys > 0 && !p.take(","):
				p.fail(`","`)
			}
			p.skip()
			family = top.m.Keys[top.keys]
			if family == "" {
				p.literal(top.m.types[top.keys])
			}
			top.keys++
		}
	}
}

// maker reads the name of a constructor with its bracket. If there is none, the
// maker is the refmode, whose value follows.
func (p *termParser) maker(family string) *reading {
	var refmode *reading
	for _, m := range p.makers[family] {
		if m.Refmode {
			refmode = m
		} else if m.startsTerm(p.text[p.at:]) {
			p.at += len(m.Name)
			p.take("[")
			return m
		}
	}
	if refmode == nil {
		p.fail("a term of " + family)
	}
	return refmode
}

// literal reads a key.
func (p *termParser) literal(t scalar.Type) {
	if p.wrong != "" {
		return
	}
	v, n, err := scalar.ScanKey(t, p.text[p.at:])
	if err != nil {
		p.wrong = err.Error()
		return
	}
	p.at += n
	p.steps = append(p.steps, termStep{value: v})
}

func (p *termParser) skip() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// take reads a mark behind blanks.
func (p *termParser) take(mark string) bool {
	p.skip()
	if !strings.HasPrefix(p.text[p.at:], mark) {
		return false
	}
	p.at += len(mark)
	return true
}

// fail notes what is missing, unless something is wrong already.
func (p *termParser) fail(want string) {
	found := "the end"
	if rest := p.text[p.at:]; rest != "" {
		found = scalar.Quote(scalar.Substring(rest, 0, 20))
	}
	p.wrong = cmp.Or(p.wrong, fmt.Sprintf("expected %s, found %s", want, found))
}

// make enters the entities of a term, the inner ones first, and returns the
// number of the whole.
func (t *TermReader) make(steps []termStep) int64 {
	var stack []scalar.Value
	for _, s := range steps {
		if s.maker == nil {
			stack = append(stack, s.value)
			continue
		}
		first := len(stack) - len(s.maker.Keys)
		id := t.enter(s.maker, slices.Clone(stack[first:]))
		stack = append(stack[:first], scalar.OfInt(scalar.IntType, id))
	}
	return stack[0].Int()
}

// enter returns the number of the entity with some keys.
func (t *TermReader) enter(m *reading, keys []scalar.Value) int64 {
	spelled := spelling(keys)
	id, ok := m.known[spelled]
	if !ok {
		id = t.numbers[m.Family]
		t.numbers[m.Family]++
		m.known[spelled] = id
	}
	m.named.add(keys, id)
	m.loaded.add(keys, id)
	return id
}

// spelling identifies keys. Entities among them are spelled by their numbers,
// as terms may be long.
func spelling(keys []scalar.Value) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(scalar.KeyLiteral(k))
		b.WriteByte(',')
	}
	return b.String()
}

// Relations returns the entities that were read: relations of keys and numbers.
func (t *TermReader) Relations() []*store.Relation {
	var out []*store.Relation
	for _, list := range t.makers {
		for _, m := range list {
			for _, l := range []*listing{&m.named, &m.loaded} {
				if l.pred != "" {
					out = append(out, l.relation(m.types))
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b *store.Relation) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// relation returns the keys and numbers.
func (l *listing) relation(types []scalar.Type) *store.Relation {
	table := &store.Table{Name: l.pred, Rows: len(l.ids)}
	rel := &store.Relation{Name: l.pred, Table: table}
	for i, typ := range types {
		for _, part := range parts(typ) {
			b := store.NewBuilder(part, nil)
			for _, k := range l.keys {
				b.AppendValue(k[i].Part(part))
			}
			table.Columns = append(table.Columns, b.Finish())
		}
	}
	rel.Keys = len(table.Columns)
	table.Columns = append(table.Columns, store.ColumnOf(scalar.IntType, l.ids, nil))
	for i := range table.Columns {
		rel.Cols = append(rel.Cols, i)
		table.Names = append(table.Names, fmt.Sprintf("k%d", i))
	}
	return rel
}

// parts returns the types of the columns that hold a type.
func parts(t scalar.Type) []scalar.Type {
	if t.IsWide() {
		return []scalar.Type{t.WordOf(scalar.High), t.WordOf(scalar.Low)}
	}
	return []scalar.Type{t}
}

// example returns how an entity of a family is written.
func (t *TermReader) example(family string) string {
	for _, m := range t.makers[family] {
		if m.Refmode {
			continue
		}
		keys := make([]string, len(m.Keys))
		for i, typ := range m.types {
			switch {
			case m.Keys[i] != "":
				keys[i] = "..."
			case typ.Kind == scalar.String:
				keys[i] = `"x"`
			default:
				keys[i] = scalar.KeyLiteral(scalar.Value{Type: typ})
			}
		}
		return m.Name + "[" + strings.Join(keys, ", ") + "]"
	}
	return ""
}

// TermError is the error of a field that shows no entity.
type TermError struct {
	Family, Text, Example string
	Reason                string // where the text is no term, or ""
}

// Help says how an entity is written.
func (e *TermError) Help() string {
	return fmt.Sprintf("write an entity of %s as results show it, for example %s", e.Family,
		e.Example)
}

// Error quotes the field.
func (e *TermError) Error() string {
	const most = 60
	text := scalar.Quote(e.Text)
	if len(e.Text) > most {
		text = scalar.Quote(scalar.Substring(e.Text, 0, most)) + "..."
	}
	text = fmt.Sprintf("%s is no entity of %s", text, e.Family)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}
