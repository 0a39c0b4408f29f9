package driver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/harmony/rfx"
)

// FuzzParseCompiled changes parts of the file of a compiled program in ways
// that its checksums do not tell. What is read is explained and written; what
// is not is an error about the file, never a panic.
func FuzzParseCompiled(f *testing.F) {
	prog := compileText(f, closure, Options{})
	var b bytes.Buffer
	if _, err := prog.WriteCompiled(&b,
		CompiledOptions{Name: "closure", Targets: []string{"cpu"}}); err != nil {
		f.Fatal(err)
	}
	whole, err := rfx.Read(bytes.NewReader(b.Bytes()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Plan, whole.Code[0].Graph, whole.Predicates[0].Columns[0].Type,
		whole.Places[0].Start, whole.Places[0].End, whole.Predicates[0].Keys)
	f.Fuzz(func(t *testing.T, plan, graph, typ string, start, end, keys int) {
		file, err := rfx.Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		file.Plan, file.Code[0].Graph = plan, graph
		file.Predicates[0].Columns[0].Type, file.Predicates[0].Keys = typ, keys
		file.Places[0].Start, file.Places[0].End = start, end
		var text strings.Builder
		if rfx.Write(&text, file) != nil {
			return
		}
		var environment *EnvironmentError
		var wrong *ProgramError
		expected := func(what string, err error) bool {
			if err != nil && !errors.As(err, &environment) && !errors.As(err, &wrong) {
				t.Errorf("%s: %T: %v", what, err, err)
			}
			return err == nil
		}
		c, err := ParseCompiled(Text("fuzz.rfx", text.String()))
		if !expected("reading", err) {
			return
		}
		c.Info()
		p, err := c.Program(Options{})
		if !expected("the program", err) {
			return
		}
		expected("explaining",
			p.Explain(context.Background(), io.Discard, nil, ExplainOptions{Kernels: true}))
		if _, err := p.WriteCompiled(io.Discard, CompiledOptions{}); err != nil {
			expected("writing", err)
		}
	})
}

// FuzzExplain takes programs that the front end accepts through everything that
// comes before code: the plan, the optimiser, kernels and their fusion, for a
// GPU and for a CPU. None of it fails but for what a target has no code for.
func FuzzExplain(f *testing.F) {
	files, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var internal *InternalError
		p, err := Compile(context.Background(), []Source{Text("fuzz.logic", text)}, Options{})
		if errors.As(err, &internal) {
			t.Fatalf("%v\n%s", internal, internal.Stack)
		}
		if err != nil {
			return
		}
		for _, target := range []string{DefaultCPU, DefaultGPU} {
			err := p.Explain(context.Background(), io.Discard, nil,
				ExplainOptions{Kernels: true, WhyNotFused: true, Target: target})
			if errors.As(err, &internal) {
				t.Fatalf("%s: %v\n%s", target, internal, internal.Stack)
			}
		}
	})
}
