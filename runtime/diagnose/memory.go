package diagnose

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/runtime"
)

// Memory names the rule that may have exhausted the memory: that of the range
// whose values did not fit, that of a recursion which may never end, or one
// which tries every combination of entities. It returns "" if there is none.
// The warnings are those of the program.
func (p Program) Memory(e *runtime.MemoryError, warnings []*diag.Diagnostic) string {
	for _, v := range p.Plan.Vars {
		if v.Name == e.What && strings.Contains(v.Name, "$range") {
			return fmt.Sprintf("the range %s generates more values than fit; "+
				"bound it more tightly", place(v.Span))
		}
	}
	for _, b := range p.Plan.Blocks {
		if loop, ok := b.Term.(*queryplan.Branch); ok && loop.Unbounded {
			return fmt.Sprintf("the recursion of %s may never end, because of %s "+
				"(see redfox explain RF0604)", fills(loop), place(loop.Span))
		}
	}
	for _, w := range warnings {
		if w.Code == diag.RangesOverType {
			return fmt.Sprintf("the rule of %s tries every combination of entities "+
				"(see redfox explain RF0806)", place(w.Span))
		}
	}
	return ""
}

// hidden matches what follows the name of a predicate in the names of those
// that the compiler makes for its rules.
var hidden = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(range|wanted|keys|made)[0-9]*`)
})

// Shown returns a message without the names that the compiler makes.
func Shown(message string) string { return hidden().ReplaceAllString(message, "") }

// place returns the first line of a span, and where it begins.
func place(at source.Span) string {
	pos := at.Position()
	return fmt.Sprintf("%s at %s:%d:%d", firstLine(at).Text(), pos.File, pos.Line, pos.Column)
}
