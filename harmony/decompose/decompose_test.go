package decompose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
)

// TestFind runs testdata: the input is a kernel graph, the output its
// decomposable loops and which columns are read after them.
func TestFind(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := harmony.Parse("test.harmony", d.Input)
			if err == nil {
				err = harmony.Verify(p)
			}
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			var b strings.Builder
			for _, l := range Find(p) {
				fmt.Fprintln(&b, l)
				for _, x := range l.Builds {
					fmt.Fprintf(&b, "  builds %s\n", x.Name)
				}
				for c, read := range l.Read {
					if read {
						fmt.Fprintf(&b, "  then %s is read\n", l.Rel.Cols[c].Name)
					}
				}
			}
			if b.Len() == 0 {
				return "none\n"
			}
			return b.String()
		})
	})
}
