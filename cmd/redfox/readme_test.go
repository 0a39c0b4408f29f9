package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// documents returns the paths of the pages at the root and in docs.
func documents(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	return out
}

// TestReadme runs every redfox command line of the documents and compares its
// output with the text below it. With -rewrite it updates that text.
func TestReadme(t *testing.T) {
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, commands := replay(t, "../..", string(text))
		if commands == 0 && strings.HasSuffix(name, "README.md") {
			t.Errorf("%s shows no command", name)
		}
		switch {
		case got == string(text):
		case flag.Lookup("rewrite").Value.String() == "true":
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s shows output that redfox does not print; go test ./cmd/redfox -run TestReadme -rewrite puts in\n%s",
				name, firstDifference(string(text), got))
		}
	}
}

// prompts start the command lines of console blocks that are run.
var prompts = []string{"$ go run ./cmd/redfox ", "$ redfox ", "$ ./redfox "}

// replay returns the document with fresh output under each redfox command line
// of its console blocks. What stands between a command and the next one, or
// the end of the block, is its output.
func replay(t *testing.T, dir, text string) (string, int) {
	var out strings.Builder
	inBlock, inOutput, commands := false, false, 0
	for _, line := range strings.SplitAfter(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inBlock = strings.TrimSpace(line) == "```console"
			inOutput = false
			out.WriteString(line)
		case inBlock && strings.HasPrefix(line, "$ "):
			out.WriteString(line)
			inOutput = false
			for _, prompt := range prompts {
				if rest, ok := strings.CutPrefix(line, prompt); ok {
					o := finish(t, redfoxProcess(t, dir, words(strings.TrimSpace(rest))...))
					out.WriteString(o.stdout + o.stderr)
					inOutput = true
					commands++
				}
			}
		case inBlock && inOutput:
		default:
			out.WriteString(line)
		}
	}
	return out.String(), commands
}

// firstDifference shows the first lines in which two texts differ.
func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range y {
		if i >= len(x) || x[i] != y[i] {
			return strings.Join(y[i:min(len(y), i+10)], "\n")
		}
	}
	return ""
}

// TestReadmePrograms checks every LogiQL block of the documents.
func TestReadmePrograms(t *testing.T) {
	blocks := map[string]int{}
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for rest := string(text); ; blocks[filepath.Base(name)]++ {
			_, after, ok := strings.Cut(rest, "```logiql\n")
			if !ok {
				break
			}
			program, after, _ := strings.Cut(after, "```\n")
			rest = after
			file := write(t, t.TempDir(), "block.logic", program)
			if o := finish(t, redfoxProcess(t, ".", "check", file)); o.code != 0 || o.stderr != "" {
				t.Errorf("%s: this program is not accepted:\n%s\n%s", name, program, o)
			}
		}
	}
	for _, name := range []string{"README.md", "language.md"} {
		if blocks[name] == 0 {
			t.Errorf("%s shows no program", name)
		}
	}
}
