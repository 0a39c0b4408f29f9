package emit

import (
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/weaver/target"
)

// TestUnits wants the functions of a GPU's code as units: as many as there are
// entries, the same text for builds that differ in their names alone, and each
// good for itself.
func TestUnits(t *testing.T) {
	p, err := harmony.Parse("test.harmony", `relation a(x: decimal[18,2], y: decimal[18,2]) input "a"
relation b(x: decimal[18,2], y: decimal[18,2]) input "b"
relation t(x: decimal[18,2]) temp
index i unique a(x)
index j unique b(x)
block b0:
  build i
  build j
  run k0
    rows a
    v0: decimal[18,2] = load x
    v1: decimal[18,2] = load y
    v2: decimal[18,4] = map mul(v0, v1)
    v3: decimal[18,2] = map convert(v2)
    need v3
    r: row = probe unique j(v3)
    store t(v3)
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Target: target.GPU(80)}
	code, err := Program(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(code.Units) != 3 || len(code.Module.Entries) != 3 {
		t.Fatalf("%d units of %d entries", len(code.Units), len(code.Module.Entries))
	}
	if code.Units[0] != code.Units[1] {
		t.Errorf("two builds differ:\n%s\n%s", code.Units[0], code.Units[1])
	}
	for i, e := range code.Module.Entries {
		if strings.Contains(code.Units[i], e.Symbol) {
			t.Errorf("%s is named in its unit:\n%s", e.Symbol, code.Units[i])
		}
		if !strings.Contains(code.IR, "@"+e.Symbol+"(") || strings.Contains(code.IR, UnitSymbol) {
			t.Errorf("%s is not named in the IR of all:\n%s", e.Symbol, code.IR)
		}
		alone := *code
		alone.IR = strings.ReplaceAll(code.Units[i], UnitSymbol, e.Symbol)
		alone.Module = &abi.Module{Entries: code.Module.Entries[i : i+1]}
		if ptx := string(ptxOf(t, &alone, 80)); !strings.Contains(ptx, ".entry "+e.Symbol+"(") {
			t.Errorf("%s is no kernel:\n%s", e.Symbol, ptx)
		}
	}
	if code, err = Program(p, Options{Target: target.CPU()}); err != nil || code.Units != nil {
		t.Errorf("a CPU has %d units, %v", len(code.Units), err)
	}
}

// TestShare wants kernels whose columns and keys have different bases to be one
// code where functions share, and two where they do not.
func TestShare(t *testing.T) {
	p, err := harmony.Parse("test.harmony", `relation a(x: int, y: int) input "a"
relation b(x: int, y: int) input "b"
relation p(x: int, y: int) derived
relation q(x: int, y: int) derived
index i multi a(x)
index j multi b(x)
block b0:
  build i
  build j
  run k0
    rows a
    v0: int = load y
    v1: row = probe multi i(v0)
    v2: int = gather y[v1]
    v3: int = load x
    insert p(v3, v2)
  run k1
    rows b
    v0: int = load y
    v1: row = probe multi j(v0)
    v2: int = gather y[v1]
    v3: int = load x
    insert q(v3, v2)
  merge p
  merge q
  halt
`)
	if err != nil {
		t.Fatal(err)
	}
	second := map[string]bool{"b": true, "q": true, "j": true}
	o := Options{Target: target.GPU(80), Fix: func(_ string, p abi.Param) (int64, bool) {
		word := int64(0)
		switch p.Kind {
		case abi.ColumnBase, abi.SetBase, abi.IndexBase:
			if second[p.Var] {
				word = 7
			}
		case abi.IndexSize:
			word = 100
			if second[p.Var] {
				word = 90
			}
		case abi.ColumnWidth:
			word = 4
		case abi.ColumnStep:
			word = 1
		case abi.SetForm, abi.IndexForm:
			word = int64(abi.Direct)
		case abi.SetBits, abi.IndexBits:
			word = 7
		case abi.SetShift:
			word = 7 * int64(p.Index)
		case abi.IndexShift, abi.IndexSpaced:
		default:
			return 0, false
		}
		return word, true
	}}
	for _, share := range []bool{false, true} {
		o.Share = share
		code, err := Program(p, o)
		if err != nil {
			t.Fatal(err)
		}
		units := map[string]string{}
		for i, e := range code.Module.Entries {
			units[e.Symbol] = code.Units[i]
		}
		if same := units["k0"] == units["k1"]; same != share {
			t.Errorf("with sharing %t, two kernels are one code: %t\n%s\n%s", share, same,
				units["k0"], units["k1"])
		}
	}
}
