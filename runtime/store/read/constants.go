package read

import (
	"context"
	"fmt"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/runtime/store"
)

// addConstants adds the columns that are constant over the file. It runs after
// the rows are read.
func (l *load) addConstants(ctx context.Context) error {
	for _, f := range l.constants {
		i := len(l.fields)
		l.fields, l.data = append(l.fields, f), append(l.data, fieldData{})
		p := l.source.parts[f.index-firstPart]
		l.names = append(l.names, fmt.Sprintf("column %s of %s", p.name, l.source.Path))
		interner := store.NewInterner(l.ledger, l.names[i])
		word, err := l.constant(f, p, interner)
		if err != nil {
			return err
		}
		l.repeat(i, word, p.missing)
		err = l.assembleField(ctx, i, func(int) []*store.Interner {
			interner.DropTable()
			return []*store.Interner{interner}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// constant returns the word of a constant column in a part of the file.
func (l *load) constant(f field, p part, interner *store.Interner) (int64, error) {
	refuse := func(reason string) error {
		return &LoadError{File: l.source.Path, Name: p.name,
			Reason: fmt.Sprintf("the folder %s=%s: %s", p.name, p.value, reason)}
	}
	switch {
	case p.missing && f.nullable:
		if f.typ.Kind == scalar.String {
			code, _ := interner.CodeOfText(nil)
			return int64(code), nil
		}
		return 0, nil
	case p.missing:
		return 0, refuse("the value is missing; expected " + article(f.typ))
	case f.typ.Kind == scalar.String:
		code, ok := interner.CodeOfText([]byte(p.value))
		if !ok {
			return 0, refuse(badText([]byte(p.value)))
		}
		return int64(code), nil
	}
	word, err := parseWord(f.typ, []byte(p.value))
	if err != nil {
		return 0, refuse(notA(f.typ, []byte(p.value), err))
	}
	return int64(word), nil
}

// repeat makes chunks of n rows that all have one word, or no value. Such a
// chunk takes no memory for its rows.
func (l *load) repeat(i int, word int64, missing bool) {
	const rows = 1 << 16
	d := &l.data[i]
	words := make([]int64, min(rows, l.rows))
	for at := range words {
		words[at] = word
	}
	for left := l.rows; left > 0; left -= int64(len(words)) {
		words = words[:min(left, rows)]
		d.chunks = append(d.chunks, store.Narrow(l.fields[i].typ.Kind, words, 1))
		d.owner = append(d.owner, 0)
	}
	if missing {
		for row := range uint32(l.rows) {
			d.nulls = append(d.nulls, row)
		}
	}
}
