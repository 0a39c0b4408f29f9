package vocabulary

// Numbering is a form of seq<<>>.
type Numbering struct {
	Name, Form string
	Doc        string
	// Rules number the scores that ReferenceScores states. Result is one of
	// the numbers.
	Rules  []string
	Result string
}

// Numberings lists the forms of seq<<>>.
var Numberings = []Numbering{
	{"seq", "seq<<>>",
		"Numbers the tuples of one atom in ascending order, from 0. The head has the variables of " +
			"the atom and one more, the number, which is a key. Its other keys are groups.",
		[]string{"name(s) <- score[s] = _.", "place[i] = s <- seq<<>> name(s)."},
		`place[2] = "cat"`},
	{"number", "i = number(order(desc(x), y), partition(z))",
		"Numbers the bindings of the body of seq<<>> in a stated order, from 0 in each partition. " +
			"The partition may be left out. The head has variables of the body and the number, as " +
			"a key or as the value. An extension of LogiQL: row_number() of SQL.",
		[]string{"rank[s] = i <- seq<<i = number(order(desc(x)))>> score[s] = x."},
		`rank["ann"] = 2`},
}

// NumberingOf returns the numbering of a name.
func NumberingOf(name string) (Numbering, bool) {
	for _, n := range Numberings {
		if n.Name == name {
			return n, true
		}
	}
	return Numbering{}, false
}
