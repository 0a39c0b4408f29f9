package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/testdata"
)

// Suite is a benchmark: queries over tables whose sizes follow from a scale
// factor.
type Suite struct {
	Name  string // as the command line has it
	Title string
	// Tables are the tables of the data, a Parquet file each, the largest
	// first.
	Tables []Table
	// Generate is the command that makes the data. Its %s are the scale factor
	// and the folder.
	Generate string
	// perScale maps a query to the number in its text that the specification
	// divides by the scale factor.
	perScale map[string]float64
}

// Table is a table of a suite.
type Table struct {
	Name string
	// Rows is the number of rows at a scale factor. Near is true if generators
	// only approximate it.
	Rows func(scale float64) float64
	Near bool
}

// Query is one query of a suite.
type Query struct {
	Name    string // q01
	Program []File // LogiQL, the declarations of the tables first
	SQL     string // the same question to SQL; may be empty
}

// File is a file's name and text.
type File struct{ Name, Text string }

// Suites are all there are.
func Suites() []*Suite { return []*Suite{tpch, ssb} }

// Find returns the suite of a name.
func Find(name string) (*Suite, bool) {
	all := Suites()
	i := slices.IndexFunc(all, func(s *Suite) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

func times(n float64) func(float64) float64 {
	return func(scale float64) float64 { return n * scale }
}

func constant(n float64) func(float64) float64 {
	return func(float64) float64 { return n }
}

var tpch = &Suite{
	Name:  "tpch",
	Title: "TPC-H",
	Tables: []Table{
		{"lineitem", times(6_001_215), true},
		{"orders", times(1_500_000), false},
		{"partsupp", times(800_000), false},
		{"part", times(200_000), false},
		{"customer", times(150_000), false},
		{"supplier", times(10_000), false},
		{"nation", constant(25), false},
		{"region", constant(5), false},
	},
	Generate: "tpchgen-cli parquet -s %s --output-dir %s",
	perScale: map[string]float64{"q11": 0.0001},
}

var ssb = &Suite{
	Name:  "ssb",
	Title: "Star Schema Benchmark",
	Tables: []Table{
		{"lineorder", times(6_000_000), true},
		{"part", ssbParts, false},
		{"customer", times(30_000), false},
		{"supplier", times(2_000), false},
		{"date", constant(2_556), true},
	},
	Generate: "redfox bench ssb --sf %s --data %s --generate",
}

// ssbParts grows with the logarithm of the scale factor, and linearly below 1.
func ssbParts(scale float64) float64 {
	if scale < 1 {
		return 200_000 * scale
	}
	return 200_000 * (1 + math.Floor(math.Log2(scale)))
}

// HasTable reports whether the suite's data have a table of a name.
func (s *Suite) HasTable(name string) bool {
	return slices.ContainsFunc(s.Tables, func(t Table) bool { return t.Name == name })
}

// declarations is the file that declares the tables.
const declarations = "schema.logic"

// Embedded returns the suite's queries as they are in the binary, in order.
func (s *Suite) Embedded() ([]Query, error) {
	folder, err := fs.Sub(testdata.Queries, s.Name)
	if err != nil {
		return nil, err
	}
	return s.ReadQueries(folder, "testdata/"+s.Name)
}

// ReadQueries returns the queries of a folder: schema.logic, which may be
// missing, a file q01.logic for each query, and optionally the same query in
// SQL as sql/q01.sql. Diagnostics call the folder name.
func (s *Suite) ReadQueries(folder fs.FS, name string) ([]Query, error) {
	var schema []File
	text, err := fs.ReadFile(folder, declarations)
	switch {
	case err == nil:
		schema = []File{{path.Join(name, declarations), string(text)}}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	files, err := fs.Glob(folder, "q[0-9][0-9].logic")
	if err != nil {
		return nil, err
	}
	var out []Query
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		q := Query{Name: strings.TrimSuffix(file, ".logic")}
		q.Program = append(slices.Clone(schema), File{path.Join(name, file), string(text)})
		sql, err := fs.ReadFile(folder, path.Join("sql", q.Name+".sql"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		q.SQL = strings.TrimRight(strings.TrimSpace(string(sql)), ";")
		out = append(out, q)
	}
	if len(out) == 0 {
		return nil, &failure.Environment{Message: fmt.Sprintf("%s has no queries", name),
			Help: "they are files named q01.logic, q02.logic and so on"}
	}
	return out, nil
}

// Names returns the names of queries.
func Names(queries []Query) (out []string) {
	for _, q := range queries {
		out = append(out, q.Name)
	}
	return out
}

// Select returns the queries of some names, in the suite's order; all if there
// are no names. An unknown name is returned.
func Select(all []Query, names []string) (out []Query, unknown string) {
	if len(names) == 0 {
		return all, ""
	}
	for _, n := range names {
		if !slices.Contains(Names(all), n) {
			return nil, n
		}
	}
	for _, q := range all {
		if slices.Contains(names, q.Name) {
			out = append(out, q)
		}
	}
	return out, ""
}

// At returns a query for data of a scale factor. Q11 of TPC-H has a parameter
// that depends on it.
func (s *Suite) At(q Query, scale float64) Query {
	part, ok := s.perScale[q.Name]
	if !ok || scale == 1 || !(scale > 0) {
		return q
	}
	from, to := decimal(part), decimal(part/scale)
	q.Program = slices.Clone(q.Program)
	for i := range q.Program {
		q.Program[i].Text = strings.ReplaceAll(q.Program[i].Text, from, to)
	}
	q.SQL = strings.ReplaceAll(q.SQL, from, to)
	return q
}

// decimal writes a number without an exponent, in six significant digits.
func decimal(x float64) string { return strconv.FormatFloat(Round(x, 6), 'f', -1, 64) }

// Round rounds a number to significant digits.
func Round(x float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil {
		return x
	}
	return rounded
}

// Command returns the command that makes the suite's data in a folder.
func (s *Suite) Command(scale float64, dir string) string {
	return fmt.Sprintf(s.Generate, FormatScale(scale), dir)
}

// FormatScale writes a scale factor as folders and command lines have it.
func FormatScale(scale float64) string { return strconv.FormatFloat(scale, 'g', -1, 64) }

// ScaleOf returns the scale factor of data from the numbers of rows of some
// tables, in two significant digits. It is 0 if none of the tables depends on
// it.
func (s *Suite) ScaleOf(rows map[string]int64) float64 {
	for _, t := range s.Tables {
		if n, unit := rows[t.Name], t.Rows(1); n > 0 && t.Rows(2) == 2*unit {
			return Round(float64(n)/unit, 2)
		}
	}
	return 0
}

// CheckScale returns an error if the tables do not have the rows of a scale
// factor.
func (s *Suite) CheckScale(rows map[string]int64, scale float64, dir string) error {
	for _, t := range s.Tables {
		n, ok := rows[t.Name]
		want := t.Rows(scale)
		slack := 0.5
		if t.Near {
			slack = 0.02*want + 100
		}
		if ok && math.Abs(float64(n)-want) > slack {
			return &failure.Environment{Message: fmt.Sprintf(
				"%s has %d rows of %s; at scale factor %s there are %.0f",
				dir, n, t.Name, FormatScale(scale), want),
				Help: "name the scale factor of the data with --sf, or make data with: " +
					s.Command(scale, dir)}
		}
	}
	return nil
}

// QueryName returns the name of a query that a user writes as q6, 6 or 1.1.
func QueryName(text string) string {
	digits := strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(text), "q"), ".", "")
	if _, err := strconv.ParseUint(digits, 10, 16); err != nil {
		return text
	}
	if len(digits) < 2 {
		digits = "0" + digits
	}
	return "q" + digits
}
