package runtime

import (
	"fmt"
	"path/filepath"

	"github.com/redfoxdb/redfox/queryplan"
)

// Orders chooses the orders of the joins of a plan's loops again.
type Orders interface {
	// Expected returns the number of tuples of a variable for which the orders
	// of the plan were chosen.
	Expected(v *queryplan.Var) float64
	// Again returns the commands of a block of the plan with the orders that
	// sizes call for: a command itself if its orders stay.
	Again(b *queryplan.Block, cmds []queryplan.Command,
		sizes map[*queryplan.Var]queryplan.Size) []queryplan.Command
}

// Reordering says that a rule of a loop was joined in another order from a
// round on.
type Reordering struct {
	Block   string
	Command int   // index in the block
	Round   int64 // the first one with the new order, from 1 on
	Rule    string
	Place   string // of the rule, as file:line; "" if it has none
	// Grown is the variable that had Rows tuples, and for which the order
	// before had been chosen for Expected ones.
	Grown          string
	Rows, Expected int64
	// Tree is the text of the command in the new order.
	Tree string
}

// Of returns the rule with its place.
func (r Reordering) Of() string {
	if r.Place == "" {
		return r.Rule
	}
	return r.Rule + " (" + r.Place + ")"
}

// String is the reordering as a line for people.
func (r Reordering) String() string {
	return fmt.Sprintf("%s from round %d of %s on: %s has %d tuples, not %d", r.Of(), r.Round,
		r.Block, r.Grown, r.Rows, r.Expected)
}

// PlaceOf returns the place of a command's rule, as file:line; "" if it has
// none.
func PlaceOf(c queryplan.Command) string {
	at := queryplan.CommandSpan(c).Position()
	if at.Line <= 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(at.File), at.Line)
}
