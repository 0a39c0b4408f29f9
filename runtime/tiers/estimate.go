package tiers

import (
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/segments"
	"github.com/redfoxdb/redfox/runtime/prepare"
)

// next returns the end of the segment that begins with a piece, and whether the
// segment is worth native code.
func (r *run) next(from int) (until int, native bool) {
	e := &estimate{known: r.known, guessed: map[*queryplan.Var]int64{}}
	pieces := r.cuts.Pieces
	worth := make([]bool, len(pieces))
	for at := from; at < len(pieces); {
		// A segment is worth native code if each piece and their sum are.
		first, total := at, int64(0)
		for ; at < len(pieces); at++ {
			weight := e.weight(pieces[at])
			if r.plainPieces[at] {
				break
			}
			if r.hot[at] || r.loopsAreHot && len(pieces[at].Loops) > 0 {
				weight = max(weight, r.sizes.Segment)
			} else if weight < r.sizes.Rows*int64(len(pieces[at].Commands)) {
				break
			}
			total += weight
		}
		for i := first; i < at; i++ {
			worth[i] = total >= r.sizes.Segment
		}
		at++
	}
	for until = from + 1; until < len(pieces) && worth[until] == worth[from]; {
		until++
	}
	return until, worth[from]
}

// known returns the number of tuples of a variable that has been filled.
func (r *run) known(v *queryplan.Var) (rows int64, ok bool) {
	if rel := r.derived[v.Name]; rel != nil {
		return int64(rel.Rows()), true
	}
	if v.Kind != queryplan.Input && v.Kind != queryplan.Table {
		return 0, false
	}
	_, n, err := prepare.Stored(r.req.Facts, prepare.Variable{Name: v.Name, Kind: v.Kind,
		Cols: v.Cols, Source: v.Source, Stored: v.Stored})
	return int64(n), err == nil
}

// roundsOfLoop is the assumed number of rounds of a loop that see as many rows
// as the first one.
const roundsOfLoop = 4

// estimate counts the rows that commands see. It guesses the sizes of variables
// that have not been filled yet.
type estimate struct {
	// known returns the number of tuples of inputs and of variables that
	// earlier segments have filled.
	known   func(v *queryplan.Var) (rows int64, ok bool)
	guessed map[*queryplan.Var]int64
}

// weight returns the number of rows that the commands of a piece see. It must
// have been called for the pieces before. The commands of a loop are taken to
// see the sizes from before the loop: otherwise, rules that read what the
// others fill would double the sizes with each rule.
func (e *estimate) weight(p segments.Piece) int64 {
	weight := int64(0)
	filled := e.guessed
	if len(p.Loops) > 0 {
		filled = map[*queryplan.Var]int64{}
		defer func() {
			for v, rows := range filled {
				e.guessed[v] += rows
			}
		}()
	}
	for _, c := range p.Commands {
		n := queryplan.CommandNode(c)
		if n == nil {
			continue
		}
		for _, s := range queryplan.Scans(n) {
			weight += e.size(s.Var)
		}
		rows := e.rows(n)
		if v := queryplan.CommandVar(c); v != nil {
			filled[v] += rows
		}
	}
	if len(p.Loops) > 0 {
		weight *= roundsOfLoop
	}
	return weight
}

// size returns the number of tuples of a variable.
func (e *estimate) size(v *queryplan.Var) int64 {
	if rows, ok := e.known(v); ok {
		return rows
	}
	return e.guessed[v]
}

// rows returns the number of rows of an operator. A join is assumed to find one
// row for each row of its larger side.
func (e *estimate) rows(n queryplan.Node) int64 {
	most, sum := int64(0), int64(0)
	inputs := n.Inputs()
	for _, in := range inputs {
		rows := e.rows(in)
		most, sum = max(most, rows), sum+rows
	}
	switch n := n.(type) {
	case *queryplan.Scan:
		return e.size(n.Var)
	case *queryplan.Values:
		return int64(len(n.Rows))
	case *queryplan.Union:
		return sum
	case *queryplan.Join:
		if n.Kind != queryplan.Inner {
			return e.rows(n.Left)
		}
	case *queryplan.Aggregate:
		if len(n.By) == 0 {
			return 1
		}
	}
	return most
}
