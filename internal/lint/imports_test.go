package lint

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// layer is what a package may import of redfox's own packages, beside
// internal/scalar and internal/list, which serve all.
type layer struct {
	Package string
	Imports []string
}

// layers is the import table, in pipeline order. The frontend knows no plan,
// the plan knows no engine, and an engine knows no syntax: phases meet in
// internal/driver only. A package that is not listed fails the test.
var layers = []layer{
	{"internal/list", nil},
	{"internal/scalar", nil},
	{"internal/interval", nil},
	{"internal/bounds", []string{"internal/interval"}},
	{"internal/bitset", nil},
	{"internal/graph", nil},
	{"internal/linediff", nil},
	{"internal/dynlib", nil},
	{"internal/malloc", []string{"internal/dynlib"}},
	{"internal/elfload", nil},
	{"internal/cuda", []string{"internal/dynlib", "internal/malloc"}},
	{"internal/cuda/driver", []string{"internal/cuda"}},
	{"internal/atomicfile", nil},
	{"internal/remote", nil},
	{"internal/confine", []string{"internal/atomicfile", "internal/remote"}},
	{"internal/kernelcache", []string{"internal/atomicfile"}},
	{"internal/fileid", nil},
	{"internal/llvm", []string{"internal/dynlib", "internal/malloc", "internal/fileid"}},
	{"internal/reference/pointsto", nil},
	{"internal/reference/recursive", nil},
	{"internal/reference/randprog", nil},
	{"internal/buildid", nil},
	{"internal/parallel", nil},
	{"internal/hugepage", nil},
	{"internal/rowmarks", nil},
	{"internal/bitpack", nil},
	{"internal/fsst", nil},
	{"internal/frontcode", []string{"internal/bitpack", "internal/fsst", "internal/parallel"}},
	{"internal/parquet", []string{"internal/hugepage", "internal/parallel"}},
	{"internal/graphgen", []string{"internal/parallel"}},
	{"internal/sqlite", nil},
	{"internal/pointergen", nil},
	{"internal/bitcodegen", nil},
	{"internal/ssbgen", []string{"internal/atomicfile", "internal/parquet"}},
	{"primitives", nil},
	{"internal/failure", nil},
	{"internal/govalue", nil},
	{"internal/collector", nil},
	{"internal/rlimit", nil},
	{"internal/scratch", nil},
	{"internal/trace", nil},
	{"internal/await", nil},
	{"internal/short", nil},

	{"frontend/source", nil},
	{"frontend/diag", []string{"frontend/source"}},
	{"frontend/ast", []string{"frontend/source", "frontend/diag"}},
	{"frontend/parse", []string{"frontend/source", "frontend/diag", "frontend/ast"}},
	{"frontend/core", []string{"frontend/source"}},
	{"frontend/desugar",
		[]string{"frontend/source", "frontend/diag", "frontend/ast", "frontend/parse"}},
	{"frontend/vocabulary", []string{"frontend/core", "frontend/diag"}},
	{"frontend/sema/normal", []string{"frontend/source", "frontend/ast", "frontend/core"}},
	{"frontend/sema/infer", []string{
		"frontend/source", "frontend/diag", "frontend/core", "frontend/desugar",
		"frontend/sema/normal", "frontend/vocabulary", "internal/graph",
	}},
	{"frontend/sema/emit", []string{
		"frontend/source", "frontend/diag", "frontend/core", "frontend/sema/infer",
		"frontend/sema/normal",
	}},
	{"frontend/sema/strata", []string{
		"frontend/source", "frontend/diag", "frontend/core", "frontend/desugar", "internal/graph",
	}},
	{"frontend/sema", []string{
		"frontend/source", "frontend/diag", "frontend/ast", "frontend/core", "frontend/desugar",
		"frontend/sema/emit",
		"frontend/sema/infer", "frontend/sema/normal", "frontend/sema/strata", "frontend/vocabulary",
		"internal/graph",
	}},
	{"frontend/delta", []string{
		"frontend/source", "frontend/diag", "frontend/ast", "frontend/parse", "frontend/core",
	}},
	{"frontend/blocks", []string{"frontend/source", "frontend/diag", "frontend/ast"}},
	{"frontend/imports", []string{"frontend/source", "frontend/diag", "frontend/ast"}},
	{"frontend/project", []string{"frontend/source", "frontend/diag"}},
	{"frontend", []string{
		"frontend/source", "frontend/diag", "frontend/ast", "frontend/parse", "frontend/core",
		"frontend/blocks", "frontend/project", "frontend/delta", "frontend/imports", "frontend/sema",
		"frontend/sema/normal",
	}},
	{"frontend/lsp/protocol", nil},
	{"frontend/lsp/protocol/generate", nil},
	{"frontend/lsp", []string{
		"frontend", "frontend/source", "frontend/diag", "frontend/ast", "frontend/blocks",
		"frontend/parse", "frontend/core", "frontend/imports", "frontend/project", "frontend/sema",
		"frontend/lsp/protocol", "frontend/vocabulary", "internal/failure",
	}},

	{"queryplan/irtext", []string{"frontend/source"}},
	{"queryplan/cfg", []string{"frontend/source", "queryplan/irtext"}},
	{"queryplan", []string{"frontend/source", "queryplan/cfg", "queryplan/irtext"}},
	{"queryplan/stats", []string{"queryplan"}},
	{"queryplan/segments", []string{"queryplan"}},
	{"queryplan/parts", []string{"frontend/source", "queryplan", "queryplan/irtext",
		"queryplan/segments"}},
	{"queryplan/build", []string{"frontend/source", "frontend/core", "queryplan"}},
	{"queryplan/rewrite/trees", []string{"queryplan"}},
	{"queryplan/rewrite/loops", []string{"internal/graph", "queryplan"}},
	{"queryplan/sortpairs", []string{"queryplan", "queryplan/rewrite/loops"}},
	{"queryplan/rewrite/joins",
		[]string{"internal/bitset", "internal/graph", "queryplan", "queryplan/stats",
			"queryplan/rewrite/trees"}},
	{"queryplan/rewrite", []string{
		"frontend/source", "internal/bitset", "internal/graph", "internal/linediff", "queryplan",
		"queryplan/stats", "queryplan/rewrite/joins", "queryplan/rewrite/loops", "queryplan/rewrite/trees",
	}},

	{"primitives/service", nil},

	{"harmony",
		[]string{"frontend/source", "internal/bitset", "queryplan", "queryplan/cfg",
			"queryplan/irtext"}},
	{"harmony/abi", []string{"queryplan", "queryplan/irtext"}},
	{"harmony/domain", []string{"queryplan", "harmony", "harmony/abi", "internal/bounds"}},
	{"harmony/ranges",
		[]string{"queryplan", "harmony", "harmony/domain", "internal/bounds", "internal/interval"}},
	{"harmony/decompose", []string{"queryplan/cfg", "queryplan/irtext", "harmony"}},
	{"harmony/rfx", []string{"harmony/abi"}},
	{"harmony/lower", []string{"frontend/source", "queryplan", "queryplan/cfg", "harmony"}},

	{"weaver/target", []string{"harmony/abi"}},
	{"weaver/expr", []string{"internal/interval"}},
	{"weaver/fuse",
		[]string{"frontend/source", "queryplan", "queryplan/cfg", "harmony", "weaver/target"}},
	{"weaver/partition",
		[]string{"frontend/source", "queryplan", "queryplan/cfg", "harmony", "harmony/domain",
			"weaver/expr"}},
	{"weaver/shape", []string{
		"frontend/source", "queryplan", "queryplan/irtext", "harmony", "harmony/abi",
		"harmony/domain", "internal/interval", "primitives",
		"weaver/expr", "weaver/fuse", "weaver/partition", "weaver/target",
	}},
	{"weaver/emit", []string{
		"queryplan", "harmony", "harmony/abi", "harmony/domain", "internal/interval",
		"weaver/emit/ir", "weaver/expr", "weaver/partition", "weaver/shape",
	}},
	{"weaver/emit/ir", []string{
		"frontend/source", "harmony/abi", "harmony/domain", "primitives", "weaver/expr",
		"weaver/shape", "weaver/target",
	}},

	{"weaver/assemble/codecache", []string{"harmony", "harmony/abi", "harmony/domain"}},
	{"weaver/assemble/hostcode",
		[]string{"internal/dynlib", "internal/elfload", "internal/llvm", "primitives"}},
	{"weaver/assemble", []string{
		"queryplan", "queryplan/cfg", "queryplan/sortpairs", "harmony", "harmony/abi", "harmony/domain",
		"harmony/lower", "harmony/ranges", "harmony/rfx", "primitives", "weaver/assemble/codecache", "weaver/assemble/hostcode",
		"weaver/emit", "weaver/fuse", "weaver/partition", "weaver/target", "internal/buildid",
		"internal/failure", "internal/kernelcache", "internal/llvm", "internal/trace",
		"weaver/shape",
	}},

	{"runtime/order", nil},
	{"runtime/store", []string{"internal/bitpack", "internal/frontcode", "internal/fsst",
		"internal/hugepage", "internal/parallel", "internal/scratch", "runtime/order"}},
	{"runtime/store/blocks", []string{"internal/bitpack"}},
	{"runtime/store/rfdb",
		[]string{"internal/atomicfile", "internal/bitpack", "internal/frontcode", "internal/parallel",
			"internal/rowmarks", "runtime/store", "runtime/store/blocks"}},
	{"runtime", []string{"frontend/source", "internal/trace", "queryplan", "runtime/store"}},
	{"runtime/store/read", []string{"internal/fileid", "internal/hugepage", "internal/parallel",
		"internal/parquet", "internal/remote", "internal/rowmarks", "internal/scratch", "internal/sqlite",
		"runtime/store", "runtime/store/rfdb"}},
	{"runtime/store/write",
		[]string{"internal/atomicfile", "internal/parallel", "internal/parquet", "internal/sqlite",
			"runtime/order", "runtime/store"}},
	{"runtime/account", []string{"internal/hugepage", "runtime"}},
	{"runtime/bitrows", nil},
	{"runtime/prepare",
		[]string{"queryplan", "harmony", "harmony/abi", "harmony/domain", "harmony/ranges",
			"internal/interval", "runtime/store"}},
	{"runtime/layout", []string{"queryplan", "harmony", "harmony/abi", "internal/interval"}},
	{"runtime/woven", []string{
		"frontend/source", "queryplan", "queryplan/cfg", "harmony", "harmony/abi",
		"harmony/decompose", "harmony/domain", "harmony/ranges",
		"internal/interval", "runtime", "runtime/layout", "runtime/order", "runtime/prepare",
		"runtime/store", "weaver/assemble/codecache",
	}},
	{"runtime/portable", []string{
		"queryplan", "internal/interval", "runtime", "runtime/portable/columns",
		"runtime/portable/pipeline",
		"runtime/portable/tables", "runtime/portable/work", "runtime/store",
	}},
	{"runtime/portable/work", []string{"internal/hugepage", "runtime", "runtime/account", "runtime/order"}},
	{"runtime/portable/columns",
		[]string{"queryplan", "internal/bounds", "internal/interval", "runtime/portable/work",
			"runtime/prepare", "runtime/store"}},
	{"runtime/portable/expr",
		[]string{"queryplan", "internal/interval", "runtime/portable/columns",
			"runtime/portable/work", "runtime/prepare", "runtime/store"}},
	{"runtime/portable/tables",
		[]string{"queryplan", "internal/interval", "runtime/bitrows", "runtime/order",
			"runtime/portable/work", "runtime/store"}},
	{"runtime/portable/tries", []string{"internal/interval", "runtime/portable/work"}},
	{"runtime/portable/pipeline", []string{
		"frontend/source", "queryplan", "internal/interval", "runtime", "runtime/order",
		"runtime/portable/columns", "runtime/portable/expr",
		"runtime/portable/tables", "runtime/portable/tries", "runtime/portable/work",
		"runtime/prepare", "runtime/store",
	}},
	{"runtime/cost", []string{
		"queryplan", "harmony", "harmony/abi", "harmony/domain", "runtime", "runtime/layout",
		"weaver/shape",
	}},
	{"runtime/woven/machine",
		[]string{"queryplan", "harmony", "harmony/abi", "runtime/layout", "runtime/store",
			"runtime/woven"}},
	{"runtime/native", []string{
		"frontend/source", "queryplan", "harmony", "harmony/abi", "harmony/decompose",
		"harmony/domain", "harmony/ranges",
		"runtime/account", "runtime/bitrows", "weaver/assemble/hostcode", "runtime/layout",
		"runtime/woven",
		"runtime/woven/machine", "internal/interval", "internal/llvm",
		"runtime", "runtime/order", "runtime/prepare", "runtime/store",
	}},
	{"runtime/gpu/device",
		[]string{"primitives/service", "internal/cuda", "internal/cuda/driver", "runtime"}},
	{"runtime/gpu/replay",
		[]string{"harmony", "internal/cuda", "runtime", "runtime/gpu/device"}},
	{"runtime/gpu/tables", []string{
		"queryplan", "harmony", "harmony/abi", "primitives/service", "internal/interval",
		"internal/cuda", "internal/cuda/driver", "internal/parallel",
		"runtime/gpu/device", "runtime/gpu/replay", "runtime/layout", "runtime/store",
		"runtime/woven", "runtime/woven/machine",
	}},
	{"runtime/gpu/order", []string{
		"harmony", "primitives/service", "internal/cuda", "internal/cuda/driver",
		"runtime/gpu/device", "runtime/gpu/tables", "runtime/order",
	}},
	{"runtime/gpu", []string{
		"queryplan", "harmony", "harmony/abi", "primitives/service", "internal/buildid",
		"internal/interval", "internal/cuda", "internal/cuda/driver",
		"runtime", "runtime/account", "runtime/layout", "runtime/order", "runtime/prepare",
		"runtime/store", "runtime/woven", "runtime/woven/machine", "runtime/gpu/device",
		"runtime/gpu/order", "runtime/gpu/replay", "runtime/gpu/tables",
	}},
	{"runtime/gpu/emulated",
		[]string{"harmony/abi", "primitives/service", "internal/cuda", "internal/cuda/driver",
			"internal/llvm", "weaver/assemble/hostcode"}},

	{"runtime/facts", []string{
		"frontend/diag", "queryplan", "queryplan/stats", "runtime", "runtime/answer",
		"runtime/store", "runtime/store/read", "internal/confine", "internal/failure",
		"internal/govalue", "internal/remote",
	}},
	{"runtime/diagnose", []string{
		"frontend/diag", "frontend/source", "queryplan", "runtime", "internal/confine",
		"internal/remote",
	}},
	{"runtime/machine", []string{
		"frontend/diag", "harmony/rfx", "weaver/assemble", "weaver/target", "runtime",
		"internal/cuda", "internal/cuda/driver", "internal/failure", "internal/llvm",
	}},
	{"runtime/tiers", []string{
		"queryplan", "queryplan/segments", "runtime", "runtime/prepare", "runtime/store",
	}},
	{"runtime/byrows", []string{
		"queryplan", "queryplan/parts", "queryplan/segments", "runtime", "runtime/prepare",
		"runtime/store",
	}},
	{"runtime/mixed", []string{
		"queryplan", "runtime", "runtime/byrows", "runtime/cost", "runtime/store",
	}},
	{"runtime/spill", []string{
		"queryplan", "queryplan/parts", "queryplan/segments", "frontend/source", "runtime",
		"runtime/account", "runtime/prepare", "runtime/store", "internal/failure",
		"internal/interval", "internal/parallel", "internal/scratch",
	}},
	{"runtime/pool", []string{
		"queryplan", "harmony", "weaver/assemble", "runtime", "runtime/byrows", "runtime/cost",
		"runtime/gpu",
		"runtime/machine", "runtime/mixed", "runtime/native", "runtime/portable", "runtime/store", "runtime/tiers", "runtime/woven",
		"internal/cuda", "internal/cuda/driver", "internal/failure", "internal/kernelcache",
		"internal/trace",
	}},
	{"runtime/answer", []string{
		"queryplan", "runtime", "runtime/account", "runtime/machine", "runtime/store",
		"runtime/store/write", "internal/failure", "internal/scratch",
	}},
	{"runtime/provenance", []string{
		"frontend/core", "frontend/source", "runtime", "runtime/store",
	}},
	{"runtime/prefetch", []string{
		"queryplan", "weaver/assemble", "runtime", "runtime/machine", "runtime/pool",
		"runtime/store", "internal/failure", "internal/trace",
	}},

	{"internal/driver", []string{
		"frontend", "frontend/ast", "frontend/core", "frontend/diag", "frontend/parse",
		"frontend/project",
		"frontend/source", "queryplan", "queryplan/build", "queryplan/rewrite", "queryplan/parts",
		"queryplan/sortpairs", "queryplan/stats",
		"harmony", "harmony/abi", "harmony/decompose", "harmony/rfx", "weaver/assemble", "runtime",
		"runtime/account", "runtime/answer", "runtime/byrows", "runtime/cost", "runtime/diagnose", "runtime/facts",
		"runtime/gpu", "runtime/layout", "runtime/machine", "runtime/mixed", "runtime/pool", "runtime/portable", "runtime/prefetch",
		"runtime/provenance", "runtime/spill", "runtime/store", "runtime/store/read",
		"runtime/store/rfdb", "runtime/store/write", "runtime/tiers", "runtime/woven",
		"internal/buildid",
		"internal/confine", "internal/cuda", "internal/remote",
		"internal/failure", "internal/govalue", "internal/kernelcache", "internal/linediff",
		"internal/llvm", "internal/scratch",
		"internal/trace",
	}},
	{".", []string{"frontend/diag", "internal/driver", "internal/govalue"}},
	{"bench/suite", []string{"internal/failure", "testdata"}},
	{"bench/measure", []string{"internal/driver", "bench/suite"}},
	{"bench", []string{"bench/measure", "bench/suite", "internal/atomicfile", "internal/bitcodegen", "internal/collector", "internal/driver", "internal/graphgen", "internal/pointergen", "internal/reference/pointsto", "internal/reference/recursive", "internal/ssbgen"}},
	{"internal/runtests", nil},
	{"cmd/redfox/repl", []string{
		"internal/driver", "frontend/source", "frontend/diag", "frontend/ast", "frontend/core", "frontend/parse",
	}},
	{"cmd/redfox", []string{
		"internal/driver", "bench/measure", "bench/suite", "cmd/redfox/repl", "frontend/diag",
		"frontend/lsp", "frontend/vocabulary", "internal/atomicfile", "internal/collector",
		"internal/rlimit", "internal/ssbgen",
	}},
	{"cmd/redfox-selftest",
		[]string{"internal/driver", "internal/atomicfile", "internal/malloc", "internal/reference/randprog"}},
}

