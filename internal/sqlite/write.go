package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"
)

// Column is a column of a table that is written: its name and its declared
// type, which says how SQLite converts what is stored in it.
type Column struct{ Name, Type string }

// Writer writes tables to a new file.
type Writer struct {
	db *DB
}

// Create begins a database in a file, which is empty. The file is not locked
// and has no journal: nobody else may know it yet.
func Create(path string) (*Writer, error) {
	db, err := open(path, "mode=rw&nolock=1&_pragma=journal_mode(off)&_pragma=synchronous(off)")
	if err != nil {
		return nil, err
	}
	w := &Writer{db}
	if err := w.exec("begin"); err != nil {
		db.Close()
		return nil, err
	}
	return w, nil
}

func (w *Writer) exec(statement string) error {
	_, err := w.db.conn.(connection).ExecContext(context.Background(), statement, nil)
	return plain(err)
}

// Table makes a table and returns the function that adds a row to it, of an
// int64, float64, string or nil for each column, and the one that ends it.
func (w *Writer) Table(
	name string, columns []Column,
) (add func([]driver.Value) error, end func() error, err error) {
	list, marks := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		list[i], marks[i] = Quote(c.Name)+" "+c.Type, "?"
	}
	if err := w.exec("create table " + Quote(name) + " (" + strings.Join(list, ", ") + ")"); err != nil {
		return nil, nil, err
	}
	insert, err := w.db.conn.Prepare("insert into " + Quote(name) + " values (" +
		strings.Join(marks, ", ") + ")")
	if err != nil {
		return nil, nil, plain(err)
	}
	args := make([]driver.NamedValue, len(columns))
	add = func(row []driver.Value) error {
		for i, v := range row {
			args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
		}
		_, err := insert.(driver.StmtExecContext).ExecContext(context.Background(), args)
		return plain(err)
	}
	return add, insert.Close, nil
}

// Close writes what is left, if the database is whole, and closes it.
func (w *Writer) Close(whole bool) error {
	var err error
	if whole {
		err = w.exec("commit")
	}
	if closed := w.db.Close(); err == nil {
		err = plain(closed)
	}
	return err
}
