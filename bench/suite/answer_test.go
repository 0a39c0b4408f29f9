package suite

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// exact prints as a decimal of redfox does.
type exact string

func (d exact) String() string { return string(d) }

func TestSameRows(t *testing.T) {
	day := time.Date(1995, 3, 15, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name     string
		ours     any
		sqlType  string
		theirs   string
		mismatch bool
	}{
		{name: "integer", ours: int64(7), sqlType: "BIGINT", theirs: "7"},
		{name: "other integer", ours: int64(7), sqlType: "BIGINT", theirs: "8", mismatch: true},
		{name: "decimal with other zeros", ours: exact("380456.0000"), sqlType: "DECIMAL(38,2)",
			theirs: "380456.00"},
		{name: "last digit of a decimal", ours: exact("526165934.000838"), sqlType: "DECIMAL(38,6)",
			theirs: "526165934.000839", mismatch: true},
		{name: "decimal that is cut", ours: exact("1.2"), sqlType: "DECIMAL(38,4)",
			theirs: "1.2000001", mismatch: true},
		{name: "average, rounded", ours: exact("25.575155"), sqlType: "DOUBLE",
			theirs: "25.575154611454693"},
		{name: "average, not rounded", ours: exact("25.575154"), sqlType: "DOUBLE",
			theirs: "25.575154611454693", mismatch: true},
		{name: "average in between", ours: exact("0.13"), sqlType: "DOUBLE", theirs: "0.125"},
		{name: "float with few digits", ours: exact("25.500001"), sqlType: "DOUBLE", theirs: "25.5",
			mismatch: true},
		{name: "exponent", ours: exact("0.00001"), sqlType: "DOUBLE", theirs: "1e-05"},
		{name: "average without a type", ours: exact("25.575155"), theirs: "25.575154611454693"},
		{name: "decimal without a type", ours: exact("25.5752"), theirs: "25.5751", mismatch: true},
		{name: "text", ours: "R", sqlType: "VARCHAR", theirs: "R"},
		{name: "a text that starts alike", ours: "Brand 1", sqlType: "VARCHAR", theirs: "Brand",
			mismatch: true},
		{name: "a text that is a number", ours: "1.0", sqlType: "VARCHAR", theirs: "1",
			mismatch: true},
		{name: "day", ours: day, sqlType: "DATE", theirs: "1995-03-15"},
		{name: "time", ours: day.Add(time.Hour), sqlType: "TIMESTAMP",
			theirs: "1995-03-15 01:00:00"},
		{name: "a day and a time", ours: day.Add(time.Hour), sqlType: "DATE", theirs: "1995-03-15",
			mismatch: true},
		{name: "bool", ours: true, sqlType: "BOOLEAN", theirs: "True"},
		{name: "null", ours: int64(0), sqlType: "BIGINT", theirs: "NULL", mismatch: true},
	}
	for _, tt := range tests {
		want := &Answer{Rows: [][]string{{tt.theirs}}}
		if tt.sqlType != "" {
			want.Columns = []Column{{"c", tt.sqlType}}
		}
		err := SameRows(slices.Values([][]any{{tt.ours}}), want)
		if (err != nil) != tt.mismatch {
			t.Errorf("%s: %v and %s: %v", tt.name, tt.ours, tt.theirs, err)
		}
	}
}

// TestNoRows holds that an aggregate of nothing is the same in both languages,
// and that no other answer is taken for one.
func TestNoRows(t *testing.T) {
	for _, tt := range []struct {
		rows [][]string
		same bool
	}{{nil, true}, {[][]string{{"NULL"}}, true}, {[][]string{{"NULL", "NULL"}}, true},
		{[][]string{{"NULL", "1"}}, false},
		{[][]string{{"NULL"}, {"NULL"}}, false}, {[][]string{{"0"}}, false}} {
		if err := SameRows(slices.Values([][]any{}),
			&Answer{Rows: tt.rows}); (err == nil) != tt.same {
			t.Errorf("%v: %v", tt.rows, err)
		}
	}
}

func TestMismatch(t *testing.T) {
	want := &Answer{Columns: []Column{{"n", "BIGINT"}, {"total", "BIGINT"}},
		Rows: [][]string{{"1", "2"}, {"3", "4"}}}
	for _, tt := range []struct {
		rows [][]any
		want string
	}{
		{[][]any{{1, 2}, {3, 4}}, ""},
		{[][]any{{1, 2}, {3, 5}}, "row 2, column 2 (total): 5, and the peer has 4"},
		{[][]any{{1, 2}}, "the answer has 1 rows, the peer's has 2"},
		{[][]any{{1, 2}, {3, 4}, {5, 6}, {7, 8}}, "the answer has 4 rows, the peer's has 2"},
		{[][]any{{1}}, "row 1, column 2: 1 columns, and the peer has 2"},
	} {
		err := SameRows(slices.Values(tt.rows), want)
		var m *Mismatch
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%v: %v", tt.rows, err)
		case tt.want != "" && (!errors.As(err, &m) || err.Error() != tt.want):
			t.Errorf("%v: %v, not %s", tt.rows, err, tt.want)
		}
	}
}
