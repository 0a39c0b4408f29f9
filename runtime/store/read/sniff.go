package read

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/sqlite"
	"github.com/redfoxdb/redfox/runtime/store"
)

// sniffBytes is the size of the start of a text that is inspected before it is
// read.
const sniffBytes = 64 << 10

// sniffJSONBytes is the same for JSON. It is larger, because an object may lack
// members that later ones have.
const sniffJSONBytes = 1 << 20

// errLongLine means that a text has no line within sniffBytes.
var errLongLine = errors.New("no end of line")

// sniffed are the delimiters that a text may have instead of its format's own.
const sniffed = ",;\t|"

// sniff detects the delimiter and the header of a text that the caller names,
// unless the caller has set them. It changes them only if the text could not be
// read as facts of the predicates otherwise. Notes report what it has chosen. A
// reader may block, so nothing is read from it before the load unless
// Fact.Sniff is set.
func (b *binder) sniff(s *Source, f *Fact, schemas []*store.Schema) {
	blocks := f.Reader != nil && !f.Sniff
	if f.Open != nil || blocks || f.Names != nil || f.Positional || len(schemas) == 0 {
		return
	}
	delimiter := f.Delimiter == 0 && b.opts.Delimiter == 0 && f.Format != TSV
	header := f.Header == nil && !b.opts.Header && !b.opts.NoHeader
	if !delimiter && !header {
		return
	}
	head, err := s.head(b.ctx)
	if err != nil || len(head) == 0 {
		return // Load reports the error
	}
	if delimiter {
		b.sniffDelimiter(s, f, head, schemas)
	}
	if header {
		b.sniffHeader(s, f, s.textFormat().records(head, 2), schemas)
	}
}

// sniffDelimiter chooses another delimiter if the first records are not facts
// of the predicates with the format's own. With the other one, they must be,
// and all records must have as many fields as the first.
func (b *binder) sniffDelimiter(s *Source, f *Fact, head []byte, schemas []*store.Schema) {
	const enough = 100 // records
	least := 0
	for _, schema := range schemas {
		args, _ := arguments(schema)
		inFile := slices.DeleteFunc(slices.Clone(args),
			func(a store.Field) bool { return s.partNamed(a.Name) >= 0 })
		least = max(least, len(inFile))
	}
	if least < 2 || b.takes(f, s.textFormat().records(head, 2), least, schemas) {
		return
	}
	best, own := 0, *s
	for _, c := range []byte(sniffed) {
		other := own
		other.Format, other.Delimiter = textFormatOf(own.Format, c)
		records := other.textFormat().records(head, enough)
		if c == own.Delimiter || len(records) == 0 {
			continue
		}
		fields := len(records[0])
		isOther := func(r []string) bool { return len(r) != fields }
		if fields > best && b.takes(f, records, least, schemas) &&
			!slices.ContainsFunc(records, isOther) {
			best, s.Format, s.Delimiter = fields, other.Format, c
		}
	}
	if best > 0 {
		b.noteOf(s.Path, "the columns of %s are separated by "+delimiterName(s.Delimiter))
	}
}

// takes reports whether the first or the second record is a fact of the file's
// predicate, or the first has the names of its arguments. If the file is for
// several predicates, the records only need enough fields.
func (b *binder) takes(
	f *Fact, records [][]string, least int, schemas []*store.Schema,
) bool {
	if len(records) == 0 || len(records[0]) < least {
		return false
	}
	if f.Columns != nil || schemas[0].Name != f.Pred {
		return true
	}
	names := &Source{Columns: records[0], Arity: len(records[0]), parts: f.parts}
	if _, err := matchArguments(schemas[0], names, nil, f.Offset); err == nil {
		return true
	}
	columns, _ := matchArguments(schemas[0], &Source{parts: f.parts}, nil, f.Offset)
	return slices.ContainsFunc(records[:min(2, len(records))],
		func(r []string) bool { return b.isFact(schemas[0], columns, r) })
}

// isFact reports whether fields of a record are values of a predicate.
func (b *binder) isFact(schema *store.Schema, columns []int, record []string) bool {
	args, keys := arguments(schema)
	for i, a := range args {
		c := columns[i]
		if c < 0 || c >= firstPart {
			continue
		}
		if c >= len(record) {
			return false
		}
		isNull := record[c] == "" || b.opts.Null != nil && record[c] == *b.opts.Null
		if _, err := scalar.ParseText(a.Type, record[c]); err != nil && !(isNull && i >= keys) {
			return false
		}
	}
	return true
}

