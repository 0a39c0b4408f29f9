package vocabulary

import "github.com/redfoxdb/redfox/frontend/core"

// Aggregation is a function of agg<<>>.
type Aggregation struct {
	Name string
	Fn   core.AggFn
	// Form is the specifier that computes it.
	Form string
	Doc  string
	// Result is its value over the scores 10, 20 and 60, which ReferenceScores
	// states.
	Result string
}

// ReferenceScores is the predicate that the results of aggregations are about.
const ReferenceScores = `score["ann"] = 10. score["bob"] = 20. score["cat"] = 60.`

// Aggregations lists the functions of agg<<>>.
var Aggregations = []Aggregation{
	{"count", core.Count, "n = count()", "The number of bindings of the body's variables.", "3"},
	{"total", core.Total, "s = total(x)", "The sum of x over the bindings of the body.", "90"},
	{"sum", core.Total, "s = sum(x)", "The same as total.", "90"},
	{"min", core.Min, "m = min(x)", "The least x, of any type with an order.", "10"},
	{"max", core.Max, "m = max(x)", "The greatest x, of any type with an order.", "60"},
	{"avg", core.Avg, "m = avg(x)",
		"The mean of x over the bindings of the body: a decimal, or a float of floats.",
		"30.000000"},
}

// AggregationOf returns the aggregation of a name.
func AggregationOf(name string) (Aggregation, bool) {
	for _, a := range Aggregations {
		if a.Name == name {
			return a, true
		}
	}
	return Aggregation{}, false
}

// AggregationNames returns the names of the functions of agg<<>>.
func AggregationNames() []string {
	var out []string
	for _, a := range Aggregations {
		out = append(out, a.Name)
	}
	return out
}
