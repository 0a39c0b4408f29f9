package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// helpWidth is how wide help is set.
const helpWidth = 80

// groups orders the groups of flags in help.
var groups = []string{groupBench, groupProgram, groupFacts, groupTransactions, groupResults,
	groupEngine, groupCompiler, groupMessages}

// init has cli print the pages of redfox help. Pages as templates of cli would
// all be made whenever redfox starts, which takes longer than many a run.
func init() {
	cli.HelpPrinter = func(w io.Writer, _ string, about any) {
		switch about := about.(type) {
		case *cli.App:
			fmt.Fprint(w, appHelp(about))
		case *cli.Command:
			fmt.Fprint(w, commandHelp(about))
		}
	}
}

// helpCommand replaces cli's own, so that help looks the same whichever way it
// is asked for.
func helpCommand(con *console) *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "print this list, or help about a command, a topic or a word of the language",
		ArgsUsage: "[COMMAND | TOPIC | WORD]",
		BashComplete: func(c *cli.Context) {
			for _, name := range helpNames(c.App) {
				fmt.Fprintln(con.out, name)
			}
		},
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				fmt.Fprint(con.out, appHelp(c.App))
				return nil
			}
			name := c.Args().First()
			if cmd := c.App.Command(name); cmd != nil {
				fmt.Fprint(con.out, commandHelp(cmd))
				return nil
			}
			for _, t := range topics() {
				if t.name == name {
					fmt.Fprint(con.out, topicHelp(t))
					return nil
				}
			}
			if s, ok := sectionOf(name); ok {
				fmt.Fprint(con.out, sectionHelp(s))
				return nil
			}
			if e, ok := entryOf(name); ok {
				fmt.Fprint(con.out, entryHelp(e))
				return nil
			}
			if entries := entriesNamed(name); len(entries) > 0 {
				for _, e := range entries {
					fmt.Fprint(con.out, entryHelp(e))
				}
				return nil
			}
			err := noCommand(c)
			if e := new(usageError); errors.As(err, &e) && e.help == "" {
				e.message, e.help = fmt.Sprintf("there is no page about %q", name), otherHelp(name)
			}
			return err
		},
	}
}

// otherHelp says where there is help about a name that is no topic.
func otherHelp(name string) string {
	if code := diag.Lookup(name); code != nil {
		return "did you mean redfox explain " + code.ID + "?"
	}
	directives := slices.DeleteFunc(vocabulary.DirectiveNames(),
		func(whole string) bool { return !strings.HasSuffix(whole, ":"+name) })
	if names := append(directives, scalar.WithLastName(name)...); len(names) > 0 {
		return "did you mean redfox help " + strings.Join(names, " or ") + "?"
	}
	return "redfox help functions, types and directives list the words of the language"
}

// helpNames lists what help has pages about: commands, topics and functions.
func helpNames(app *cli.App) []string {
	var out []string
	for _, cmd := range app.Commands {
		out = append(out, cmd.Name)
	}
	for _, t := range topics() {
		out = append(out, t.name)
	}
	for _, e := range vocabulary.Extensions {
		out = append(out, e.Words...)
	}
	for _, g := range vocabulary.Generators {
		if g.Name != "" {
			out = append(out, g.Name)
		}
	}
	out = append(append(out, "agg", "seq", "number"), vocabulary.AggregationNames()...)
	return append(out, scalar.Names()...)
}

// appHelp is the text of redfox help.
func appHelp(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, "redfox: %s.\n\nUsage:\n%s\n\n%s\n\nCommands:\n", app.Usage,
		indent(app.UsageText), wrap(app.Description))
	for _, cmd := range app.Commands {
		fmt.Fprintf(&b, "    %-10s %s\n", cmd.Name, cmd.Usage)
	}
	b.WriteString("\nPages about the language, for redfox help:\n")
	for _, t := range topics() {
		fmt.Fprintf(&b, "    %-10s %s\n", t.name, t.usage)
	}
	return b.String()
}

