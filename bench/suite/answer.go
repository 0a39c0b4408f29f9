package suite

import (
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Answer is a peer's answer to a query.
type Answer struct {
	Columns []Column // may be empty if nothing is known of them
	Rows    [][]string
	// Processor is the processor time of all timed runs together.
	Processor time.Duration
}

// Column is a column of an answer.
type Column struct {
	Name string
	Type string // as SQL names it: DECIMAL(38,4)
}

// binary reports whether the column holds binary floating-point numbers, which
// only approximate a value.
func (c Column) binary() bool {
	switch strings.ToUpper(c.Type) {
	case "DOUBLE", "FLOAT", "REAL":
		return true
	}
	return false
}

// null is the text of the peer's NULL.
const null = "NULL"

// Mismatch is a difference between an answer and the peer's. Rows and columns
// count from 1.
type Mismatch struct {
	Row, Column int // 0 where only the number of rows differs
	Name        string
	Got, Want   string
}

// Error returns the place of the difference and both values.
func (m *Mismatch) Error() string {
	if m.Row == 0 {
		return fmt.Sprintf("the answer has %s rows, the peer's has %s", m.Got, m.Want)
	}
	where := fmt.Sprintf("row %d, column %d", m.Row, m.Column)
	if m.Name != "" {
		where += " (" + m.Name + ")"
	}
	return fmt.Sprintf("%s: %s, and the peer has %s", where, m.Got, m.Want)
}

// SameRows compares rows in order, as redfox.Result yields them, with a peer's
// answer. Integers and decimals must be equal to the last digit. If the peer's
// column holds binary floats, as averages and quotients of decimals do, our
// number must be the peer's, rounded to our digits. One row of nothing but NULL
// equals no rows: SQL returns it for an aggregate of no rows. The error is a
// *Mismatch.
func SameRows(rows iter.Seq[[]any], want *Answer) error {
	n := 0
	for row := range rows {
		n++
		if n > len(want.Rows) {
			continue // it is counted
		}
		peer := want.Rows[n-1]
		if len(row) != len(peer) {
			return &Mismatch{Row: n, Column: min(len(row), len(peer)) + 1,
				Got: fmt.Sprintf("%d columns", len(row)), Want: fmt.Sprint(len(peer))}
		}
		for i, v := range row {
			var column Column
			if i < len(want.Columns) {
				column = want.Columns[i]
			}
			if !sameValue(v, column, peer[i]) {
				return &Mismatch{n, i + 1, column.Name, fmt.Sprint(v), peer[i]}
			}
		}
	}
	if n == 0 && len(want.Rows) == 1 && !slices.ContainsFunc(want.Rows[0], func(cell string) bool {
		return cell != null
	}) {
		return nil
	}
	if n != len(want.Rows) {
		return &Mismatch{Got: strconv.Itoa(n), Want: strconv.Itoa(len(want.Rows))}
	}
	return nil
}

// sameValue compares a value with the peer's text of it.
func sameValue(v any, column Column, want string) bool {
	switch v := v.(type) {
	case string:
		return v == want
	case bool:
		return strings.EqualFold(strconv.FormatBool(v), want)
	case time.Time:
		v = v.UTC()
		text := v.Format("2006-01-02 15:04:05.999999")
		return text == want || text == want+" 00:00:00" // the peer has days, too
	}
	return sameNumber(fmt.Sprint(v), column, want)
}

// floatError is the largest relative error of a peer's binary sum or quotient.
var floatError = big.NewRat(1, 1<<48)

// sameNumber compares decimal texts of numbers.
func sameNumber(got string, column Column, want string) bool {
	g, ok1 := new(big.Rat).SetString(got)
	w, ok2 := new(big.Rat).SetString(want)
	if !ok1 || !ok2 {
		return false
	}
	difference := new(big.Rat).Sub(g, w)
	if difference.Sign() == 0 {
		return true
	}
	digits := fraction(got)
	// In an answer without types, a number with more digits than ours is a
	// binary float.
	if !column.binary() && (column.Type != "" || fraction(want) <= digits) {
		return false
	}
	half := new(big.Rat).SetFrac(big.NewInt(1),
		new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
	half.Mul(half, big.NewRat(1, 2))
	allowed := new(big.Rat).Mul(new(big.Rat).Abs(w), floatError)
	return difference.Abs(difference).Cmp(allowed.Add(allowed, half)) <= 0
}

// fraction returns the number of digits after the point.
func fraction(number string) int {
	_, digits, _ := strings.Cut(number, ".")
	if mantissa, _, ok := strings.Cut(digits, "e"); ok {
		digits = mantissa
	}
	return len(digits)
}
