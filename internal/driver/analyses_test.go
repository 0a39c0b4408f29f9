package driver

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/graphgen"
	"github.com/redfoxdb/redfox/internal/pointergen"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestGraphProgramsByBruteForce runs closures, same generation and pointer
// analyses of testdata/graphs over skewed graphs on every engine, and compares
// whole relations with those of brute force.
func TestGraphProgramsByBruteForce(t *testing.T) {
	cases := []struct {
		program string
		preds   []string
		facts   func(seed uint64, dir string) error
	}{
		{"tc", []string{"tc"}, smallGraph},
		{"sg", []string{"sg"}, smallGraph},
		{"andersen", []string{"pointsTo"}, func(seed uint64, dir string) error {
			return pointergen.Andersen(80, seed).Write(dir)
		}},
		{"cspa", []string{"valueFlow", "memoryAlias", "valueAlias"},
			func(seed uint64, dir string) error { return pointergen.CSPA(30, seed).Write(dir) }},
	}
	for _, engine := range []string{EngineGPU, EngineCPU, EngineGo} {
		t.Run(engine, func(t *testing.T) {
			s := sessionOf(t, engine)
			for _, c := range cases {
				for seed := range uint64(short.Count(t, 3, "facts")) {
					dir := t.TempDir()
					if err := c.facts(seed, dir); err != nil {
						t.Fatal(err)
					}
					compareWithBruteForce(t, s, c.program, dir, c.preds)
				}
			}
		})
	}
}

// smallGraph writes the edges of a skewed graph.
func smallGraph(seed uint64, dir string) error {
	from, to, err := graphgen.Graph{Kind: graphgen.RMAT, Bits: 5, Edges: 60, Seed: seed}.Make(1)
	var edges graphgen.Edges
	for i := range from {
		edges = append(edges, graphgen.Edge{from[i], to[i]})
	}
	if err != nil {
		return err
	}
	return edges.Write(filepath.Join(dir, "edge.tsv"))
}

// sessionOf opens a session on an engine, of which the GPU is emulated. Short
// tests have the go engine only.
func sessionOf(t *testing.T, engine string) *Session {
	t.Helper()
	switch engine {
	case EngineGPU:
		short.Skip(t, "counts and analyses on an emulated GPU")
		emulateGPU(t, emulated.Options{Seed: 5, Memory: 4 << 30})
	case EngineCPU:
		short.Skip(t, "counts and analyses on the cpu engine")
		s := QuickSession(t)
		if s == nil {
			t.Skip("no cpu engine")
		}
		return s
	}
	return openSession(t, engine)
}

// compareWithBruteForce runs a program of testdata/graphs over a folder of
// facts.
func compareWithBruteForce(t *testing.T, s *Session, program, dir string, preds []string) {
	t.Helper()
	text := graphProgram(t, program)
	prog, err := Compile(context.Background(), []Source{text}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := s.Load(context.Background(), prog, NewFacts().Dir(dir), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Run(context.Background(), prog, db, RunOptions{Outputs: preds})
	if err != nil {
		t.Fatal(err)
	}
	checked, _, _ := frontend.CompileTrees([]*source.File{source.NewFile(text.Name, text.Text)},
		frontend.Options{})
	facts, err := oracle.ReadFacts(dir, checked)
	if err != nil {
		t.Fatal(err)
	}
	want, err := oracle.Run(checked, facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, pred := range preds {
		var b bytes.Buffer
		if err := res.Write(&b, pred, TSV, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		rows := func(text string) []string { return slices.Sorted(strings.Lines(text)) }
		got, want := rows(b.String()), rows(oracle.TSV(want.Tuples[pred]))
		if len(want) < 20 {
			t.Errorf("%s: the facts give %d tuples of %s only", program, len(want), pred)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d tuples of %s, not %d:\n%s", program, len(got), pred, len(want),
				firstDifference(got, want))
		}
	}
}
