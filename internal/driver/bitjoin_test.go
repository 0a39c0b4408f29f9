package driver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/runtime"
)

// TestJoinByBits joins a dense relation by bits, and by rows where that is
// disabled.
func TestJoinByBits(t *testing.T) {
	dir := t.TempDir()
	var rows []byte
	for i := range 200 {
		rows = fmt.Appendf(rows, "%d\t%d\n", i, (i*7+1)%200)
		rows = fmt.Appendf(rows, "%d\t%d\n", i, (i*i+3)%200)
	}
	if err := os.WriteFile(filepath.Join(dir, "edge.tsv"), rows, 0o644); err != nil {
		t.Fatal(err)
	}
	sources := []Source{{Name: "dense.logic", Text: "edge(x, y) -> int(x), int(y).\n" +
		"path(x, y) <- edge(x, y).\npath(x, z) <- path(x, y), path(y, z).\n"}}
	for _, engine := range []string{EngineGo, EngineCPU} {
		t.Run(engine, func(t *testing.T) { joinByBitsOn(t, engine, sources, dir) })
	}
}

func joinByBitsOn(t *testing.T, engine string, sources []Source, dir string) {
	s, ctx := openSession(t, engine), context.Background()
	var want string
	for _, disable := range [][]string{nil, {joinByBits}} {
		prog, err := Compile(ctx, sources, Options{Disable: disable})
		if err != nil {
			t.Fatal(err)
		}
		db, err := s.Load(ctx, prog, NewFacts().Dir(dir), LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Run(ctx, prog, db, RunOptions{Profile: true})
		if err != nil {
			t.Fatal(err)
		}
		byBits := slices.ContainsFunc(res.Stats.Kernels,
			func(k KernelStats) bool { return k.ByBits }) ||
			slices.ContainsFunc(res.Stats.profile,
				func(c runtime.CommandProfile) bool { return c.ByBits })
		if byBits != (disable == nil) {
			t.Errorf("without %v, by bits: %v", disable, byBits)
		}
		got := resultText(t, res)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("without %v: other answers", disable)
		}
	}
}
