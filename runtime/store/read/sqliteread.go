package read

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/redfoxdb/redfox/internal/remote"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/sqlite"
	"github.com/redfoxdb/redfox/runtime/store"
)

// IsDatabaseName reports whether a name is that of an SQLite database.
func IsDatabaseName(path string) bool { return formatOf(path) == SQLite }

// isDatabase reports whether a file is an SQLite database, by its name or by
// its first bytes.
func isDatabase(path string) bool {
	if IsDatabaseName(path) {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return string(firstBytes(f)) == sqlite.Magic
}

// database binds the tables of a database to the predicates of their names.
func (b *binder) database(path string) error {
	s := &Source{Path: path, Format: SQLite, database: path}
	db, err := s.openSQLite(b.ctx)
	if err != nil {
		return fileError(path, err)
	}
	tables, err := db.Tables()
	db.Close()
	if err != nil {
		return fileError(path, err)
	}
	for _, table := range tables {
		f := &Fact{Path: path, Table: table, Format: SQLite}
		if err := b.bindNamed(table, tableName(path, table), f); err != nil {
			return err
		}
	}
	return nil
}

// tableName returns the name of a table in messages.
func tableName(path, table string) string { return path + "#" + table }

// openSQLite opens the database. A reader is read as a whole.
func (s *Source) openSQLite(ctx context.Context) (*sqlite.DB, error) {
	switch {
	case s.Open != nil:
		return nil, &LoadError{Reason: "a program cannot name an SQLite database itself",
			Help: "name it in the command: --facts FILE, or --fact PRED=FILE#TABLE"}
	case s.Reader == nil && remote.Is(s.database):
		return nil, &LoadError{Reason: "an SQLite database is not read from a server",
			Help: "download it, and name the file"}
	case s.Reader == nil:
		f, _, err := (&Source{Path: s.database}).openFile(ctx)
		if err != nil {
			return nil, err
		}
		head := firstBytes(f)
		f.Close()
		if len(head) > 0 && string(head) != sqlite.Magic {
			return nil, s.not("an SQLite database", head, errors.New("this is no SQLite database"))
		}
		return sqlite.Open(s.database)
	}
	data, ok := s.Reader.(*bytes.Reader)
	if !ok {
		all, err := io.ReadAll(s.Reader)
		if err != nil {
			return nil, err
		}
		data = bytes.NewReader(all)
		s.Reader = data
	}
	whole := make([]byte, data.Size())
	if err := readAll(data, whole, 0); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(whole, []byte(sqlite.Magic)) {
		return nil, s.not("an SQLite database", whole[:min(len(whole), signatureBytes)],
			errors.New("this is no SQLite database"))
	}
	return sqlite.OpenBytes(whole)
}

// sqliteColumns finds the table of a fact, and the names of its columns.
func (s *Source) sqliteColumns(ctx context.Context, f *Fact) ([]string, error) {
	s.database = s.Path
	db, err := s.openSQLite(ctx)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	tables, err := db.Tables()
	if err != nil {
		return nil, err
	}
	if s.table, err = tableFor(f, s.Path, tables); err != nil {
		return nil, err
	}
	s.Path = tableName(s.Path, s.table)
	return db.Columns(s.table)
}

// tableFor returns the table that a fact names, that of its predicate's name,
// or the only one.
func tableFor(f *Fact, path string, tables []string) (string, error) {
	of := "the tables of " + path + " are " + someOf(tables)
	if len(tables) == 0 {
		of = path + " has no tables"
	}
	if f.Table != "" {
		if slices.Contains(tables, f.Table) {
			return f.Table, nil
		}
		help := of
		if near, ok := nearest(f.Table, tables); ok {
			help = fmt.Sprintf("did you mean %s?", tableName(path, near))
		}
		return "", &BindError{Reason: fmt.Sprintf("%s has no table %s", path, f.Table), Help: help}
	}
	for _, t := range tables {
		if full, _ := named(f.Pred, t); full {
			return t, nil
		}
	}
	if len(tables) == 1 {
		return tables[0], nil
	}
	return "", &BindError{Reason: "no table is named for " + f.Pred + ": " + of,
		Help: fmt.Sprintf("name one, as in --fact %s=%s", f.Pred, tableName(path, "TABLE"))}
}

// sqliteRows is the number of rows in a batch.
const sqliteRows = 1 << 14

// sqliteLoad reads rows of a table into batches.
type sqliteLoad struct {
	*load
	fields  []field
	scanner *textScanner // has the words of a batch, and converts texts
	bad     [][]badCell
	row     int
	text    []byte
	batches []batch
}

// readSQLite reads the fields of a table, in the order of the database.
func (l *load) readSQLite(ctx context.Context) error {
	db, err := l.source.openSQLite(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if info, err := os.Stat(l.source.database); err == nil {
		l.size = info.Size()
	}
	l.byRow = true
	what := "reading " + l.source.Path
	room := 16 * sqliteRows * int64(len(l.fields))
	if err := l.ledger.Take(what, room); err != nil {
		return err
	}
	defer l.ledger.Give(room)
	// The scanner's columns are the fields, each with values of its own.
	s := &sqliteLoad{load: l, fields: slices.Clone(l.fields), bad: make([][]badCell, len(l.fields))}
	columns := make([]string, len(l.fields))
	for i := range s.fields {
		columns[i] = l.source.Columns[l.fields[i].index]
		s.fields[i].index = i
	}
	s.scanner = newTextScanner(textFormat{}, s.fields, len(s.fields), false, l.newInterner)
	err = db.Each(ctx, l.source.table, columns, s.take)
	if err == nil {
		err = s.flush()
	}
	if err != nil {
		return err
	}
	l.bytes = l.size
	return l.takeBatches(ctx, s.batches, s.scanner.strings)
}

// take adds a row.
func (s *sqliteLoad) take(row []driver.Value) error {
	if s.row == s.scanner.room() {
		s.scanner.grow()
	}
	for i := range s.fields {
		if row[i] == nil {
			s.scanner.nulls[i] = append(s.scanner.nulls[i], uint32(s.row))
			s.stand(i)
			continue
		}
		if reason := s.set(i, row[i]); reason != "" {
			s.bad[i] = append(s.bad[i], badCell{row: uint32(s.row), reason: reason})
			s.stand(i)
		}
	}
	if s.row++; s.row == sqliteRows {
		return s.flush()
	}
	return nil
}

// stand sets the word of a missing value to that of the row before.
func (s *sqliteLoad) stand(i int) {
	words := s.scanner.words[i]
	switch {
	case s.row > 0:
		words[s.row] = words[s.row-1]
	case s.fields[i].typ.Kind == scalar.String:
		words[s.row] = int64(s.scanner.strings[i].Code(""))
	default:
		words[s.row] = 0
	}
}

// set converts a value, or returns the reason to refuse it. A number may have
// any type of SQLite. Decimals are floats in SQLite; the decimal with the
// shortest digits that give the float is meant.
func (s *sqliteLoad) set(i int, value driver.Value) string {
	t := s.fields[i].typ
	isNumber := t.Kind == scalar.Int || t.Kind == scalar.Uint || t.Kind == scalar.Decimal ||
		t.Kind == scalar.Float
	switch v := value.(type) {
	case int64:
		switch {
		case isNumber:
			s.text = strconv.AppendInt(s.text[:0], v, 10)
			return s.scanner.set(i, s.row, s.text)
		case t.Kind == scalar.Boolean && (v == 0 || v == 1):
			s.scanner.words[i][s.row] = v
			return ""
		}
		return fmt.Sprintf("found the integer %d, expected %s", v, article(t))
	case float64:
		switch {
		case t.Kind == scalar.Float:
			s.scanner.words[i][s.row] = int64(scalar.OfFloat(t, v).Bits())
			return ""
		case isNumber:
			s.text = strconv.AppendFloat(s.text[:0], v, 'f', -1, 64)
			return s.scanner.set(i, s.row, s.text)
		}
		return fmt.Sprintf("found the number %v, expected %s", v, article(t))
	case string:
		s.text = append(s.text[:0], v...)
		return s.scanner.set(i, s.row, s.text)
	case []byte:
		if t.Kind == scalar.String {
			return s.scanner.set(i, s.row, v)
		}
		return "found a blob, expected " + article(t)
	}
	return fmt.Sprintf("found a %T, expected %s", value, article(t))
}

// flush makes a batch of the rows so far.
func (s *sqliteLoad) flush() error {
	if s.row == 0 {
		return nil
	}
	out := textRows{rows: s.row}
	if s.scanner.finish(&out); out.failed != nil {
		return out.failed
	}
	b := batch{rows: s.row, parts: make([]columnPart, len(s.fields))}
	for i := range b.parts {
		b.parts[i] = columnPart{rows: s.row, chunks: []store.Chunk{out.chunks[i]},
			nulls: out.nulls[i], bad: s.bad[i]}
		s.bad[i] = nil
	}
	s.batches = append(s.batches, b)
	s.rows += int64(s.row)
	s.row = 0
	s.progress(false)
	return s.reserve(&b)
}
