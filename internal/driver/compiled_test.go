package driver_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/short"
)

// recompiled writes a program as a file and reads it.
func recompiled(t *testing.T, prog *driver.Program,
	opts driver.CompiledOptions) (*driver.Compiled, []byte) {
	t.Helper()
	var file, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&file, &again} {
		if _, err := prog.WriteCompiled(w, opts); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Error("the same program gives other bytes")
	}
	c, err := driver.ParseCompiled(driver.Text("program.rfx", file.String()))
	if err != nil {
		t.Fatal(err)
	}
	return c, file.Bytes()
}

// TestCompiledPrograms writes every program of testdata/programs as a file,
// reads it, and wants the same results of it, or the same failure to the
// letter. What is read is written as the same bytes.
func TestCompiledPrograms(t *testing.T) {
	t.Setenv("REDFOX_CACHE", "")
	files, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d programs found: %v", len(files), err)
	}
	for _, file := range short.Part(t, files, "compiled programs") {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			prog := compile(t, string(text), driver.Options{})
			opts := driver.CompiledOptions{Name: "program", Targets: []string{"cpu"}}
			c, data := recompiled(t, prog, opts)
			compiled, err := c.Program(driver.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, again := recompiled(t, compiled, opts); !bytes.Equal(data, again) {
				t.Error("the program changes when it is read and written")
			}
			facts := driver.FactsIn(filepath.Join(dir, "facts"))
			got, want := outcome(t, compiled, facts), outcome(t, prog, facts)
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", head(got), head(want))
			}
		})
	}
}

