package emit

import (
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/ptxas"
	"github.com/redfoxdb/redfox/weaver/fuse"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestLines compiles programs with the places of rules. The PTX has .loc
// directives with the lines of the program, NVIDIA's assembler takes them, and
// without them the text is that of code without places.
func TestLines(t *testing.T) {
	const dir = "../../testdata/tpch/"
	for _, query := range []string{"q06", "q14"} {
		t.Run(query, func(t *testing.T) {
			p, _, err := fuse.Fuse(loweredFile(t, dir+query+".logic"),
				fuse.Options{Budget: target.GPU(80).Budget})
			if err != nil {
				t.Fatal(err)
			}
			ptx := map[bool]string{}
			for _, lines := range []bool{false, true} {
				code, err := Program(p, Options{Target: target.GPU(80), Lines: lines})
				if err != nil {
					t.Fatal(err)
				}
				image := ptxOf(t, code, 80)
				ptx[lines] = string(image)
				if _, err := ptxas.Find(); err == nil && lines {
					if _, err := ptxas.Assemble(image, "sm_80"); err != nil {
						t.Errorf("%v\n%s", err, image)
					}
				}
			}
			if a, b := withoutLines(ptx[true]), withoutLines(ptx[false]); a != b {
				t.Errorf("places change the code:\n%s", diffOf(a, b))
			}
			if !strings.Contains(ptx[true], query+".logic") ||
				!strings.Contains(ptx[true], "\t.loc\t") {
				t.Errorf("no places:\n%s", ptx[true])
			}
		})
	}
}

var places = regexp.MustCompile(`(?m)^\t\.(loc|file)\t.*\n|^\$L__func_(begin|end)\d+:\n|^\$L__tmp\d+:\n|^\t\.section\t\.debug_loc\t\{\t\}\n|// callseq \d+(, \d+)?`)

// withoutLines removes the directives of places, and the numbers of calls in
// comments, which count other calls, too.
func withoutLines(ptx string) string { return places.ReplaceAllString(ptx, "") }

// diffOf returns the first lines in which two texts differ.
func diffOf(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return strings.Join(x[i:min(i+4, len(x))], "\n") + "\n---\n" +
				strings.Join(y[i:min(i+4, len(y))], "\n")
		}
	}
	return ""
}
