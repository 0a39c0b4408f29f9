package vocabulary

import "github.com/redfoxdb/redfox/frontend/diag"

// Warning is a warning that a program can switch.
type Warning struct {
	// Name is LogicBlox's name where it has one, else the code's name in the
	// same spelling.
	Name string
	Code *diag.Code
}

// Warnings lists the names of warnings in directives.
var Warnings = []Warning{
	{"NEVER_FIRES", diag.NeverFires},
	{"NO_DECLARATION", diag.Undeclared},
	{"NO_SOURCE", diag.NoSource},
	{"SINGLE_OCCURRENCE", diag.SingleOccurrence},
	{"SPECIFIC_STARRED_EDGE_IN_SAFETY_GRAPH_CYCLE", diag.UnboundedRecursion},
	{"UNBOUNDED_RECURSION", diag.UnboundedRecursion},
	{"UNUSED_PREDICATE", diag.UnusedPredicate},
}

// WarningOf returns the code of a warning's name, or nil.
func WarningOf(name string) *diag.Code {
	for _, w := range Warnings {
		if w.Name == name {
			return w.Code
		}
	}
	return nil
}

// WarningNames returns the names of the warnings.
func WarningNames() []string {
	var out []string
	for _, w := range Warnings {
		out = append(out, w.Name)
	}
	return out
}