// testOnly lists packages that only test files may import, and each other. The
// rooms of internal/reference are among them, and may import any phase.
var testOnly = []string{
	"internal/await", "internal/short", "internal/randvalue", "runtime/store/storetest",
	"internal/ptxas", "internal/cuda/cudatest",
	"internal/cuda/driver/conformance", "internal/lint",
	"internal/reference/enginetest", "internal/reference/harmonyref", "internal/reference/oracle",
	"internal/reference/planref", "internal/reference/starprog", "internal/reference/testprograms",
}

// TestImports holds every package against the import table.
func TestImports(t *testing.T) {
	allowed := map[string][]string{}
	for _, l := range layers {
		allowed[l.Package] = append([]string{"internal/scalar", "internal/list"}, l.Imports...)
	}
	for _, f := range ownFiles(t) {
		pkg := f.Package()
		inTests := f.Test() || slices.Contains(testOnly, pkg)
		list, listed := allowed[pkg]
		if !listed && !inTests {
			t.Errorf("%s: package %s is not in the import table; give it a layer", f.Path, pkg)
			continue
		}
		for _, imported := range f.Imports() {
			own, ok := ownPackage(imported)
			switch {
			case !ok:
			case strings.HasPrefix(own, "cmd/") && !strings.HasPrefix(own, pkg+"/"):
				t.Errorf("%s: imports %s, which belongs to a command", f.Path, own)
			case inTests:
			case slices.Contains(testOnly, own):
				t.Errorf("%s: imports %s, which is for tests", f.Path, own)
			case !slices.Contains(list, own):
				t.Errorf("%s: package %s must not import %s", f.Path, pkg, own)
			}
		}
	}
}

