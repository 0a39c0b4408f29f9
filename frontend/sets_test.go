package frontend_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
)

// TestLargeSetIsOneRelation compiles two uses of sets of 1,000 constants, in a
// rule of several alternatives. All rules but those of the program are facts,
// and each constant is one fact.
func TestLargeSetIsOneRelation(t *testing.T) {
	var values []string
	for i := range 1000 {
		values = append(values, fmt.Sprint(7*i))
	}
	set := "{" + strings.Join(values, ", ") + "}"
	program, found := frontend.Compile([]*source.File{source.NewFile("p.logic",
		"p(x) -> int(x). q(x) -> int(x).\n"+
			"r(x) <- (p(x) ; q(x)), x in "+set+".\ns(x) <- p(x), !(x in "+set+").\n")},
		frontend.Options{})
	if program == nil {
		t.Fatal(found[0].Message)
	}
	facts, rules := 0, 0
	for _, s := range program.Strata {
		for _, r := range s.Rules {
			if len(r.Body) == 0 {
				facts++
			} else {
				rules++
			}
		}
	}
	if facts != 2000 || rules != 3 {
		t.Errorf("there are %d facts and %d rules, not 2000 and 3", facts, rules)
	}
}
