package rewrite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/internal/list"
	"github.com/redfoxdb/redfox/queryplan"
	"github.com/redfoxdb/redfox/queryplan/rewrite/trees"
)

// Choice is a decision of a pass that rests on estimates, with its reason.
type Choice struct {
	Pass  string
	Block string // the block of the rule
	Rule  string // the variable that the rule fills, or "constraint"
	Place string // the place of the rule in its file, or ""
	Text  string
}

// String returns the choice as a line for people.
func (c Choice) String() string {
	at := ""
	if c.Place != "" {
		at = " (" + c.Place + ")"
	}
	return fmt.Sprintf("%s: %s%s: %s", c.Block, c.Rule, at, c.Text)
}

// choose records a choice. Equal choices, such as those of versions of one rule
// or of repeated passes, are recorded once.
func (p *program) choose(pass string, b *queryplan.Block, c queryplan.Command, text string) {
	choice := Choice{Pass: pass, Block: b.Name, Rule: "constraint", Text: text}
	if v := queryplan.CommandVar(c); v != nil {
		choice.Rule = v.Name
	}
	if at := queryplan.CommandSpan(c).Position(); at.Line > 0 {
		choice.Place = fmt.Sprintf("%s:%d", filepath.Base(at.File), at.Line)
	}
	if !slices.Contains(p.choices, choice) {
		p.choices = append(p.choices, choice)
	}
}

// relationList lists relations for people.
func relationList(rels []queryplan.Node) string {
	return strings.Join(list.Map(rels, func(rel queryplan.Node) string {
		n := rel
		for len(n.Inputs()) == 1 {
			n = n.Inputs()[0]
		}
		cols := "(" + strings.Join(trees.Columns(rel), ", ") + ")"
		s, ok := n.(*queryplan.Scan)
		switch {
		case !ok:
			return "..." + cols
		case s.Version != queryplan.Full:
			return s.Version.String() + " " + s.Var.Name + cols
		}
		return s.Var.Name + cols
	}), ", ")
}
