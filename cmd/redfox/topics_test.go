package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/vocabulary"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// reference is the page that has the topics of help.
const reference = "../../docs/reference.md"

// TestReference compares the page of the reference with the tables of the
// checker. With -rewrite it writes the page.
func TestReference(t *testing.T) {
	want := markdown()
	text, err := os.ReadFile(reference)
	switch {
	case err == nil && string(text) == want:
	case flag.Lookup("rewrite").Value.String() == "true":
		if err := os.WriteFile(reference, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("docs/reference.md is not what the tables say; "+
			"go test ./cmd/redfox -run TestReference -rewrite puts in\n%s",
			firstDifference(string(text), want))
	}
}

// markdown is the text of the reference.
func markdown() string {
	var b strings.Builder
	b.WriteString("# Reference\n\nThis page is generated from the tables that the checker uses. " +
		"`redfox help functions`,\n`types`, `directives` and `facts` print the same, and " +
		"`redfox help string:like` prints one entry.\n[language.md](language.md) explains the " +
		"language.\n")
	for _, topic := range topics() {
		fmt.Fprintf(&b, "\n## %s%s\n\n%s%s.\n", strings.ToUpper(topic.name[:1]), topic.name[1:],
			strings.ToUpper(topic.usage[:1]), topic.usage[1:])
		for _, s := range topic.sections {
			if len(topic.sections) > 1 {
				fmt.Fprintf(&b, "\n### %s\n", s.title)
			}
			if s.text != "" {
				fmt.Fprintf(&b, "\n%s\n", wrapAt(s.text, 90))
			}
			for _, e := range s.entries {
				b.WriteString("\n" + markdownEntry(e))
			}
		}
	}
	return b.String()
}

// markdownEntry is one entry of the reference: what a program writes, what it
// means, and examples.
func markdownEntry(e topicEntry) string {
	var heads []string
	for _, head := range e.heads {
		if strings.Contains(head, "`") {
			heads = append(heads, "`` "+head+" ``")
		} else {
			heads = append(heads, "`"+head+"`")
		}
	}
	text := e.text
	if len(e.names) > 0 {
		text += " Also `" + strings.Join(e.names, "`, `") + "`."
	}
	out := wrapAt(strings.Join(heads, ", "), 90) + "\\\n" + wrapAt(text, 90) + "\n"
	if len(e.code) > 0 {
		out += "\n" + indent(strings.Join(e.code, "\n")) + "\n"
	}
	return out
}

// TestManualListsFunctions compares the names that help lists with those that
// programs may call.
func TestManualListsFunctions(t *testing.T) {
	name := regexp.MustCompile(`[a-z0-9]+:[a-z0-9_:]+`)
	listed := map[string]bool{}
	for _, s := range functionSections() {
		if s.title == generatorSection().title || s.title == extensionSection().title {
			continue
		}
		for _, e := range s.entries {
			for _, text := range append(slices.Clone(e.heads), e.names...) {
				if n := name.FindString(text); n != "" {
					listed[n] = true
				}
			}
		}
	}
	for _, n := range scalar.Names() {
		if !listed[n] {
			t.Errorf("%s is not listed", n)
		}
		delete(listed, n)
	}
	for n := range listed {
		t.Errorf("%s is listed, but programs cannot call it", n)
	}
}

// TestManualExamples runs each example of a function, an aggregation and a
// numbering as a rule, and requires that all hold.
func TestManualExamples(t *testing.T) {
	var program, want strings.Builder
	program.WriteString(vocabulary.ReferenceScores + "\nholds(n) -> int(n).\n")
	n := 0
	example := func(condition string) {
		fmt.Fprintf(&program, "holds(%d) <- %s.\n", n, condition)
		fmt.Fprintf(&want, "%d\n", n)
		n++
	}
	for _, chapter := range scalar.Manual() {
		for _, e := range chapter.Entries {
			if len(e.Examples)+len(e.Without) == 0 && !strings.Contains(e.Forms[0], "now[]") &&
				!strings.HasPrefix(e.Forms[0], "-") {
				t.Errorf("%s has no example", e.Forms[0])
			}
			for _, text := range e.Examples {
				example(text)
			}
		}
	}
	for _, a := range vocabulary.Aggregations {
		out, _, _ := strings.Cut(a.Form, " ")
		fmt.Fprintf(&program, "by_%s[] = %s <- agg<<%s>> %s.\n", a.Name, out, a.Form, a.Body())
		example(fmt.Sprintf("by_%s[] = %s", a.Name, a.Result))
	}
	for _, n := range vocabulary.Numberings {
		program.WriteString(strings.Join(n.Rules, "\n") + "\n")
		example(n.Result)
	}
	program.WriteString("lang:compiler:warning:SINGLE_OCCURRENCE[] = false.\n")
	file := write(t, t.TempDir(), "examples.logic", program.String())
	o := finish(t, redfoxProcess(t, ".", "run", file, "--print", "holds", "--format", "tsv"))
	if o.code != 0 || o.stderr != "" || o.stdout != want.String() {
		t.Errorf("not all examples hold:\n%s\n%s\n%s", program.String(), o, want.String())
	}
}

// TestManualGenerators runs the example of each generator.
func TestManualGenerators(t *testing.T) {
	for _, g := range vocabulary.Generators {
		if g.Name != "" && !scalar.IsBuiltin(g.Name) {
			t.Errorf("%s is no name of the language", g.Name)
		}
		gives(t, g.Example, g.Results)
	}
}

// TestManualExtensions runs the example of each extension.
func TestManualExtensions(t *testing.T) {
	for _, e := range vocabulary.Extensions {
		gives(t, e.Example, e.Results)
	}
}

// gives runs a condition on x, and compares the values that x has.
func gives(t *testing.T, condition string, results []string) {
	t.Helper()
	program := "_(x) <- " + condition + ".\n"
	file := write(t, t.TempDir(), "condition.logic", program)
	o := finish(t, redfoxProcess(t, ".", "run", file, "--format", "tsv"))
	want := strings.Join(results, "\n") + "\n"
	if o.code != 0 || o.stderr != "" || o.stdout != want {
		t.Errorf("%s\n%s\nwant %s", program, o, want)
	}
}

// TestManualLiterals gives each literal of a type to a column of each type that
// the entry names.
func TestManualLiterals(t *testing.T) {
	var program strings.Builder
	for i, ty := range vocabulary.Types {
		for j, name := range strings.Split(strings.ReplaceAll(ty.Name, ",2", ";2"), ", ") {
			name = strings.ReplaceAll(name, ";", ",")
			fmt.Fprintf(&program, "t%d_%d(x) -> %s(x).\n", i, j, name)
			for _, literal := range ty.Literals {
				if len(literal) < 8 || !strings.HasPrefix(name, "uint[") {
					fmt.Fprintf(&program, "t%d_%d(%s).\n", i, j, literal)
				}
			}
		}
	}
	file := write(t, t.TempDir(), "literals.logic", program.String())
	if o := finish(t, redfoxProcess(t, ".", "run", file)); o.code != 0 {
		t.Errorf("%s\n%s", program.String(), o)
	}
}

// TestManualDirectives checks the example of each directive.
func TestManualDirectives(t *testing.T) {
	dir := t.TempDir()
	for _, d := range vocabulary.Directives {
		if !strings.HasPrefix(d.Form, d.Name) || !strings.Contains(d.Example, d.Name) {
			t.Errorf("%s has a form or an example of another directive", d.Name)
		}
		file := write(t, dir, "directive.logic", d.Example)
		if o := finish(t, redfoxProcess(t, ".", "check", file)); o.code != 0 || o.stdout != "" {
			t.Errorf("%s: %s\n%s", d.Name, d.Example, o)
		}
	}
}
