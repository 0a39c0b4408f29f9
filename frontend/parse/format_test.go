package parse_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/internal/short"
)

// TestFormatKeepsCommentsAnywhere puts comments at every place of some clauses,
// alone and in pairs, and checks that formatting keeps them and its promises.
func TestFormatKeepsCommentsAnywhere(t *testing.T) {
	const program = "a[k] = v, b(k; x) <- agg<<v = total(x), n = count()>> p(x, -1), !(q(x:\"s\"); y < f[x] + 2 <= 3).\n" +
		"g(`{ r(x) -> int[8](x). s(1). }), t(x) { u[] = 1, w[] = 2 }.\ne(x) -> .\n" +
		"long_predicate_name[x] = first_summand[x] * first_factor[x] + second_summand[x] * second_factor[x] / third[x].\n"
	comments := []string{"/* c */", "// c\n", "\n// c\n", "\n/* c */ ", " /* c */\n",
		"/* c */ // d\n"}
	seconds := short.Part(t, comments[:3], "second comments")
	tried := 0
	for i := 0; i <= len(program); i++ {
		for _, first := range comments {
			text := program[:i] + first + program[i:]
			if file, diags := parseText(text); len(diags) == 0 && len(file.Comments) > 0 {
				checkFormat(t, file)
				tried++
			}
			// A second comment one byte on is often behind the next token.
			for _, second := range seconds {
				if i == len(program) {
					break
				}
				text := program[:i] + first + program[i:i+1] + second + program[i+1:]
				if file, diags := parseText(text); len(diags) == 0 && len(file.Comments) > 1 {
					checkFormat(t, file)
					tried++
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d placements were legal", tried)
	}
}

// TestFormatWholePrograms formats the programs of the project.
func TestFormatWholePrograms(t *testing.T) {
	for _, root := range []string{"../../testdata", "../sema/testdata"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".logic") {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			file, diags := parseText(string(b))
			if len(diags) == 0 {
				t.Run(path, func(t *testing.T) { checkFormat(t, file) })
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFormatOfNothing checks the smallest files.
func TestFormatOfNothing(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		" \n\n":                               "",
		"\ufeffp(1).":                         "p(1).\n",
		"// c":                                "// c\n",
		"/* c */\n\n":                         "/* c */\n",
		"p(1).\r\n\r\n\r\n// c \r\nq(1).\r\n": "p(1).\n\n// c\nq(1).\n",
	} {
		file, diags := parseText(text)
		if len(diags) > 0 {
			t.Errorf("%q: %s", text, rendered(t, diags))
		}
		if got := ast.Format(file); got != want {
			t.Errorf("Format(%q) = %q, want %q", text, got, want)
		}
	}
}
