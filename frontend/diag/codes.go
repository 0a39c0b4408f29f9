package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// registry holds every code by its ID and by its name.
var registry = map[string]*Code{}

// newCode enters a code into the registry. Codes are package-level variables,
// so the process does not start with a repeated ID or name.
func newCode(c *Code) *Code {
	for _, key := range []string{c.ID, c.Name} {
		if other := registry[key]; other != nil {
			panic(fmt.Sprintf("diag: codes %s %s and %s %s share %q", other.ID, other.Name, c.ID,
				c.Name,
				key))
		}
		registry[key] = c
	}
	return c
}

// Codes returns every code, ordered by ID.
func Codes() []*Code {
	var out []*Code
	for key, c := range registry {
		if key == c.ID {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *Code) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// Lookup returns the code with an ID or a name, ignoring case, or nil.
func Lookup(idOrName string) *Code {
	if c := registry[idOrName]; c != nil {
		return c
	}
	for _, c := range Codes() {
		if strings.EqualFold(c.ID, idOrName) || strings.EqualFold(c.Name, idOrName) {
			return c
		}
	}
	return nil
}

// Explain returns the documentation of the code as text for a terminal.
func (c *Code) Explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n%s\n", c.ID, c.Name, c.When)
	if c.Example != "" {
		b.WriteString("\nFor example:\n\n")
		for line := range strings.Lines(c.Example) {
			b.WriteString("    " + printable(strings.TrimRight(line, "\n")) + "\n")
		}
	}
	if c.Fix != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Fix)
	}
	return b.String()
}

// Mended returns the example as its Fix says, or "" for a code of runs.
func (c *Code) Mended() string { return mended[c.Name] }
