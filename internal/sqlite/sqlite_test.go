package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// create makes a database with one table of two rows.
func create(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a#b ?.db")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	add, end, err := w.Table(`a "table"`, []Column{{`x"y`, "INTEGER"}, {"day", "DATE"}})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(add([]driver.Value{int64(1), "2024-01-02"}), add([]driver.Value{nil, "no day"}),
		end(), w.Close(true))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTables(t *testing.T) {
	db, err := Open(create(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables, err := db.Tables()
	if err != nil || len(tables) != 1 || tables[0] != `a "table"` {
		t.Fatalf("tables %q, %v", tables, err)
	}
	columns, err := db.Columns(tables[0])
	if err != nil || strings.Join(columns, ",") != `x"y,day` {
		t.Fatalf("columns %q, %v", columns, err)
	}
	got := ""
	err = db.Each(t.Context(), tables[0], columns, func(row []driver.Value) error {
		got += fmt.Sprintf("%#v ", row)
		return nil
	})
	want := `[]driver.Value{1, "2024-01-02"} []driver.Value{driver.Value(nil), "no day"} `
	if err != nil || got != want {
		t.Errorf("rows %s, %v", got, err)
	}
	stop := errors.New("enough")
	err = db.Each(t.Context(), tables[0], nil, func([]driver.Value) error { return stop })
	if err != stop {
		t.Errorf("stopped: %v", err)
	}
}

// TestReadOnly holds that nothing changes a database that is read.
func TestReadOnly(t *testing.T) {
	db, err := Open(create(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{`delete from "a ""table"""`, "create table t(x)"} {
		if err := (&Writer{db}).exec(statement); err == nil ||
			!strings.Contains(err.Error(), "readonly") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

func TestLocked(t *testing.T) {
	path := create(t)
	other, err := open(path, "mode=rw")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := (&Writer{other}).exec("begin exclusive"); err != nil {
		t.Fatal(err)
	}
	db, err := open(path, "mode=ro&"+guards) // which does not wait
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Tables(); err == nil || !strings.Contains(err.Error(), "has locked the database") {
		t.Errorf("got %v", err)
	}
}

// TestWriteAheadLog reads what the log of a database holds.
func TestWriteAheadLog(t *testing.T) {
	path := create(t)
	other, err := open(path, "mode=rw&_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := (&Writer{other}).exec("create table later(x)"); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if tables, err := db.Tables(); err != nil || strings.Join(tables, ",") != `a "table",later` {
		t.Errorf("tables %q, %v", tables, err)
	}
}
