package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

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
	out = append(out, extensionSection(), generatorSection())
	return append(out, aggregationSection(), numberingSection())
}

func aggregationSection() section {
	s := section{
		title: "Aggregations",
		text: "The specifiers of agg<<>>. A head groups by its keys. The examples are about " +
			vocabulary.ReferenceScores,
	}
	for _, a := range vocabulary.Aggregations {
		s.entries = append(s.entries, aggregationEntry(a))
	}
	return s
}

func aggregationEntry(a vocabulary.Aggregation) topicEntry {
	out, _, _ := strings.Cut(a.Form, " ")
	rule := fmt.Sprintf("f[] = %s <- agg<<%s>> %s.", out, a.Form, a.Body())
	return topicEntry{heads: []string{a.Form}, text: a.Doc,
		code: []string{rule, "f[] = " + a.Result}}
}

func numberingSection() section {
	s := section{
		title: "Numbering",
		text:  "Numbers in an order. The examples are about " + vocabulary.ReferenceScores,
	}
	for _, n := range vocabulary.Numberings {
		s.entries = append(s.entries, topicEntry{heads: []string{n.Form}, text: n.Doc,
			code: append(slices.Clone(n.Rules), n.Result)})
	}
	return s
}

func extensionSection() section {
	s := section{
		title: "Extensions",
		text: "Forms that LogiQL does not have. Each example gives x the values after it. The value " +
			"in the head of an aggregate may also be an expression of its results.",
	}
	for _, e := range vocabulary.Extensions {
		s.entries = append(s.entries, extensionEntry(e))
	}
	return s
}

func extensionEntry(e vocabulary.Extension) topicEntry {
	return topicEntry{heads: []string{e.Form}, text: e.Doc,
		code: []string{e.Example + " // " + strings.Join(e.Results, ", ")}}
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
				{heads: []string{"DIR/road.tsv, .csv, .json, .jsonl, .parquet, .arrow, .txt"},
					text: "The facts of the predicate road. A text may end in .gz or .zst as well. " +
						"A .txt or .json file is read if there is no other; tabs separate the " +
						"fields of a .txt file. " +
						"The fields of a text file are the arguments, in order, and the values " +
						"of functions come last."},
				{heads: []string{"DIR/item_price.tsv, DIR/item/price.tsv"},
					text: "The facts of the predicate item:price."},
				{heads: []string{"DIR/item.parquet, or another file whose columns have names"},
					text: "The facts of all predicates item:NAME whose arguments have the names of " +
						"columns. The column of a value may have the name NAME instead."},
			},
		},
		{
			title: "Files of --fact PRED=FILE",
			entries: []topicEntry{
				{heads: []string{"--fact road=more.csv, --fact 'road=more.csv(from, to)'"},
					text: "The facts of the predicate road, also from the columns from and to."},
				{heads: []string{"--fact 'road=part-*.parquet', --fact road=DIR"},
					text: "Those of all files that match, or of all files in the folder. In the " +
						"path of a file, a folder year=2024 is a column year of it."},
				{heads: []string{"--fact road=https://example.com/road.csv, --fact 'road=s3://b/dir/*.parquet'"},
					text: "Those of a file of a server, or of objects of S3. AWS_ACCESS_KEY_ID, " +
						"AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL say who asks where."},
				{heads: []string{"--fact road=-, --fact road=csv:-, --fact road=csv:FILE"},
					text: "Those of standard input, or of a file whose name does not say its " +
						"format: tsv, csv, json, parquet, arrow or sqlite."},
				{heads: []string{"--facts shop.sqlite, --fact 'sale=shop.sqlite#sales'"},
					text: "Those of the tables of an SQLite database, by their names, or of one " +
						"table."},
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
			text: "An empty field of a text, or a null of another file, in the value of a " +
				"function means that its key has no value. Elsewhere it is an error. The empty " +
				"string is \"\" in a CSV file and an empty field in a TSV file. With --null TEXT, " +
				"the field TEXT means a missing value, and an empty field of a string is the " +
				"empty string in both.",
		},
		{
			title: "Entities",
			text: "The value of a refmode stands for its entity. An entity of a constructor " +
				"is its term, such as cons[1, nil[]], as results show it.",
		},
		{
			title: "Quotes and escapes",
			text: "A field of a CSV file may stand in double quotes, with double quotes doubled " +
				"inside. In a TSV file \\t, \\n, \\r and \\\\ stand for a tab, the ends of lines " +
				"and a backslash.",
		},
	}
}

// entryOf returns the entry of a word of the language.
func entryOf(name string) (topicEntry, bool) {
	if e, ok := scalar.EntryOf(name); ok {
		return functionEntry(e), true
	}
	if e, ok := vocabulary.ExtensionOf(name); ok {
		return extensionEntry(e), true
	}
	if a, ok := vocabulary.AggregationOf(name); ok {
		return aggregationEntry(a), true
	}
	for _, g := range vocabulary.Generators {
		if g.Name == name {
			return generatorEntry(g), true
		}
	}
	return topicEntry{}, false
}

// sectionOf returns the section of a word that stands before <<>>, and of the
// function of seq<<>>.
func sectionOf(name string) (section, bool) {
	switch name {
	case "agg":
		return aggregationSection(), true
	case "seq", "number":
		return numberingSection(), true
	}
	return section{}, false
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

// entriesNamed returns the entries about a type, an aggregation, a directive, a
// warning or an operator: those whose first line has the name as a word.
func entriesNamed(name string) []topicEntry {
	isWord := func(r rune) bool {
		return r == ':' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	var out []topicEntry
	for _, t := range topics() {
		for _, s := range t.sections {
			switch s.title {
			case "Operators", "Aggregations", "Types", "Directives", "Warnings":
			default:
				continue
			}
			for _, e := range s.entries {
				heads := strings.Join(e.heads, " ")
				words := append(strings.Fields(heads), strings.FieldsFunc(heads, func(r rune) bool {
					return !isWord(r)
				})...)
				// The heads of operators name types, the other heads variables.
				isOther := isWord([]rune(name)[0]) && (s.title == "Operators" || len(name) == 1)
				if slices.Contains(words, name) && !isOther {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// topicHelp is the text of redfox help TOPIC.
func topicHelp(t topic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "redfox help %s: %s.\n", t.name, t.usage)
	for _, s := range t.sections {
		b.WriteString("\n" + sectionHelp(s))
	}
	return b.String()
}

// sectionHelp is the text of a section of a topic.
func sectionHelp(s section) string {
	var b strings.Builder
	b.WriteString(s.title + ":\n")
	if s.text != "" {
		b.WriteString(indent(wrapAt(s.text, helpWidth-4)) + "\n")
	}
	for _, e := range s.entries {
		b.WriteString(entryHelp(e))
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
