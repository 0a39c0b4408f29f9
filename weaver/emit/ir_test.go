package emit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/shape"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestIR prints what testdata/ir's programs become: the entries, and then LLVM
// IR without declarations.
//
//	emit [gpu] [items=32] [fixed]
//
// With fixed, columns have 4 bytes and keys of 10 bits each are of form Direct.
func TestIR(t *testing.T) {
	datadriven.RunTest(t, "testdata/ir", func(t *testing.T, d *datadriven.TestData) string {
		o := Options{Target: target.CPU()}
		if d.HasArg("gpu") {
			o.Target = target.GPU(90)
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
			if again := shapedAgain(t, p, o); again != text {
				t.Fatalf("%s: shapes that are read from their text give other code:\n%s\n%s", d.Pos,
					text, again)
			}
			if i == 0 {
				first = text
			} else if text != first {
				t.Fatalf("%s: the same program gives different code:\n%s\n%s", d.Pos, first, text)
			}
		}
		return first
	})
}

// shapedAgain returns the code of shapes that are printed and read again.
func shapedAgain(t *testing.T, p *harmony.Program, o Options) string {
	t.Helper()
	shapes, err := shape.Choose(p, o)
	if err == nil {
		shapes, err = shape.Parse("shapes", shapes.String(), p, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	code, err := Shaped(shapes)
	if err != nil {
		t.Fatal(err)
	}
	return code.Module.String() + definitions(code.IR)
}

func fixAll(_ string, p abi.Param) (int64, bool) {
	switch p.Kind {
	case abi.ColumnWidth, abi.ValuesWidth:
		return 4, true
	case abi.ColumnBase, abi.SetBase, abi.IndexBase, abi.GroupBase, abi.GroupShared, abi.SetShared:
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

// TestLargeKernel wants smaller tiles of a kernel with too many registers for
// the stack or for a block's shared memory.
func TestLargeKernel(t *testing.T) {
	const registers = 400
	var cols, sums, vals []string
	for i := range registers {
		cols = append(cols, fmt.Sprintf("c%d: int", i))
		vals = append(vals, fmt.Sprintf("v%d", i))
		if i > 0 {
			sums = append(sums, fmt.Sprintf("    v%d: int = map add(v%d, %d)\n", i, i-1, i))
		}
	}
	text := "relation a(x: int) input \"a\"\nrelation t(" + strings.Join(cols, ", ") +
		") temp\nindex m multi a(x)\nblock b0:\n  build m\n  run k0\n    rows a\n" +
		"    v0: int = load x\n" + strings.Join(sums, "") +
		"    probe exists m(v7)\n    r: row = probe multi m(v9)\n    store t(" +
		strings.Join(vals, ", ") + ")\n  halt\n"
	p, err := harmony.Parse("test.harmony", text)
	if err != nil {
		t.Fatal(err)
	}
	code, err := Program(p, Options{Target: target.CPU()})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range code.Module.Entries {
		if small := e.Items < 1024; small != (e.Role == abi.Kernel) {
			t.Errorf("%s has tiles of %d rows", e.Symbol, e.Items)
		}
	}
	var unsupported *UnsupportedError
	if _, err := Program(p, Options{Target: target.GPU(80)}); !errors.As(err, &unsupported) {
		t.Errorf("400 values across an expansion on a GPU: %v", err)
	}
}
