package vocabulary

import "slices"

// Extension is a form that the language has beyond LogiQL.
type Extension struct {
	// Words are the words of the form that are no names in it.
	Words []string
	Form  string
	Doc   string
	// Example is a condition on x, and Results the values that it gives x.
	Example string
	Results []string
}

// Extensions lists the forms of expressions and conditions beyond LogiQL.
var Extensions = []Extension{
	{
		Words: []string{"in"}, Form: "x in {a, b}",
		Doc: "Whether x is one of some literals, which take its type. If nothing else binds x, it " +
			"gets these values.",
		Example: "x in {1, 3, 1}", Results: []string{"1", "3"},
	},
	{
		Words: []string{"if", "then", "else"}, Form: "if c then a else b",
		Doc: "The value of a where the formula c holds, and else that of b. The other case needs no " +
			"value.",
		Example: "n in {0, 5}, x = if n = 0 then -1 else 10 / n", Results: []string{"-1", "2"},
	},
	{
		Form:    "d2 - d1",
		Doc:     "The whole days from the datetime d1 to the datetime d2, truncated toward zero.",
		Example: "x = #2026-03-01# - #2026-01-31#", Results: []string{"29"},
	},
	{
		Form:    "d + n, d - n",
		Doc:     "The datetime n days after, or before, the datetime d. n is an integer.",
		Example: "x = #2026-03-01# + 1 - #2026-01-31#", Results: []string{"30"},
	},
}

// ExtensionOf returns the extension that has a word.
func ExtensionOf(word string) (Extension, bool) {
	i := slices.IndexFunc(Extensions, func(e Extension) bool {
		return slices.Contains(e.Words, word)
	})
	if i < 0 {
		return Extension{}, false
	}
	return Extensions[i], true
}
