package vocabulary

// Generator is a condition that gives a variable several values.
type Generator struct {
	Name string
	// Form is the condition. The variable x, or i, need not have a value.
	Form string
	Doc  string
	// Example is a condition on x, and Results the values that it gives x.
	Example string
	Results []string
}

// Generators lists what enumerates values.
var Generators = []Generator{
	{
		Name: "int:range", Form: "int:range(lo, hi, step, x)",
		Doc: "The integers from lo to hi, both included. A step below 0 counts down. Other " +
			"types of integers have a range as well, such as uint:range.",
		Example: "int:range(1, 7, 3, x)", Results: []string{"1", "4", "7"},
	},
	{
		Form: "lo <= x < hi",
		Doc: "The integers between two bounds, if x is an int. Each comparison is <, <=, > or " +
			">=.",
		Example: "2 <= x < 5", Results: []string{"2", "3", "4"},
	},
	{
		Form:    "string:split[s, delimiter, i] = part",
		Doc:     "The positions i, from 0, at which s has a part.",
		Example: `string:split["a/b", "/", x] = _`, Results: []string{"0", "1"},
	},
	{
		Form:    "string:captures[s, pattern, i] = part",
		Doc:     "The parts i in parentheses of a regular expression that match; 0 is the whole match.",
		Example: `string:captures["k=v", "(.*)=(.*)", x] = _`, Results: []string{"0", "1", "2"},
	},
	{
		Form:    "string:substring[s, i, n] = part",
		Doc:     "The positions i, from 0, and the lengths n of which at least one is free.",
		Example: `string:substring["abab", x, 2] = "ab"`, Results: []string{"0", "2"},
	},
}
