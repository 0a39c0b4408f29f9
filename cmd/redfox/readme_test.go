package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
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

// TestReadme compares what the documents show with what redfox does: the output
// of each command line in a console block, the canonical form of each program
// in a logiql block, the files that such blocks name, and the answers of the
// program before each answer block, conversations at the prompt, and the files
// that text blocks name. With -rewrite it updates the documents.
func TestReadme(t *testing.T) {
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := replay{t: t, dir: "../.."}
		got := r.document(string(text))
		if r.commands == 0 && strings.HasSuffix(name, "README.md") {
			t.Errorf("%s shows no command", name)
		}
		switch {
		case got == string(text):
		case flag.Lookup("rewrite").Value.String() == "true":
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s shows what redfox does not print; go test ./cmd/redfox -run TestReadme -rewrite puts in\n%s",
				name, firstDifference(string(text), got))
		}
	}
}

// prompts start the command lines of console blocks that are run.
var prompts = []string{"$ go run ./cmd/redfox ", "$ redfox ", "$ ./redfox "}

// replay makes the parts of a document that redfox determines.
type replay struct {
	t        *testing.T
	dir      string // where the commands run
	commands int    // that have run
	program  string // of the last logiql block
}

// document returns the text of a document with fresh blocks.
func (r *replay) document(text string) string {
	var out, block strings.Builder
	fence := "" // the line that opens the current block
	for line := range strings.Lines(text) {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = line
			out.WriteString(line)
		case fence == "":
			out.WriteString(line)
		case strings.HasPrefix(line, "```"):
			out.WriteString(r.block(strings.TrimSpace(fence[3:]), block.String()) + line)
			fence = ""
			block.Reset()
		default:
			block.WriteString(line)
		}
	}
	return out.String() + block.String()
}

// block returns the contents of a block whose fence has some words.
func (r *replay) block(fence, text string) string {
	kind, file, _ := strings.Cut(fence, " ")
	switch kind {
	case "console":
		return r.console(text)
	case "logiql":
		if file != "" {
			written, err := os.ReadFile(filepath.Join(r.dir, file))
			if err != nil {
				r.t.Fatal(err)
			}
			r.program = string(written)
			return r.program
		}
		r.program = text
		o := finish(r.t, redfoxProcess(r.t, ".", "fmt", r.file()))
		if o.code == 0 {
			r.program = o.stdout
		}
		return r.program
	case "text":
		if file != "" {
			written, err := os.ReadFile(filepath.Join(r.dir, file))
			if err != nil {
				r.t.Fatal(err)
			}
			return string(written)
		}
	case "answer":
		file := r.file()
		o := finish(r.t, redfoxProcess(r.t, filepath.Dir(file), "run", filepath.Base(file)))
		return o.stdout + o.stderr
	}
	return text
}

// file writes the last program to a file and returns its path.
func (r *replay) file() string {
	return write(r.t, r.t.TempDir(), "program.logic", r.program)
}

// console returns a console block with fresh output under each command line of
// redfox. The output of a command ends before the next one.
func (r *replay) console(text string) string {
	var out strings.Builder
	inOutput := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "$ redfox repl "):
			return out.String() + r.conversation(line, text)
		case strings.HasPrefix(line, "$ "):
			out.WriteString(line)
			inOutput = false
			for _, prompt := range prompts {
				if rest, ok := strings.CutPrefix(line, prompt); ok {
					args := words(strings.TrimSpace(rest))
					o := finish(r.t, redfoxProcess(r.t, r.dir, args...))
					out.WriteString(o.stdout + o.stderr)
					inOutput = true
					r.commands++
				}
			}
		case !inOutput:
			out.WriteString(line)
		}
	}
	return out.String()
}

// conversation returns a conversation at the prompt, which is the rest of its
// block, with fresh answers. The answer to an input is what one more input adds
// to those before it.
func (r *replay) conversation(line, text string) string {
	args := words(strings.TrimSpace(strings.TrimPrefix(line, "$ redfox ")))
	var inputs []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "redfox> ") {
			inputs = append(inputs, line)
		} else if strings.HasPrefix(line, "     .. ") && len(inputs) > 0 {
			inputs[len(inputs)-1] += line
		}
	}
	out, typed := line, ""
	var before outcome
	for _, input := range inputs {
		typed += strings.NewReplacer("redfox> ", "", "     .. ", "").Replace(input)
		cmd := redfoxProcess(r.t, r.dir, args...)
		cmd.Stdin = strings.NewReader(typed)
		o := finish(r.t, cmd)
		out += input + strings.TrimPrefix(o.stdout, before.stdout) +
			strings.TrimPrefix(o.stderr, before.stderr)
		before = o
	}
	r.commands++
	return out
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

// TestReadmePrograms checks every LogiQL block of the documents. A block that
// names a file is part of a program, which a command of the document runs.
func TestReadmePrograms(t *testing.T) {
	blocks := map[string]int{}
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for rest := string(text); ; blocks[filepath.Base(name)]++ {
			_, after, ok := strings.Cut(rest, "\n```logiql")
			if !ok {
				break
			}
			part, after, _ := strings.Cut(after, "\n")
			program, after, _ := strings.Cut(after, "```\n")
			rest = after
			if part = strings.TrimSpace(part); part != "" {
				if !regexp.MustCompile(`(?m)^\$ .*` + regexp.QuoteMeta(part)).Match(text) {
					t.Errorf("%s: no command runs %s", name, part)
				}
				continue
			}
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
