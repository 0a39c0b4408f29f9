package ast

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/redfoxdb/redfox/frontend/source"
)

// Dump prints the tree as --emit ast shows it: one node a line, with the line
// and column where it starts, and children indented below their parent.
// Comments follow the clauses.
func Dump(f *File) string {
	d := &dumper{}
	for _, c := range f.Clauses {
		d.clause(0, c)
	}
	for _, c := range f.Comments {
		d.line(0, "comment", c.Span, strconv.Quote(c.Text))
	}
	return d.out.String()
}

type dumper struct{ out strings.Builder }

// line prints the kind of a node, its place and its properties.
func (d *dumper) line(depth int, kind string, at source.Span, details ...string) {
	d.out.WriteString(strings.Repeat("  ", depth))
	d.out.WriteString(kind)
	if at.IsValid() {
		p := at.Position()
		fmt.Fprintf(&d.out, " %d:%d", p.Line, p.Column)
	}
	for _, s := range details {
		if s != "" {
			d.out.WriteString(" ")
			d.out.WriteString(s)
		}
	}
	d.out.WriteString("\n")
}

func (d *dumper) clause(depth int, c *Clause) {
	d.line(depth, c.Arrow.String(), c.Span, c.Update)
	d.node(depth+1, c.Left)
	if c.P2P != nil {
		text := ""
		if len(c.P2P.Specs) == 0 {
			text = strconv.Quote(c.P2P.Text)
		}
		d.line(depth+1, c.P2P.Name+"<<>>", c.P2P.Span, text)
		for _, s := range c.P2P.Specs {
			d.line(depth+2, "spec", s.Span, s.Out.Text, "=", s.Fn.Text)
			for _, n := range s.Arguments() {
				d.node(depth+3, n)
			}
		}
	}
	if c.Right != nil {
		d.node(depth+1, c.Right)
	}
}

func (d *dumper) node(depth int, n Node) {
	switch n := n.(type) {
	case *Conj:
		d.line(depth, "and", n.Span)
	case *Disj:
		d.line(depth, "or", n.Span)
	case *Not:
		d.line(depth, "not", n.Span)
	case *Paren:
		d.line(depth, "paren", n.Span)
	case *Compare:
		d.line(depth, "compare", n.Span, n.Ops...)
	case *In:
		d.line(depth, "in", n.Span)
	case *If:
		d.line(depth, "if", n.Span)
	case *Binary:
		d.line(depth, "binary", n.Span, n.Op)
	case *Unary:
		d.line(depth, "unary", n.Span, n.Op)
	case *Apply:
		d.line(depth, "apply", n.Span, applyDetails(n)...)
	case *Var:
		d.line(depth, "var", n.Span, n.Name)
	case *Wildcard:
		d.line(depth, "wildcard", n.Span)
	case *Literal:
		d.line(depth, "literal", n.Span, n.Value.Type.String(), strconv.QuoteToGraphic(n.Raw))
	case *PredRef:
		d.line(depth, "predicate", n.Span, n.Name)
		for _, c := range n.Clauses {
			d.clause(depth+1, c)
		}
	case *RefMode:
		d.line(depth, "refmode", n.Span)
	case *Block:
		d.line(depth, "block", n.Span)
	}
	for _, child := range Children(n) {
		d.node(depth+1, child)
	}
}

func applyDetails(n *Apply) []string {
	name := n.Delta + n.Name.Text
	if n.Stage != "" {
		name += "@" + n.Stage
	}
	if n.Index != "" {
		name += "[" + n.Index + "]"
	}
	brackets := "()"
	if n.Square {
		brackets = "[]"
	}
	if n.Split >= 0 {
		return []string{name + brackets, fmt.Sprintf("keys=%d", n.Split)}
	}
	return []string{name + brackets}
}

// String returns the word that Dump prints for the kind of clause.
func (a Arrow) String() string {
	return [...]string{"fact", "rule", "constraint", "meta-rule", "meta-constraint"}[a]
}
