package store

import (
	"fmt"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// Table is columns that are stored together and share row order. Its rows may
// repeat as seen through the columns of one relation, unless the relation says
// that they do not.
type Table struct {
	Name    string
	Names   []string // the names of the columns
	Columns []*Column
	Rows    int

	sample *Sample // the result of Sample, or nil if it is not known yet
}

// Relation is a set of tuples: some columns of a table, without repeated
// tuples. Relations over one table, a column group, share row order, so that
// joining two of them on their keys is positional.
type Relation struct {
	Name  string
	Table *Table
	Cols  []int // the table's column of each argument; keys first
	Keys  int   // leading arguments that determine the rest; len(Cols) for a plain relation
	// InOrder means that an engine has brought the rows into the order in which
	// the plan presents them. Ties are broken by the other arguments, from
	// first to last.
	InOrder bool
}

// Column returns the column of an argument.
func (r *Relation) Column(arg int) *Column { return r.Table.Columns[r.Cols[arg]] }

// Names returns the names of the arguments' columns.
func (r *Relation) Names() []string {
	names := make([]string, len(r.Cols))
	for i, c := range r.Cols {
		if c < len(r.Table.Names) {
			names[i] = r.Table.Names[c]
		}
		if names[i] == "" {
			names[i] = fmt.Sprintf("c%d", i+1)
		}
	}
	return names
}

// Columns returns the column of each argument.
func (r *Relation) Columns() []*Column { return r.Table.Pick(r.Cols) }

// Rows returns the number of tuples.
func (r *Relation) Rows() int { return r.Table.Rows }

// Schema is what a loader needs to know of a predicate.
type Schema struct {
	Name string
	Args []Field
	Keys int // as in Relation
	// Optional means that the predicate has facts from elsewhere, so that it
	// needs no note if no file fills it.
	Optional bool
}

// Field is a named and typed argument or column.
type Field struct {
	Name string
	Type scalar.Type
}

// Database is a set of relations by name.
type Database struct {
	relations map[string]*Relation
	order     []string
}

// NewDatabase returns an empty database.
func NewDatabase() *Database { return &Database{relations: map[string]*Relation{}} }

// Put adds or replaces a relation.
func (db *Database) Put(r *Relation) {
	if _, ok := db.relations[r.Name]; !ok {
		db.order = append(db.order, r.Name)
	}
	db.relations[r.Name] = r
}

// Relation returns the relation of that name, or nil.
func (db *Database) Relation(name string) *Relation { return db.relations[name] }

// Rows counts the rows of all tables. Relations over one table share its rows.
func (db *Database) Rows() int {
	rows := 0
	seen := map[*Table]bool{}
	for _, r := range db.relations {
		if !seen[r.Table] {
			seen[r.Table] = true
			rows += r.Table.Rows
		}
	}
	return rows
}

// Relations returns all relations in the order they were first put.
func (db *Database) Relations() []*Relation {
	return list.Map(db.order, func(n string) *Relation { return db.relations[n] })
}

// Pick returns some columns of the table.
func (t *Table) Pick(cols []int) []*Column {
	return list.Map(cols, func(c int) *Column { return t.Columns[c] })
}

// EmptyRelation returns the relation of a predicate without facts.
func EmptyRelation(s Schema) *Relation {
	t := &Table{Name: s.Name}
	r := &Relation{Name: s.Name, Table: t, Keys: s.Keys}
	for i, f := range s.Args {
		t.Names = append(t.Names, f.Name)
		t.Columns = append(t.Columns, ColumnOf(f.Type, nil, nil))
		r.Cols = append(r.Cols, i)
	}
	return r
}
