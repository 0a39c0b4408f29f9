package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// topic is a page of help about the language. docs/reference.md has the same
// pages.
type topic struct {
	name, usage string
	sections    []section
}

// section is a part of a topic. Its entries are in order.
type section struct {
	title   string
	text    string
	entries []topicEntry
}

// topicEntry is one word of the language, or words that belong together.
type topicEntry struct {
	heads []string // what a program writes
	text  string   // what it means
	names []string // other names
	code  []string // examples
}

// topics returns the pages about the language, from the tables of the checker.
func topics() []topic {
	return []topic{
		{"functions", "operators, functions and aggregations", functionSections()},
		{"types", "primitive types, their literals, and their form in files", typeSections()},
		{"directives", "directives and warnings", directiveSections()},
		{"facts", "how predicates get facts from files", factSections()},
	}
}

func functionSections() []section {
	var out []section
	for _, chapter := range scalar.Manual() {
		s := section{title: chapter.Title}
		for _, e := range chapter.Entries {
			s.entries = append(s.entries, functionEntry(e))
		}
		out = append(out, s)
	}
	out = append(out, generatorSection())
	aggregations := section{
		title: "Aggregations",
		text: "The specifiers of agg<<>>. A head groups by its keys. The examples are about " +
			vocabulary.ReferenceScores,
	}
	for _, a := range vocabulary.Aggregations {
		out, _, _ := strings.Cut(a.Form, " ")
		rule := fmt.Sprintf("f[] = %s <- agg<<%s>> score[_] = x.", out, a.Form)
		if a.Name == "count" {
			rule = fmt.Sprintf("f[] = %s <- agg<<%s>> score[_] = _.", out, a.Form)
		}
		aggregations.entries = append(aggregations.entries, topicEntry{
			heads: []string{a.Form}, text: a.Doc, code: []string{rule, "f[] = " + a.Result},
		})
	}
	return append(out, aggregations)
}

func generatorSection() section {
	s := section{
		title: "Generators",
		text: "Conditions that give a variable several values. Each example gives x the values " +
			"after it.",
	}
	for _, g := range vocabulary.Generators {
		s.entries = append(s.entries, generatorEntry(g))
	}
	return s
}

func generatorEntry(g vocabulary.Generator) topicEntry {
	return topicEntry{heads: []string{g.Form}, text: g.Doc,
		code: []string{g.Example + " // " + strings.Join(g.Results, ", ")}}
}

func functionEntry(e scalar.Entry) topicEntry {
	entry := topicEntry{heads: e.Forms, text: e.Doc, names: e.Names, code: e.Examples}
	for _, call := range e.Without {
		entry.code = append(entry.code, call+" has no value")
	}
	return entry
}

func typeSections() []section {
	s := section{title: "Types"}
	for _, t := range vocabulary.Types {
		s.entries = append(s.entries, topicEntry{
			heads: []string{t.Name},
			text:  t.Doc + " In a file: " + t.Field + ".",
			code:  t.Literals,
		})
	}
	return []section{s}
}

func directiveSections() []section {
	directives := section{
		title: "Directives",
		text: "A directive is a fact about a predicate, whose name follows a backquote. Other " +
			"lang:physical directives have no effect; a note says so.",
	}
	for _, d := range vocabulary.Directives {
		directives.entries = append(directives.entries, topicEntry{
			heads: []string{d.Form}, text: d.Doc,
			code: strings.Split(strings.TrimSpace(d.Example), "\n"),
		})
	}
	warnings := section{
		title: "Warnings",
		text: "The names of warnings for lang:compiler directives, and their codes. " +
			"`redfox explain CODE` has an example and its cure.",
	}
	for _, w := range vocabulary.Warnings {
		warnings.entries = append(warnings.entries,
			topicEntry{heads: []string{w.Name}, text: w.Code.ID + ": " + w.Code.When})
	}
	return []section{directives, warnings}
}

func factSections() []section {
	return []section{
		{
			title: "Files of --facts DIR",
			entries: []topicEntry{
				{heads: []string{"DIR/road.tsv, DIR/road.csv, DIR/road.parquet, DIR/road.txt"},
					text: "The facts of the predicate road. A file may end in .gz or .zst as well. " +
						"A .txt file is read if there is no other; tabs separate its fields. " +
						"The fields of a text file are the arguments, in order, and the values " +
						"of functions come last."},
				{heads: []string{"DIR/item_price.tsv, DIR/item/price.tsv"},
					text: "The facts of the predicate item:price."},
				{heads: []string{"DIR/item.parquet, or DIR/item.csv with --header"},
					text: "The facts of all predicates item:NAME whose arguments have the names of " +
						"columns. The column of a value may have the name NAME instead."},
			},
		},
		{title: "Flags", entries: flagEntries(groupFacts)},
		{
			title: "In the program",
			text: "lang:physical:filePath and its siblings bind a predicate to a file: redfox " +
				"help directives. Facts in the program and from files are united. Only a " +
				"predicate without rules takes facts from files.",
		},
		{
			title: "Missing values",
			text: "An empty field of a text file, or a NULL of a Parquet file, in the value of a " +
				"function means that its key has no value. Elsewhere it is an error. In a column " +
				"of strings an empty field is the empty string.",
		},
		{
			title: "Quotes and escapes",
			text: "A field of a CSV file may stand in double quotes, with double quotes doubled " +
				"inside. In a TSV file \\t, \\n, \\r and \\\\ stand for a tab, the ends of lines " +
				"and a backslash.",
		},
	}
}

// flagEntries describes the flags of a group.
func flagEntries(group string) []topicEntry {
	var out []topicEntry
	for _, newFlag := range flagTable {
		f := newFlag()
		if c, ok := f.(cli.CategorizableFlag); ok && c.GetCategory() == group {
			head, text := flagWords(f)
			out = append(out, topicEntry{heads: []string{head}, text: text + "."})
		}
	}
	return out
}

// topicHelp is the text of redfox help TOPIC.
func topicHelp(t topic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "redfox help %s: %s.\n", t.name, t.usage)
	for _, s := range t.sections {
		fmt.Fprintf(&b, "\n%s:\n", s.title)
		if s.text != "" {
			b.WriteString(indent(wrapAt(s.text, helpWidth-4)) + "\n")
		}
		for _, e := range s.entries {
			b.WriteString(entryHelp(e))
		}
	}
	return b.String()
}

// entryHelp is the text of one entry of a topic.
func entryHelp(e topicEntry) string {
	var b strings.Builder
	b.WriteString(indent(strings.Join(e.heads, "\n")) + "\n")
	text := wrapAt(e.text, helpWidth-8)
	if len(e.names) > 0 {
		text += "\n" + wrapAt("Also "+strings.Join(e.names, ", ")+".", helpWidth-8)
	}
	b.WriteString(indent(indent(text)) + "\n")
	if len(e.code) > 0 {
		b.WriteString(indent(indent(indent(strings.Join(e.code, "\n")))) + "\n")
	}
	return b.String()
}