// TestGround keeps the phases out of internal: a ground library serves all of
// them. The rooms of internal/reference imitate phases and internal/driver
// joins them, so both may import them.
func TestGround(t *testing.T) {
	for _, f := range ownFiles(t) {
		pkg := f.Package()
		if !strings.HasPrefix(pkg, "internal/") || strings.HasPrefix(pkg, "internal/reference/") ||
			pkg == "internal/driver" || f.Test() {
			continue
		}
		for _, imported := range f.Imports() {
			own, ok := ownPackage(imported)
			top, _, _ := strings.Cut(own, "/")
			if ok && slices.Index(phases, top) > slices.Index(phases, "primitives") {
				t.Errorf("%s: imports the phase %s", f.Path, own)
			}
		}
	}
}

// phases orders the top-level folders and the driver: each may use those before
// it.
var phases = []string{"internal", "primitives", "frontend", "queryplan", "harmony", "weaver",
	"runtime", "internal/driver", ".", "bench", "cmd"}

// TestPhases checks the import table itself: no folder looks ahead.
func TestPhases(t *testing.T) {
	rank := func(pkg string) int {
		if pkg == "internal/driver" {
			return slices.Index(phases, pkg)
		}
		top, _, _ := strings.Cut(pkg, "/")
		return slices.Index(phases, top)
	}
	for _, l := range layers {
		if rank(l.Package) < 0 {
			t.Errorf("package %s belongs to no phase", l.Package)
		}
		for _, imported := range l.Imports {
			if rank(imported) > rank(l.Package) {
				t.Errorf("the import table lets %s look ahead to %s", l.Package, imported)
			}
		}
	}
}