// commandHelp is the text of redfox help COMMAND.
func commandHelp(cmd *cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "redfox %s: %s.\n\nUsage:\n    redfox %s", cmd.Name, cmd.Usage, cmd.Name)
	// cli adds its flag for help to all commands.
	if slices.ContainsFunc(cmd.Flags, func(f cli.Flag) bool { return f != cli.HelpFlag }) {
		b.WriteString(" [FLAGS]")
	}
	if cmd.ArgsUsage != "" {
		b.WriteString(" " + cmd.ArgsUsage)
	}
	b.WriteString("\n")
	for _, part := range strings.Split(cmd.Description, "\n\n") {
		switch examples, ok := strings.CutPrefix(part, examplesMark); {
		case part == "":
		case ok:
			fmt.Fprintf(&b, "\nExamples:\n%s\n", indent(examples))
		default:
			fmt.Fprintf(&b, "\n%s\n", wrap(part))
		}
	}
	for _, group := range groups {
		var list []string
		for _, f := range cmd.Flags {
			if c, ok := f.(cli.CategorizableFlag); ok && c.GetCategory() == group {
				list = append(list, flagHelp(f))
			}
		}
		if len(list) > 0 {
			fmt.Fprintf(&b, "\n%s:\n%s", group, strings.Join(list, ""))
		}
	}
	return b.String()
}

// examplesMark starts the paragraph of a description that holds command lines.
const examplesMark = "Examples:\n"

// placeholder is the name of a flag's value in its usage text.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`([^`]+)`")
})

// flagHelp is the entry of a flag: its names and value, then what it does.
func flagHelp(f cli.Flag) string {
	head, text := flagWords(f)
	if head == "" {
		return ""
	}
	lines := strings.ReplaceAll(wrapAt(text, helpWidth-8), "\n", "\n        ")
	return fmt.Sprintf("    %s\n        %s\n", head, lines)
}

// flagWords returns the names of a flag with its value, and what it does.
func flagWords(f cli.Flag) (head, text string) {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	var names []string
	for _, n := range slices.Backward(f.Names()) {
		if len(n) == 1 {
			names = append(names, "-"+n)
		} else {
			names = append(names, "--"+n)
		}
	}
	usage, value := doc.GetUsage(), ""
	if m := placeholder().FindStringSubmatch(usage); m != nil {
		value = m[1]
		usage = placeholder().ReplaceAllString(usage, "$1")
		if isSwitch(f) {
			value = "[=" + value + "]"
		} else {
			value = " " + value
		}
	}
	if s, ok := f.(cli.DocGenerationSliceFlag); ok && s.IsSliceFlag() {
		usage += "; may be repeated"
	}
	if text := strings.Trim(doc.GetDefaultText(), `"`); text != "" && !isSwitch(f) {
		usage += " (default: " + text + ")"
	}
	return strings.Join(names, ", ") + value, usage
}

// isSwitch reports whether a flag stands without a value.
func isSwitch(f cli.Flag) bool {
	switch f := f.(type) {
	case *cli.BoolFlag:
		return true
	case *cli.GenericFlag:
		b, ok := f.Value.(interface{ IsBoolFlag() bool })
		return ok && b.IsBoolFlag()
	}
	return false
}

// wrap breaks the lines of a text that are wider than help is set.
func wrap(text string) string { return wrapAt(text, helpWidth) }

// wrapAt fills a paragraph into lines of at most so many columns.
func wrapAt(text string, limit int) string {
	var out strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		width := utf8.RuneCountInString(word)
		switch {
		case column == 0:
		case column+1+width > limit:
			out.WriteByte('\n')
			column = 0
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(word)
		column += width
	}
	return out.String()
}

// indent sets a text off by four blanks.
func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "    " + line
		}
	}
	return strings.Join(lines, "\n")
}