// outcome runs a program and renders all that it gives, or its failure.
func outcome(t *testing.T, prog *driver.Program, facts *driver.Facts) string {
	t.Helper()
	res, err := prog.Run(context.Background(), facts, driver.RunOptions{})
	var wrong *driver.ProgramError
	switch {
	case errors.As(err, &wrong):
		return wrong.Error()
	case err != nil:
		t.Fatal(err)
	}
	var b strings.Builder
	for _, pred := range res.Predicates() {
		b.WriteString(pred + "\n")
		if err := res.Write(&b, pred, driver.TSV, driver.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestCompiledFromPlan compiles a plan, which has no sources: diagnostics then
// point into the plan.
func TestCompiledFromPlan(t *testing.T) {
	prog := compile(t, "n(1). n(2).\nm[] = x <- n(x).\n", driver.Options{})
	var plan strings.Builder
	if err := prog.Emit(&plan, driver.StagePlan, driver.EmitOptions{}); err != nil {
		t.Fatal(err)
	}
	fromPlan, err := driver.ParsePlan(driver.Text("m.plan", plan.String()), driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := recompiled(t, fromPlan, driver.CompiledOptions{Name: "m", Targets: []string{}})
	compiled, err := c.Program(driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = compiled.Run(context.Background(), driver.NewFacts(), driver.RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "program.rfx:plan:") ||
		!strings.Contains(err.Error(), "m[] has both 1 and 2") {
		t.Errorf("got %v", err)
	}
}

// TestCompiledOptions checks that what a program was compiled without stays
// left out, and that files are looked for beside the file of the compiled
// program.
func TestCompiledOptions(t *testing.T) {
	prog := compile(t,
		"n(x) -> int(x).\nlang:physical:filePath[`n] = \"n.csv\".\n_(x) <- n(x), x > 1.\n",
		driver.Options{Disable: []string{"PushFilters"}})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "n.csv"), []byte("1\n2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if _, err := prog.WriteCompiled(&file,
		driver.CompiledOptions{Name: "n", Targets: []string{}}); err != nil {
		t.Fatal(err)
	}
	c, err := driver.ParseCompiled(driver.Text(filepath.Join(dir, "n.rfx"), file.String()))
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Program(driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, compiled, driver.NewFacts().Allow(dir)); got != "_\n2\n" {
		t.Errorf("got %q", got)
	}
	var steps strings.Builder
	if err := compiled.Explain(context.Background(), &steps, nil,
		driver.ExplainOptions{Steps: true}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(steps.String(), "== PushFilters") {
		t.Error("the compiled program forgets that a pass is left out")
	}
	if _, err := c.Program(driver.Options{Disable: []string{"PushFilter"}}); err == nil {
		t.Error("an unknown pass is taken")
	}
}

// TestCompiledCode checks what a file has for targets of both kinds, where
// there is a libLLVM.
func TestCompiledCode(t *testing.T) {
	if _, _, err := driver.ChooseEngine("cpu"); err != nil {
		t.Skip(err)
	}
	t.Setenv("REDFOX_CACHE", filepath.Join(t.TempDir(), "cache"))
	text, err := os.ReadFile("../../testdata/quickstart/reach.logic")
	if err != nil {
		t.Fatal(err)
	}
	prog := compile(t, string(text), driver.Options{})
	targets := []string{"gpu:sm_80", "gpu:sm_90", "cpu"}
	c, _ := recompiled(t, prog, driver.CompiledOptions{Name: "reach", Targets: targets})
	info := c.Info()
	if info.Program != "reach" || len(info.Targets) != len(targets) {
		t.Fatalf("got %+v", info)
	}
	for i, target := range info.Targets {
		stage, part := driver.StagePTX, driver.PartPTX
		if target.Name == "cpu" {
			stage, part = driver.StageLLVM, driver.PartLLVM
		}
		if target.Name != targets[i] || (target.Compiler == "") != (part == driver.PartLLVM) {
			t.Errorf("target %d is %s, by %q", i, target.Name, target.Compiler)
		}
		code, err := c.Text(part, target.Name)
		if err != nil {
			t.Fatal(err)
		}
		var emitted strings.Builder
		if err := prog.Emit(&emitted, stage, driver.EmitOptions{Target: target.Name}); err != nil {
			t.Fatal(err)
		}
		if emitted.String() != code {
			t.Errorf("%s: the file has other code than --emit %s prints", target.Name, stage)
		}
		kernels := 0
		for _, f := range target.Functions {
			if !strings.Contains(code, f.Symbol) {
				t.Errorf("%s: the code has no function %s", target.Name, f.Symbol)
			}
			if strings.HasPrefix(f.Does, "runs kernel ") {
				kernels++
				if !strings.HasPrefix(f.Place, "p.logic:") || len(f.Operators) == 0 {
					t.Errorf("%s: kernel %s is from %q and does %v", target.Name, f.Symbol, f.Place,
						f.Operators)
				}
			}
		}
		graph, err := c.Text(driver.PartHarmony, target.Name)
		if err != nil || kernels == 0 || kernels != strings.Count(graph, "  run ") {
			t.Errorf("%s: functions for %d kernels, and this graph: %v\n%s", target.Name, kernels,
				err, graph)
		}
		// The stage's text is the program, too.
		k, err := driver.ParseHarmony(driver.Text("reach.harmony", graph))
		if err != nil {
			t.Fatal(err)
		}
		var again strings.Builder
		if err := k.Emit(&again, stage, driver.EmitOptions{Target: target.Name}); err != nil {
			t.Fatal(err)
		}
		if again.String() != code {
			t.Errorf("%s: the kernel graph's text gives other code", target.Name)
		}
	}
	for _, want := range []string{".version 7.", ".visible .entry"} {
		if ptx, _ := c.Text(driver.PartPTX, ""); !strings.Contains(ptx, want) {
			t.Errorf("the PTX lacks %q", want)
		}
	}
}

// TestCompiledTargets checks what Text gives of a file without code, and names
// of targets.
func TestCompiledTargets(t *testing.T) {
	prog := compile(t, "n(1).\n_(x) <- n(x).\n", driver.Options{})
	c, _ := recompiled(t, prog, driver.CompiledOptions{Name: "n", Targets: []string{}})
	if text, err := c.Text(driver.PartSource, ""); err != nil || text != "n(1).\n_(x) <- n(x).\n" {
		t.Errorf("source: %q, %v", text, err)
	}
	if text, err := c.Text(driver.PartPlan, ""); err != nil ||
		!strings.HasPrefix(text, "var n$facts(x: int)") {
		t.Errorf("plan: %q, %v", text, err)
	}
	_, err := c.Text(driver.PartPTX, "gpu:sm_90")
	if err == nil ||
		err.Error() != "program.rfx has no ptx for gpu:sm_90; it has no code; name targets with redfox compile --target" {
		t.Errorf("PTX: %v", err)
	}
	for _, name := range []string{"cpu", "gpu:sm_80", "gpu:sm_90", "gpu:sm_103"} {
		if err := driver.CheckTarget(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "gpu", "gpu:sm_75", "gpu:sm_080", "gpu:sm_90a", "sm_80",
		"CPU"} {
		if err := driver.CheckTarget(name); err == nil {
			t.Errorf("there is a target %q", name)
		}
	}
	if _, err := prog.WriteCompiled(&bytes.Buffer{},
		driver.CompiledOptions{Targets: []string{"gpu"}}); err == nil {
		t.Error("there is code for the target gpu")
	}
}