// TestImportTableIsCurrent finds packages that the table names and that are not
// there any more.
func TestImportTableIsCurrent(t *testing.T) {
	have := packages(t)
	for i, l := range layers {
		if slices.ContainsFunc(layers[:i], func(o layer) bool { return o.Package == l.Package }) {
			t.Errorf("the import table lists %s twice", l.Package)
		}
		if !slices.Contains(have, l.Package) {
			t.Errorf("the import table lists %s, which has no Go files", l.Package)
		}
	}
}

// libraries says which package may import which module from outside; tests may
// also use those of testLibraries. Each module has an entry in RATIONALE.md.
var libraries = map[string][]string{
	"github.com/alecthomas/participle/v2": {"frontend/parse"},
	"github.com/apache/arrow-go/v18": {"runtime/facts", "runtime/store/read",
		"runtime/store/write", "internal/reference/starprog", "internal/driver", "."},
	"github.com/cespare/xxhash/v2":       {"internal/parquet"},
	"github.com/dsnet/compress":          {"internal/parquet"},
	"github.com/jedib0t/go-pretty/v6":    {"runtime/store/write", "cmd/redfox", "bench"},
	"github.com/go-json-experiment/json": {"runtime/store/read"},
	"github.com/aws/aws-sdk-go-v2":       {"internal/remote"},
	"modernc.org/sqlite":                 {"internal/sqlite"},
	"github.com/klauspost/compress": {"internal/parquet", "internal/ssbgen",
		"runtime/gpu/emulated", "runtime/store/read", "runtime/store/write"},
	"github.com/llir/llvm":      {"weaver/expr", "weaver/emit", "weaver/emit/ir"},
	"github.com/pierrec/lz4/v4": {"internal/parquet"},
	"github.com/rivo/uniseg":    {"frontend/diag"},
	"github.com/urfave/cli/v2":  {"cmd/redfox"},
	"golang.org/x/sys": {"internal/hugepage", "runtime/account", "runtime/store/rfdb",
		"runtime/gpu/emulated", "internal/scratch", "internal/rlimit"},
	"golang.org/x/term": {"cmd/redfox", "cmd/redfox/repl"},
	"github.com/ebitengine/purego": {"internal/dynlib", "internal/malloc", "internal/llvm",
		"internal/cuda"},
	"github.com/cockroachdb/datadriven": nil,
}

