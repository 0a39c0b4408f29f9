package driver

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/reference/pointsto"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestContextSensitivePointsTo runs the points-to analysis of testdata/pointsto
// on every engine over made-up programs. A worklist solver gives the answers.
func TestContextSensitivePointsTo(t *testing.T) {
	for _, engine := range []string{EngineGPU, EngineCPU, EngineGo} {
		t.Run(engine, func(t *testing.T) {
			var s *Session
			switch engine {
			case EngineGPU:
				short.Skip(t, "the points-to analysis on an emulated GPU")
				emulateGPU(t, emulated.Options{Seed: 3, Memory: 4 << 30})
				s = openSession(t, engine)
			case EngineCPU:
				short.Skip(t, "the points-to analysis on the cpu engine")
				if s = QuickSession(t); s == nil {
					t.Skip("no cpu engine")
				}
			case EngineGo:
				s = openSession(t, engine)
			}
			cases, size := uint64(2), 2_000
			switch engine {
			case EngineGo:
				cases = short.Count(t, 8, "made-up programs")
			case EngineGPU:
				size = 300
			}
			for seed := range cases {
				comparePointsTo(t, s, pointsto.Generate(size, seed))
			}
		})
	}
}

// openSession returns a session that is closed when the test ends.
func openSession(t *testing.T, engine string) *Session {
	t.Helper()
	s, err := OpenSession(SessionOptions{Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestLargeContextSensitivePointsTo runs the analysis over 20,000 facts, and
// over 100,000 in make every.
func TestLargeContextSensitivePointsTo(t *testing.T) {
	short.Skip(t, "the points-to analysis of 20,000 facts")
	size := 20_000
	if short.Every() {
		size = 100_000
	}
	facts := pointsto.Generate(size, 1)
	if n := facts.Count(); n < size*9/10 {
		t.Errorf("%d facts, want about %d", n, size)
	}
	comparePointsTo(t, openSession(t, EngineGo), facts)
}

func comparePointsTo(t *testing.T, s *Session, facts pointsto.Facts) {
	t.Helper()
	ctx := context.Background()
	dir := t.TempDir()
	if err := facts.Write(dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../testdata/pointsto/*.logic")
	if err != nil || len(files) == 0 {
		t.Fatalf("no program: %v", err)
	}
	sources, err := ReadSources(files...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sources { // so that the files of facts are beside the program
		sources[i].Name = filepath.Join(dir, filepath.Base(sources[i].Name))
	}
	prog, err := Compile(ctx, sources, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := s.Load(ctx, prog, NewFacts().Dir(dir), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(ctx, prog, db, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows := func(pred string) []string {
		var b bytes.Buffer
		if err := res.Write(&b, pred, TSV, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		out := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if b.Len() == 0 {
			out = nil
		}
		slices.Sort(out)
		return out
	}
	counts := map[string]int{}
	for _, line := range rows("Statistic") {
		name, n, _ := strings.Cut(line, "\t")
		if counts[name], err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
	}
	want := pointsto.Solve(facts)
	for pred, statistic := range map[string]string{
		"VarPointsTo":    "var points-to, with contexts",
		"FieldPointsTo":  "field points-to, with contexts",
		"ArrayPointsTo":  "array points-to, with contexts",
		"StaticPointsTo": "static points-to, with contexts",
		"CallGraph":      "call graph edges, with contexts",
		"Reachable":      "reachable methods, with contexts",
		"Thrown":         "exceptions thrown, with contexts",
		"Initialized":    "initialized classes",
		"Context":        "contexts",
		"Started":        "", "Escapes": "",
	} {
		slices.Sort(want[pred])
		if got := rows(pred); !slices.Equal(got, want[pred]) {
			t.Errorf("%s: %d rows, want %d:\n%s", pred, len(got), len(want[pred]),
				firstDifference(got, want[pred]))
		}
		if n, ok := counts[statistic]; statistic != "" && (!ok || n != len(want[pred])) {
			t.Errorf("statistic %q is %d, want %d", statistic, n, len(want[pred]))
		}
	}
}

// firstDifference shows the least row that one of two sorted lists lacks.
func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i == len(got) || i < len(want) && want[i] < got[i]:
			return "missing: " + want[i]
		case i == len(want) || got[i] < want[i]:
			return "wrong: " + got[i]
		}
	}
	return ""
}