// sniffHeader treats the first of two records as column names if it is not a
// fact of the predicates, and either has the names of their arguments or is
// followed by a fact.
func (b *binder) sniffHeader(s *Source, f *Fact, records [][]string, schemas []*store.Schema) {
	if len(records) == 0 || !slices.ContainsFunc(records[0], isName) {
		return
	}
	first := records[0]
	needsNone := func(name string) bool {
		_, err := strconv.Atoi(name)
		return err == nil || s.partNamed(name) >= 0
	}
	names := func(name string) bool {
		return needsNone(name) || slices.ContainsFunc(first, func(field string) bool {
			return strings.EqualFold(field, name)
		})
	}
	if f.Columns != nil {
		// Names need a header to refer to.
		s.Header = !slices.ContainsFunc(f.Columns, func(c string) bool { return !names(c) }) &&
			slices.ContainsFunc(f.Columns, func(c string) bool { return !needsNone(c) })
		b.noteHeader(s, "")
		return
	}
	look := *s
	look.Columns, look.Arity = first, len(first)
	named := false
	for _, schema := range schemas {
		columns, err := matchArguments(schema, &look, nil, f.Offset)
		if err != nil || !b.isHeader(schema, columns, records[:1]) {
			continue
		}
		named = true
	}
	if named {
		s.Header = true
		b.noteHeader(s, "")
		return
	}
	places, _ := matchArguments(schemas[0], &Source{parts: f.parts}, nil, false)
	isPart := func(c int) bool { return c >= firstPart }
	if f.Offset || schemas[0].Name != f.Pred || len(records) < 2 ||
		len(first) != len(slices.DeleteFunc(slices.Clone(places), isPart)) ||
		!b.isHeader(schemas[0], places, records) {
		return
	}
	// The columns go by position, as they would without the header.
	s.Header, s.named = true, first
	b.noteHeader(s, fmt.Sprintf("; its columns are the arguments of %s in order", f.Pred))
}

// isHeader reports whether the first record has no number, date or truth value,
// in any form, although the predicate needs one, and the second record, if
// there is one, is a fact.
func (b *binder) isHeader(schema *store.Schema, columns []int, records [][]string) bool {
	args, _ := arguments(schema)
	typed := false
	for i, a := range args {
		if columns[i] < 0 || columns[i] >= firstPart || a.Type.Kind == scalar.String {
			continue
		}
		text := records[0][columns[i]]
		if _, err := scalar.ParseText(a.Type, text); err == nil || text == "" ||
			b.opts.Null != nil && text == *b.opts.Null || likeValue(a.Type, text) {
			return false
		}
		typed = true
	}
	return typed && (len(records) < 2 || b.isFact(schema, columns, records[1]))
}

func (b *binder) noteHeader(s *Source, how string) {
	if s.Header {
		b.noteOf(s.Path, "the first line of %s names the columns"+how)
	}
}

// sniffedFiles are files that share a note.
type sniffedFiles struct {
	text  string // the note, with %s for their names
	paths []string
}

// noteOf adds a file to the files that share a note.
func (b *binder) noteOf(path, text string) {
	i := slices.IndexFunc(b.sniffed, func(s sniffedFiles) bool { return s.text == text })
	if i < 0 {
		i, b.sniffed = len(b.sniffed), append(b.sniffed, sniffedFiles{text: text})
	}
	b.sniffed[i].paths = append(b.sniffed[i].paths, path)
}

// noteSniffed writes the notes of noteOf.
func (b *binder) noteSniffed() {
	for _, s := range b.sniffed {
		b.note("%s", strings.Replace(s.text, "%s", someOf(s.paths), 1))
	}
}

// sniffFormat detects the format of a reader by its first bytes.
func (s *Source) sniffFormat() {
	ahead := bufio.NewReader(s.Reader)
	s.Reader = ahead
	first, _ := ahead.Peek(signatureBytes) // an error comes again
	switch text := bytes.TrimLeft(first, textMark+" \t\r\n"); {
	case bytes.HasPrefix(first, []byte("PAR1")):
		s.Format = Parquet
	case bytes.HasPrefix(first, []byte(arrowMagic)), bytes.HasPrefix(first, []byte(arrowStream)):
		s.Format = Arrow
	case bytes.HasPrefix(first, []byte(sqlite.Magic)):
		s.Format = SQLite
	case bytes.HasPrefix(text, []byte(`{"`)), bytes.HasPrefix(text, []byte("[{")):
		s.Format = JSON
	}
}

// head returns the first lines of a text, or none if the file can be opened
// only once. It rewinds a reader.
func (s *Source) head(ctx context.Context) ([]byte, error) {
	look := *s
	if s.Reader != nil {
		var seen bytes.Buffer
		look.Reader = io.TeeReader(s.Reader, &seen)
		defer func(rest io.Reader) { s.Reader = io.MultiReader(&seen, rest) }(s.Reader)
	} else if info, err := os.Stat(s.Path); !remote.Is(s.Path) &&
		(err != nil || !info.Mode().IsRegular()) {
		return nil, err
	}
	file, err := look.open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// These are lines even within quotes, because the delimiter is not known
	// yet.
	size := sniffBytes
	if s.Format == JSON {
		size = sniffJSONBytes
	}
	reader, err := newTextReader(file, textFormat{}, size,
		func(int64) error { return errLongLine })
	if err != nil {
		return nil, err
	}
	if s.Format == JSON {
		newJSONReader(reader)
	}
	block, err := reader.next(nil)
	if err == io.EOF {
		err = nil
	}
	return block.data, err
}
