package shape

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/target"
)

// facts are what a test's program knows: columns of 4 bytes, keys of a form,
// words within bounds.
type facts struct {
	form    string
	bits    int64 // of a key's column
	size    int64 // of groups and indexes
	bounds  int64 // words are from 1 to this; 0: nothing is known
	crowded bool
}

var formNames = map[string]abi.Form{"none": abi.None, "direct": abi.Direct, "hash": abi.Hash,
	"wide": abi.Wide, "ordered": abi.Ordered}

func (k facts) fix(entry string, p abi.Param) (int64, bool) {
	switch p.Kind {
	case abi.SetForm, abi.IndexForm, abi.GroupForm:
		return int64(formNames[k.form]), true
	case abi.SetShift, abi.IndexShift, abi.GroupShift:
		return k.bits * int64(p.Index), true
	case abi.SetBits, abi.IndexBits, abi.GroupBits:
		return k.bits, true
	case abi.GroupSize, abi.IndexSize:
		return k.size, true
	case abi.GroupCrowded:
		return 1, k.crowded
	}
	return fixAll(entry, p)
}

func (k facts) words(r *harmony.Reg) (lo, hi int64, ok bool) {
	return 1, k.bounds, r.Row == nil && k.bounds > 0
}

// TestShapes prints the shapes of testdata/shapes, and reads them again.
//
//	shape [gpu] [form=direct] [bits=10] [size=1000] [bounds=1000] [crowded] [cut]
//
// Without a form nothing is known of the facts. The directive parse gives the
// error of reading shapes for the program of the last shape directive, with its
// facts.
func TestShapes(t *testing.T) {
	var graph string
	var options Options
	datadriven.RunTest(t, "testdata/shapes", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "parse" {
			if _, err := Parse("text", d.Input+"\n", parse(t, graph), options); err != nil {
				return err.Error() + "\n"
			}
			return "ok\n"
		}
		graph = d.Input
		p := parse(t, graph)
		options = Options{Target: target.CPU(), Cut: d.HasArg("cut")}
		if d.HasArg("gpu") {
			options.Target = target.GPU(90)
		}
		if k := (facts{bits: 10, size: 1000, crowded: d.HasArg("crowded")}); d.HasArg("form") {
			d.ScanArgs(t, "form", &k.form)
			d.MaybeScanArgs(t, "bits", &k.bits)
			d.MaybeScanArgs(t, "size", &k.size)
			d.MaybeScanArgs(t, "bounds", &k.bounds)
			options.Fix, options.Range = k.fix, k.words
		}
		shapes, err := Choose(p, options)
		if err != nil {
			return err.Error() + "\n"
		}
		text := shapes.String()
		again, err := Parse("text", text, p, options)
		if err != nil {
			t.Fatalf("%s: %v\n%s", d.Pos, err, text)
		}
		if got := again.String(); got != text {
			t.Fatalf("%s: the text is read as\n%s\nnot\n%s", d.Pos, got, text)
		}
		return text
	})
}

func parse(t *testing.T, text string) *harmony.Program {
	t.Helper()
	p, err := harmony.Parse("test.harmony", text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReasons wants different names, and a clause for each.
func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Reasons() {
		if seen[r.Name] || r.Doc == "" || strings.HasSuffix(r.Doc, ".") {
			t.Errorf("the reason %q, %q", r.Name, r.Doc)
		}
		seen[r.Name] = true
	}
}
