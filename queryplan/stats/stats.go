package stats

// Catalog describes the relations of a database. A relation that it lacks is
// empty. A nil Catalog knows nothing.
type Catalog struct {
	Relations map[string]*Relation // by predicate
	Tables    map[string]*Table    // by name
}

// Table is a stored table. Relations that name it share its row order.
type Table struct {
	Name    string
	Rows    int64
	Columns []Column
	// Key lists the columns that are a key of the table; nil if none is known.
	Key []int
	// Sample is some of its rows; nil if there are none.
	Sample *Sample
}

// Relation is a stored predicate.
type Relation struct {
	Name  string
	Rows  int64
	Table string // its table
	Cols  []int  // column of the table for each argument
}

// Column describes the words of a column, as package store defines them.
type Column struct {
	Name      string
	Min, Max  int64
	Distinct  int64
	Ascending bool
	// Equal and Rising estimate the shares of neighbouring pairs in which the
	// second value equals the first, and is not less than it. Both are 0 if
	// nothing is known.
	Equal, Rising float64
	// Top are the most frequent values, the most frequent first, as far as the
	// table's sample shows.
	Top []Frequent
}

// Relation returns what is known of a predicate, or nil.
func (c *Catalog) Relation(name string) *Relation {
	if c == nil {
		return nil
	}
	return c.Relations[name]
}

// TableOf returns the table that holds a relation, or nil.
func (c *Catalog) TableOf(r *Relation) *Table {
	if c == nil || r == nil {
		return nil
	}
	return c.Tables[r.Table]
}

// identifies reports whether a column ascends and has no value twice, so that
// rows are found by it.
func (t *Table) identifies(column int) bool {
	c := t.Columns[column]
	return t.Sample != nil && c.Ascending && c.Distinct == t.Rows
}

// Numbers reports whether a column counts the rows, one after the other, so
// that a row is found by its value without an index.
func (t *Table) Numbers(column int) bool {
	c := t.Columns[column]
	return t.Rows > 0 && c.Ascending && c.Distinct == t.Rows &&
		uint64(c.Max)-uint64(c.Min) == uint64(t.Rows-1)
}
