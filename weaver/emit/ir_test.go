package emit

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
)

// TestIR prints what testdata/ir's programs become: the entries, and then LLVM IR
// without declarations.
//
//	emit [gpu] [items=32] [fixed]
//
// With fixed, columns have 4 bytes and keys of 10 bits each are of form Direct.
func TestIR(t *testing.T) {
	datadriven.RunTest(t, "testdata/ir", func(t *testing.T, d *datadriven.TestData) string {
		o := Options{Target: CPU()}
		if d.HasArg("gpu") {
			o.Target = GPU(90)
		}
		d.MaybeScanArgs(t, "items", &o.Target.Items)
		if d.HasArg("fixed") {
			o.Fix = fixAll
		}
		var first string
		for i := range 2 {
			p, err := harmony.Parse("test.harmony", d.Input)
			if err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
			code, err := Program(p, o)
			if err != nil {
				return err.Error() + "\n"
			}
			text := code.Module.String() + definitions(code.IR)
			if i == 0 {
				first = text
			} else if text != first {
				t.Fatalf("%s: the same program gives different code:\n%s\n%s", d.Pos, first, text)
			}
		}
		return first
	})
}

func fixAll(_ string, p abi.Param) (int64, bool) {
	switch p.Kind {
	case abi.ColumnWidth, abi.ValuesWidth:
		return 4, true
	case abi.ColumnBase, abi.SetBase, abi.IndexBase, abi.GroupBase, abi.GroupShared:
		return 0, true
	case abi.ColumnStep:
		return 1, true
	case abi.SetForm, abi.IndexForm, abi.GroupForm:
		return int64(abi.Direct), true
	case abi.SetShift, abi.IndexShift, abi.GroupShift:
		return 10 * int64(p.Index), true
	case abi.SetBits, abi.IndexBits, abi.GroupBits:
		return 10, true
	}
	return 0, false
}

// definitions leaves declarations out.
func definitions(ir string) string {
	var b strings.Builder
	for line := range strings.Lines(ir) {
		if !strings.HasPrefix(line, "declare ") && strings.TrimSpace(line) != "" {
			b.WriteString(strings.ReplaceAll(line, "\t", "  "))
		}
	}
	return b.String()
}
