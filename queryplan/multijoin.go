package queryplan

import (
	"fmt"
	"slices"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// MultiJoin is the natural join of three or more inputs at once: tuples, one of
// each input, that agree on all columns of the same name. It is evaluated
// variable by variable and not input by input, which for cyclic joins is worst
// case optimal: no more work than the largest result that inputs of these sizes
// can have (Ngo, Porat, Ré, Rudra, PODS 2012; Veldhuizen, ICDT 2014).
//
// The result is a bag, as for Join: a tuple occurs once for each combination of
// input tuples that gives it.
type MultiJoin struct {
	Nodes []Node
	// Order lists the columns that two or more of the inputs have, each once,
	// in the order in which they are bound. Every input has one of them.
	Order []string
	// Uneven is set if the lists of values of an input are expected to be of
	// very different lengths. Kernels, which have binary joins only, then read
	// the shortest of the lists that a tuple has.
	Uneven bool
}

// Columns returns the columns of Order and then the others, input by input.
func (n *MultiJoin) Columns() []Column {
	inputs := list.Map(n.Nodes, Node.Columns)
	return multiJoinColumns(n.Order, inputs)
}

// Inputs returns the joined operators.
func (n *MultiJoin) Inputs() []Node { return n.Nodes }

func multiJoinColumns(order []string, inputs [][]Column) []Column {
	var out []Column
	for _, name := range order {
		for _, in := range inputs {
			if c, ok := FindColumn(in, name); ok {
				out = append(out, c)
				break
			}
		}
	}
	for _, in := range inputs {
		for _, c := range in {
			if !slices.Contains(order, c.Name) {
				out = append(out, c)
			}
		}
	}
	return out
}

// SharedColumns returns the columns that two or more of the operators have, in
// the order in which they come up: those that a MultiJoin of them has to order.
func SharedColumns(nodes []Node) []string {
	inputs := list.Map(nodes, Node.Columns)
	return sharedColumns(inputs)
}

func sharedColumns(inputs [][]Column) []string {
	count := map[string]int{}
	for _, in := range inputs {
		for _, c := range in {
			count[c.Name]++
		}
	}
	var out []string
	for _, in := range inputs {
		for _, c := range in {
			if count[c.Name] > 1 {
				out = append(out, c.Name)
				count[c.Name] = 0
			}
		}
	}
	return out
}

func verifyMultiJoin(n *MultiJoin, inputs [][]Column) ([]Column, error) {
	if len(inputs) < 3 {
		return nil, fmt.Errorf("it has %d inputs; a join has two, a multijoin more", len(inputs))
	}
	shared := sharedColumns(inputs)
	if !slices.Equal(slices.Sorted(slices.Values(n.Order)), slices.Sorted(slices.Values(shared))) {
		return nil, fmt.Errorf("it orders %s, but the columns that several inputs have are %s",
			irtext.ListColumns(n.Order), irtext.ListColumns(shared))
	}
	for i, in := range inputs {
		if !slices.ContainsFunc(in, func(c Column) bool {
			return slices.Contains(shared, c.Name)
		}) {
			return nil, fmt.Errorf("input %d has no column in common with another", i)
		}
	}
	out := multiJoinColumns(n.Order, inputs)
	for i, in := range inputs {
		for _, c := range in {
			if o, _ := FindColumn(out, c.Name); o.Type != c.Type {
				return nil,
					fmt.Errorf("column %s is %s in input %d and %s in another", c.Name, c.Type, i,
						o.Type)
			}
		}
	}
	return out, nil
}

// multiJoin infers the properties of a join of all inputs: dependencies hold as
// they do in the inputs, and a key of each together is a key.
func (p *properties) multiJoin(n *MultiJoin) {
	acc := infer(n.Nodes[0])
	for _, in := range n.Nodes[1:] {
		acc = joined(acc, infer(in))
		acc.minimise() // else the keys multiply
	}
	p.keys, p.fds = acc.keys, acc.fds
}
