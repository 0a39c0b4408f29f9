package primitives

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// withoutScratch pass barriers, but meet in no memory of the caller's.
var withoutScratch = []string{
	"rf_block_clear", "rf_block_group_flush", "rf_block_room", "rf_block_add_words",
	"rf_own_settle", "rf_private_settle", "rf_loop_next", "rf_loop_begin", "rf_donate_look",
	"rf_queue_push", "rf_queue_meet", "rf_block_runs",
}

// waits says that a primitive passes barriers of the block.
func waits(p Primitive) bool { return p.Collective && !strings.HasPrefix(p.Barriers, "0,") }

// TestCatalogueIsComplete wants every primitive described, once.
func TestCatalogueIsComplete(t *testing.T) {
	defined := 0
	files, err := filepath.Glob("src/*.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		defined += strings.Count(string(text), "\nRF_PRIMITIVE ")
	}
	all := Catalogue()
	if len(all) != defined || defined == 0 {
		t.Errorf("the headers define %d primitives, the catalogue has %d", defined, len(all))
	}
	seen := map[string]bool{}
	for _, p := range all {
		switch {
		case seen[p.Name]:
			t.Errorf("%s is there twice", p.Name)
		case !strings.HasPrefix(p.Doc, p.Name+" "):
			t.Errorf("%s: its comment starts with %.20q", p.Name, p.Doc)
		case p.Cost == "":
			t.Errorf("%s: no cost", p.Name)
		case waits(p) && !strings.Contains(p.Signature, "int32_t threads"):
			t.Errorf("%s: waits at barriers but has no parameter threads", p.Name)
		case waits(p) != (p.ScratchFormula != "") && !slices.Contains(withoutScratch, p.Name):
			t.Errorf("%s: barriers %q but scratch %q", p.Name, p.Barriers, p.ScratchFormula)
		}
		seen[p.Name] = true
		if found, ok := Lookup(p.Name); !ok || found.Signature != p.Signature {
			t.Errorf("Lookup(%s) = %v, %v", p.Name, found, ok)
		}
	}
	if _, ok := Lookup("rf_nothing"); ok {
		t.Error("Lookup finds rf_nothing")
	}
	for name := range scratch {
		if !seen[name] {
			t.Errorf("scratch has a size for %s, which is no primitive", name)
		}
	}
}

// TestSignatures wants types that every code generator can declare.
func TestSignatures(t *testing.T) {
	parameter := regexp.MustCompile(`^(const )?(void|u?int(8|32|64)_t) ?(\*|\*const \*)?\w+$`)
	for _, p := range Catalogue() {
		head, rest, ok := strings.Cut(p.Signature, "(")
		if !ok || !strings.HasSuffix(rest, ")") ||
			!regexp.MustCompile(`^(void|u?int(32|64)_t) rf_\w+$`).MatchString(head) {
			t.Errorf("%s: signature %q", p.Name, p.Signature)
			continue
		}
		for _, param := range strings.Split(strings.TrimSuffix(rest, ")"), ", ") {
			if !parameter.MatchString(param) {
				t.Errorf("%s: parameter %q", p.Name, param)
			}
		}
	}
}

// TestScratch compares the sizes in bytes with the formulas of the headers.
func TestScratch(t *testing.T) {
	for _, p := range Catalogue() {
		for _, threads := range []int{1, 32, 64, 128, 256, 1024} {
			for _, items := range []int{4, 16} {
				want := int64(0)
				if p.ScratchFormula != "" {
					pkg := types.NewPackage("shape", "shape")
					for name, v := range map[string]int{"threads": threads, "items": items,
						"warps": (threads + 31) / 32, "tile": threads * items} {
						pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, name,
							types.Typ[types.Int], constant.MakeInt64(int64(v))))
					}
					v, err := types.Eval(token.NewFileSet(), pkg, token.NoPos, p.ScratchFormula)
					if err != nil {
						t.Fatalf("%s: scratch %q: %v", p.Name, p.ScratchFormula, err)
					}
					want, _ = constant.Int64Val(v.Value)
				}
				if got := p.Scratch(threads, items); int64(got) != want {
					t.Errorf("%s: Scratch(%d, %d) = %d; the header says %s = %d", p.Name, threads,
						items, got, p.ScratchFormula, want)
				}
			}
		}
	}
}

// TestBitcodeOfUnknownTarget asks for one that is not there.
func TestBitcodeOfUnknownTarget(t *testing.T) {
	if _, err := Bitcode("vax"); err == nil || !strings.Contains(err.Error(), "vax") {
		t.Errorf("Bitcode(vax): %v", err)
	}
}

// prototypes returns a header that declares every primitive.
func prototypes() string {
	var b strings.Builder
	b.WriteString("#pragma once\n#if defined(__CUDA__)\n#define RF_DEVICE __attribute__((device))\n#else\n#define RF_DEVICE\n#endif\nextern \"C\" {\n")
	for _, p := range Catalogue() {
		fmt.Fprintf(&b, "RF_DEVICE %s;\n", p.Signature)
	}
	b.WriteString("}\n")
	return b.String()
}
