package vocabulary

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/core"
)

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
	{"count_distinct", core.CountDistinct, "n = count_distinct(x)",
		"The number of different values that x has, of any type. An extension of LogiQL.", "3"},
	{"total", core.Total, "s = total(x)", "The sum of x over the bindings of the body.", "90"},
	{"sum", core.Total, "s = sum(x)", "The same as total.", "90"},
	{"min", core.Min, "m = min(x)", "The least x, of any type with an order.", "10"},
	{"max", core.Max, "m = max(x)", "The greatest x, of any type with an order.", "60"},
	{"avg", core.Avg, "m = avg(x)",
		"The mean of x over the bindings of the body: a decimal, or a float of floats.",
		"30.000000"},
	{"median", core.Median, "m = median(x)",
		"The value in the middle, or the mean of the two in the middle, of the numbers x in " +
			"ascending order. It has the type of avg(x). An extension of LogiQL: " +
			"percentile_cont(0.5) of SQL.",
		"20.000000"},
	{"quantile", core.Quantile, "q = quantile(x, 0.9)",
		"Of n values x in ascending order, of any type with an order, the one in place 0.9 * n, " +
			"rounded up; another literal from 0 to 1 gives another place. An extension of " +
			"LogiQL: percentile_disc of SQL.",
		"60"},
	{"string_join", core.StringJoin, `t = string_join(s, ", ")`,
		"The strings s with a separator between them, a literal. They are in ascending order, " +
			"or in the order of a third argument, as in order(x, desc(y)). An extension of " +
			"LogiQL: string_agg of SQL.",
		`"ann, bob, cat"`},
}

// Body is the formula over ReferenceScores that the example aggregates.
func (a Aggregation) Body() string {
	switch a.Fn {
	case core.Count:
		return "score[_] = _"
	case core.StringJoin:
		return "score[s] = _"
	}
	return "score[_] = x"
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

// AggregationCalls lists the calls of agg<<>>: count(), total(x) and so on.
func AggregationCalls() string {
	var out []string
	for _, a := range Aggregations {
		_, call, _ := strings.Cut(a.Form, " = ")
		out = append(out, call)
	}
	last := len(out) - 1
	return strings.Join(out[:last], ", ") + " and " + out[last]
}

// AggregationNames returns the names of the functions of agg<<>>.
func AggregationNames() []string {
	var out []string
	for _, a := range Aggregations {
		out = append(out, a.Name)
	}
	return out
}
