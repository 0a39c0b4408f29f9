package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// Magic is what a database begins with.
const Magic = "SQLite format 3\x00"

// DB is a database that is open.
type DB struct {
	conn driver.Conn
}

// connection is what the driver's connections are.
type connection interface {
	driver.Conn
	driver.QueryerContext
	driver.ExecerContext
}

// Open opens a database for reading.
func Open(path string) (*DB, error) {
	return open(path, "mode=ro&_pragma=busy_timeout(5000)&"+guards)
}

// guards are for databases that others wrote.
const guards = "_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)"

// OpenBytes opens a database that is in memory.
func OpenBytes(data []byte) (*DB, error) {
	conn, err := (&sqlite.Driver{}).Open("file::memory:?" + guards)
	if err != nil {
		return nil, plain(err)
	}
	if err := conn.(interface{ Deserialize([]byte) error }).Deserialize(data); err != nil {
		conn.Close()
		return nil, plain(err)
	}
	return &DB{conn}, nil
}

// open opens a file with parameters of its URI.
func open(path, parameters string) (*DB, error) {
	place, err := filepath.Abs(path) // a relative one could look like a host
	if err != nil {
		return nil, err
	}
	name := (&url.URL{Scheme: "file", Path: filepath.ToSlash(place)}).String() + "?" + parameters
	conn, err := (&sqlite.Driver{}).Open(name)
	if err != nil {
		return nil, plain(err)
	}
	return &DB{conn}, nil
}

// Close closes the database.
func (d *DB) Close() error { return d.conn.Close() }

// plain words an error of the driver without its name and its numbers.
func plain(err error) error {
	var of *sqlite.Error
	if !errors.As(err, &of) {
		return err
	}
	const busy = 5
	if of.Code()&0xff == busy {
		return errors.New("SQLite: another process has locked the database; read it when that has ended")
	}
	text := of.Error()
	for strings.HasSuffix(text, ")") && strings.Contains(text, " (") {
		text = text[:strings.LastIndex(text, " (")] // codes and their names
	}
	return errors.New("SQLite: " + text)
}

// Tables lists the tables and views, without those of SQLite itself.
func (d *DB) Tables() (names []string, err error) {
	const query = "select name from sqlite_schema where type in ('table', 'view')" +
		" and name not like 'sqlite\\_%' escape '\\' order by name"
	err = d.each(context.Background(), query, func(row []driver.Value) error {
		name, ok := row[0].(string)
		if !ok {
			return errors.New("SQLite: a table has no name")
		}
		names = append(names, name)
		return nil
	})
	return names, err
}

// Columns lists the columns of a table.
func (d *DB) Columns(table string) ([]string, error) {
	rows, err := d.query(context.Background(), "select * from "+Quote(table)+" limit 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return rows.Columns(), nil
}

// Each calls yield with the values of some columns in each row of a table, in
// the order of the file, until it returns an error. A value is an int64, a
// float64, a string, a []byte or nil. The slice is overwritten by the next row.
func (d *DB) Each(
	ctx context.Context, table string, columns []string, yield func([]driver.Value) error,
) error {
	// The sign hides the declared type from the driver, which would make times
	// of some texts.
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "+" + Quote(c)
	}
	if len(list) == 0 {
		list = []string{"1"}
	}
	query := fmt.Sprintf("select %s from %s", strings.Join(list, ", "), Quote(table))
	return d.each(ctx, query, yield)
}

func (d *DB) query(ctx context.Context, query string) (driver.Rows, error) {
	rows, err := d.conn.(connection).QueryContext(ctx, query, nil)
	if err != nil {
		return nil, plain(err)
	}
	return rows, nil
}

func (d *DB) each(
	ctx context.Context, query string, yield func([]driver.Value) error,
) (err error) {
	rows, err := d.query(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case err == io.EOF:
			return nil
		case err != nil:
			return plain(err)
		}
		if err := yield(row); err != nil {
			return err
		}
	}
}

// Quote quotes a name.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
