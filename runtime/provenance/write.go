package provenance

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// WriteText writes the reasons as trees, and the rules that they name.
func (r *Reasons) WriteText(w io.Writer) error {
	p := &printer{}
	switch {
	case r.Holds && len(r.Because) == 0:
		p.out.WriteString("it holds whatever the facts are\n")
	case !r.Holds && r.Missing == nil:
		p.out.WriteString("it does not hold whatever the facts are\n")
	case r.Holds:
		for _, n := range r.Because {
			p.node(n, "", "", 0)
		}
	default:
		for _, text := range r.Missing.Held {
			p.out.WriteString(text + "  holds\n")
		}
		p.missed(r.Missing.Fails, "", "", r.Missing.Cut)
	}
	for i := 0; i < len(p.later); i++ {
		p.out.WriteString("\n")
		p.node(p.later[i], fmt.Sprintf("%d: ", i+1), "", 0)
	}
	slices.SortFunc(p.rules, func(a, b *Rule) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	for i, rule := range p.rules {
		if i == 0 {
			p.out.WriteString("\n")
		}
		fmt.Fprintf(&p.out, "%s: %s\n", rule.place(), rule.short())
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

// printer prints trees and collects the rules that they name, and the nodes
// that it prints later, as trees of their own.
type printer struct {
	out   strings.Builder
	rules []*Rule
	later []*Node
}

// maxLevels bounds the levels of a tree. What is deeper is a tree of its own,
// so that lines stay short.
const maxLevels = 24

// node prints a node of a level behind its branch, and what is below it behind
// indent.
func (p *printer) node(n *Node, branch, indent string, level int) {
	text := n.Condition
	switch {
	case n.Tuple == "":
	case n.Iterated:
		text = n.Tuple + "  after the last round, " + n.Rule.place()
	case n.Fact && n.Rule == nil:
		text = n.Tuple + "  a fact"
	case n.Fact:
		text = n.Tuple + "  a fact, " + n.Rule.place()
	default:
		text = n.Tuple + "  by " + n.Rule.place()
		if !slices.ContainsFunc(p.rules, func(r *Rule) bool { return *r == *n.Rule }) {
			p.rules = append(p.rules, n.Rule)
		}
	}
	if n.Bindings > 1 {
		text += fmt.Sprintf(", %d bindings", n.Bindings)
	}
	if n.Improved {
		text += ", first from a value that has improved since"
	}
	if n.Above {
		text += ", as above"
	}
	if level == maxLevels && len(n.Because) > 0 {
		p.later = append(p.later, n)
		fmt.Fprintf(&p.out, "%s%s, see %d\n", branch, text, len(p.later))
		return
	}
	p.out.WriteString(branch + text + "\n")
	for i, m := range n.Because {
		last := i == len(n.Because)-1 && !n.More
		p.node(m, indent+branchOf(last), indent+indentOf(last), level+1)
	}
	if n.More {
		p.out.WriteString(indent + branchOf(true) + "…\n")
	}
}

func branchOf(last bool) string {
	if last {
		return "└─ "
	}
	return "├─ "
}

func indentOf(last bool) string {
	if last {
		return "   "
	}
	return "│  "
}

// tried prints how far a rule comes.
func (p *printer) tried(t *Tried, indent string) {
	for _, text := range t.Held {
		p.out.WriteString(indent + branchOf(false) + text + "  holds\n")
	}
	if t.Fails == nil {
		p.out.WriteString(indent + branchOf(true) + "its head has other values\n")
		return
	}
	p.missed(t.Fails, indent+branchOf(true), indent+indentOf(true), t.Cut)
}

// missed prints a literal that does not hold, as node prints a tuple.
func (p *printer) missed(m *Missed, branch, indent string, cut bool) {
	text := m.Literal + "  does not hold"
	switch {
	case m.Facts != nil && *m.Facts == 0:
		text += ": there are no facts"
	case m.Facts != nil:
		text += fmt.Sprintf(": none of %d facts", *m.Facts)
	case m.Iterated != nil:
		text += " after the last round, " + m.Iterated.place()
	case m.First != nil:
		text += ": the key has another value"
	case m.Above:
		text += ", as above"
	}
	if cut {
		text += "; not all bindings were looked at"
	}
	p.out.WriteString(branch + text + "\n")
	for _, n := range []*Node{m.Holds, m.First} {
		if n != nil {
			p.node(n, indent+branchOf(true), indent+indentOf(true), 0)
		}
	}
	if m.More {
		p.out.WriteString(indent + branchOf(true) + "…\n")
	}
	for i, t := range m.Rules {
		last := i == len(m.Rules)-1
		fmt.Fprintf(&p.out, "%s%s%s: %s\n", indent, branchOf(last), t.Rule.place(), t.Rule.short())
		p.tried(t, indent+indentOf(last))
	}
}

// place returns the file and the line of a rule.
func (r *Rule) place() string { return fmt.Sprintf("%s:%d", r.File, r.Line) }

// maxRule bounds the text of a rule that is printed, in characters.
const maxRule = 300

// short returns the text of a rule, cut off where it is long.
func (r *Rule) short() string {
	if text := []rune(r.Text); len(text) > maxRule {
		return string(text[:maxRule]) + "…"
	}
	return r.Text
}
