package ast

import (
	"strings"
	"unicode/utf8"
)

// Layout of text by the algebra of Wadler, "A prettier printer" (2003), with
// the measure of what follows a group that Prettier uses: a group is laid out
// on one line when it fits up to the next place where a break is possible.

// pageWidth is the column that lines are kept within where breaks allow it.
const pageWidth = 100

type docKind uint8

const (
	docText  docKind = iota
	docLine          // a break, or its text where the group is flat
	docHard          // always a break
	docBlank         // always a break with an empty line
	docConcat
	docNest
	docGroup
)

// doc is a piece of text with the places where it may break.
type doc struct {
	kind   docKind
	text   string
	indent int
	parts  []doc
	forced bool // holds a docHard, so that no group around it is flat
}

var (
	line     = doc{kind: docLine, text: " "}
	hardLine = doc{kind: docHard, forced: true}
	blank    = doc{kind: docBlank, forced: true}
)

func text(s string) doc { return doc{kind: docText, text: s} }

func newDoc(kind docKind, indent int, parts []doc) doc {
	d := doc{kind: kind, indent: indent, parts: parts}
	for i := range parts {
		d.forced = d.forced || parts[i].forced
	}
	return d
}

func concat(parts ...doc) doc           { return newDoc(docConcat, 0, parts) }
func group(parts ...doc) doc            { return newDoc(docGroup, 0, parts) }
func nest(indent int, parts ...doc) doc { return newDoc(docNest, indent, parts) }

// task is a doc to print with the indentation and mode of its surroundings.
type task struct {
	doc    *doc
	indent int
	flat   bool
}

// render lays out d.
func render(d doc) string {
	var out []byte
	column := 0
	newline := func(indent int) {
		for len(out) > 0 && out[len(out)-1] == ' ' {
			out = out[:len(out)-1]
		}
		out = append(out, '\n')
		out = append(out, strings.Repeat(" ", indent)...)
		column = indent
	}
	stack := []task{{doc: &d}}
	for len(stack) > 0 {
		t := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch t.doc.kind {
		case docText:
			out = append(out, t.doc.text...)
			if n := strings.LastIndexByte(t.doc.text, '\n'); n >= 0 {
				column = utf8.RuneCountInString(t.doc.text[n+1:])
			} else {
				column += utf8.RuneCountInString(t.doc.text)
			}
		case docLine:
			if !t.flat {
				newline(t.indent)
				break
			}
			out = append(out, t.doc.text...)
			column += len(t.doc.text)
		case docBlank:
			newline(0)
			newline(t.indent)
		case docHard:
			newline(t.indent)
		case docGroup:
			if !t.flat {
				t.flat = !t.doc.forced && fits(stack, task{t.doc, t.indent, true}, pageWidth-column)
			}
			stack = push(stack, t)
		default:
			stack = push(stack, t)
		}
	}
	return string(out)
}

// push puts the parts of a task on the stack, the first on top.
func push(stack []task, t task) []task {
	for i := len(t.doc.parts) - 1; i >= 0; i-- {
		stack = append(stack, task{&t.doc.parts[i], t.indent + t.doc.indent, t.flat})
	}
	return stack
}

// fits reports whether t, and what follows it up to the next possible break,
// fits in width columns.
func fits(rest []task, t task, width int) bool {
	work := []task{t}
	for width >= 0 {
		if len(work) == 0 {
			if len(rest) == 0 {
				return true
			}
			work = append(work, rest[len(rest)-1])
			rest = rest[:len(rest)-1]
		}
		t := work[len(work)-1]
		work = work[:len(work)-1]
		switch t.doc.kind {
		case docText:
			first, _, broken := strings.Cut(t.doc.text, "\n")
			width -= utf8.RuneCountInString(first)
			if broken {
				return width >= 0
			}
		case docLine:
			if !t.flat {
				return true
			}
			width -= len(t.doc.text)
		case docHard, docBlank:
			return true
		default:
			work = push(work, t)
		}
	}
	return false
}
