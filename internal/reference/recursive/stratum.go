package recursive

import (
	"fmt"
	"strings"
)

// Stratum is a program of one recursion whose rounds are all alike: each rule
// moves its tokens one step on, for as many rounds as are asked for.
type Stratum struct{ Rules, Tokens, Rounds int }

// Program returns its text. The rules form a ring, so that no stratum of fewer
// rules is equal to it.
func (s Stratum) Program() string {
	var b strings.Builder
	b.WriteString("start(x) -> int(x).\nnext(t, u) -> int(t), int(u).\n")
	for i := range s.Rules {
		fmt.Fprintf(&b, "at%d(x, 0) <- start(x).\n", i)
		fmt.Fprintf(&b, "at%d(x, u) <- at%d(x, t), next(t, u).\n", i, (i+1)%s.Rules)
	}
	b.WriteString("_[] = n <- agg<<n = count()>> at0(_, _).\n")
	return b.String()
}

// Facts returns its facts.
func (s Stratum) Facts() Facts {
	f := Facts{}
	for x := range s.Tokens {
		f.add("start", fmt.Sprint(x))
	}
	for t := range s.Rounds {
		f.add("next", fmt.Sprint(t), fmt.Sprint(t+1))
	}
	return f
}

// Tuples returns the number of tuples of each predicate.
func (s Stratum) Tuples() int { return s.Tokens * (s.Rounds + 1) }