// testLibraries are for tests alone.
var testLibraries = []string{"github.com/cockroachdb/datadriven"}

// TestLibraries holds every import from outside against the library table.
func TestLibraries(t *testing.T) {
	for _, f := range ownFiles(t) {
		for _, imported := range f.Imports() {
			if _, own := ownPackage(imported); own || isStandard(imported) {
				continue
			}
			module := ""
			for m := range libraries {
				if imported == m || strings.HasPrefix(imported, m+"/") {
					module = m
				}
			}
			testing := f.Test() || slices.Contains(testOnly, f.Package())
			switch {
			case module == "":
				t.Errorf("%s: %s is of no module in the library table", f.Path, imported)
			case slices.Contains(testLibraries, module) && !testing:
				t.Errorf("%s: %s is for tests", f.Path, imported)
			case !slices.Contains(libraries[module], f.Package()) && !testing:
				t.Errorf("%s: package %s must not import %s", f.Path, f.Package(), imported)
			}
		}
	}
}

// TestRuntimeName keeps Go's runtime and ours apart: Go's is imported as
// goruntime.
func TestRuntimeName(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, spec := range f.Syntax.Imports {
			if spec.Path.Value == `"runtime"` &&
				(spec.Name == nil || spec.Name.Name != "goruntime") {
				t.Errorf("%s: import Go's runtime as goruntime", f.Path)
			}
			if spec.Path.Value == `"C"` {
				t.Errorf("%s: uses cgo", f.Path)
			}
		}
	}
}

// TestNestedModules wants no file of this module to import a nested one, which
// has what this one is kept free of.
func TestNestedModules(t *testing.T) {
	nested := nestedModules(t)
	for _, f := range ownFiles(t) {
		for _, imported := range f.Imports() {
			own, ok := ownPackage(imported)
			if ok && slices.ContainsFunc(nested, func(m string) bool {
				return own == m || strings.HasPrefix(own, m+"/")
			}) {
				t.Errorf("%s: imports %s, which is of another module", f.Path, own)
			}
		}
	}
}

// ownPackage returns the folder of a package of this module.
func ownPackage(imported string) (string, bool) {
	if imported == modulePath {
		return ".", true
	}
	rest, ok := strings.CutPrefix(imported, modulePath+"/")
	return path.Clean(rest), ok
}

// isStandard reports whether an import path is of the standard library: its
// first element has no dot.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}
