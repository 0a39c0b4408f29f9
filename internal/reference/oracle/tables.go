package oracle

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// table is a file of named columns, which feeds several predicates.
type table struct {
	name    string
	columns []string
	rows    [][]field
}

// field is the text of a value, or none.
type field struct {
	text    string
	missing bool
}

// readTables reads NAME.csv, which has a header, and NAME.parquet of a folder
// for the predicates NAME:* whose arguments are columns of it.
func readTables(dir string, p *core.Program, facts Facts) error {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return err
	}
	for _, name := range files {
		var t *table
		ext := filepath.Ext(name)
		switch ext {
		case ".csv":
			t, err = readCSV(name)
		case ".parquet":
			t, err = readParquet(name)
		default:
			continue
		}
		if err == nil {
			t.name = strings.TrimSuffix(filepath.Base(name), ext)
			err = t.feed(p, facts)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// feed adds the tuples of a table to the predicates that it is for.
func (t *table) feed(p *core.Program, facts Facts) error {
	fed := false
	for _, pred := range p.Preds {
		if !strings.HasPrefix(pred.Name, t.name+":") {
			continue
		}
		var at []int
		for _, arg := range pred.Args {
			at = append(at, slices.Index(t.columns, arg.Name))
		}
		if slices.Contains(at, -1) {
			continue
		}
		fed = true
		tuples, err := t.tuples(pred, at)
		if err != nil {
			return err
		}
		facts[pred.Name] = tuples
	}
	if !fed {
		return fmt.Errorf("the columns %s feed no predicate %s:*", strings.Join(t.columns, ", "),
			t.name)
	}
	return nil
}

// tuples returns the rows of a predicate whose arguments are the columns at. A
// functional predicate has no value in rows without one.
func (t *table) tuples(pred *core.Pred, at []int) ([]Tuple, error) {
	var out []Tuple
	seen := map[string]bool{}
rows:
	for i, row := range t.rows {
		tuple := make(Tuple, len(at))
		for j, c := range at {
			if row[c].missing {
				if j < pred.Keys {
					return nil, fmt.Errorf("row %d: %s is missing", i+1, t.columns[c])
				}
				continue rows
			}
			var err error
			if tuple[j], err = scalar.ParseText(pred.Args[j].Type, row[c].text); err != nil {
				return nil, fmt.Errorf("row %d: %w", i+1, err)
			}
		}
		if text := TSV([]Tuple{tuple}); !seen[text] {
			seen[text] = true
			out = append(out, tuple)
		}
	}
	return out, nil
}

// readCSV reads a file with a header. A field is missing if nothing stands
// between its commas, not even quotes.
func readCSV(name string) (*table, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	records := csv.NewReader(bytes.NewReader(text))
	t := &table{}
	for {
		record, err := records.Read()
		switch {
		case err == io.EOF:
			return t, nil
		case err != nil:
			return nil, err
		case t.columns == nil:
			t.columns = record
			continue
		}
		row := make([]field, len(record))
		for i, text := range record {
			line, column := records.FieldPos(i)
			rest := lines[line-1][column-1:]
			row[i] = field{text: text, missing: text == "" && !bytes.HasPrefix(rest, []byte(`"`))}
		}
		t.rows = append(t.rows, row)
	}
}

// readParquet reads whole numbers and strings.
func readParquet(name string) (*table, error) {
	f, err := file.OpenParquetFile(name, false)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &table{}
	for c := range f.MetaData().Schema.NumColumns() {
		t.columns = append(t.columns, f.MetaData().Schema.Column(c).Name())
	}
	for g := range f.NumRowGroups() {
		group := f.RowGroup(g)
		from := len(t.rows)
		t.rows = append(t.rows, make([][]field, group.NumRows())...)
		for c := range t.columns {
			column, err := group.Column(c)
			if err != nil {
				return nil, err
			}
			if err := appendColumn(t.rows[from:], column); err != nil {
				return nil, fmt.Errorf("column %s: %w", t.columns[c], err)
			}
		}
	}
	return t, nil
}

// appendColumn appends the values of a column chunk to the rows of its group.
func appendColumn(rows [][]field, column file.ColumnChunkReader) error {
	levels := make([]int16, len(rows))
	var text func(i int) string
	var err error
	switch c := column.(type) {
	case *file.Int32ColumnChunkReader:
		values := make([]int32, len(rows))
		_, _, err = c.ReadBatch(int64(len(rows)), values, levels, nil)
		text = func(i int) string { return fmt.Sprint(values[i]) }
	case *file.Int64ColumnChunkReader:
		values := make([]int64, len(rows))
		_, _, err = c.ReadBatch(int64(len(rows)), values, levels, nil)
		text = func(i int) string { return fmt.Sprint(values[i]) }
	case *file.ByteArrayColumnChunkReader:
		values := make([]parquet.ByteArray, len(rows))
		_, _, err = c.ReadBatch(int64(len(rows)), values, levels, nil)
		text = func(i int) string { return string(values[i]) }
	default:
		return fmt.Errorf("values are read by %T, which the oracle does not know", column)
	}
	value := 0
	for i := range rows {
		if levels[i] < column.Descriptor().MaxDefinitionLevel() {
			rows[i] = append(rows[i], field{missing: true})
			continue
		}
		rows[i] = append(rows[i], field{text: text(value)})
		value++
	}
	return err
}
