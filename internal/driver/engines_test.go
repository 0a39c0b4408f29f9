package driver_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
)

// TestKeepApart runs a program once for each pair of kernels that would be
// fused, with that pair apart: the answers stay the same.
func TestKeepApart(t *testing.T) {
	ctx := context.Background()
	folder := filepath.Join("../../testdata", "quickstart")
	sources, err := driver.ReadSources(filepath.Join(folder, "reach.logic"))
	if err != nil {
		t.Fatal(err)
	}
	engine := "cpu"
	if _, _, err := driver.ChooseEngine(engine); err != nil {
		engine = "go"
	}
	run := func(opts driver.Options) (kernels, answer string) {
		t.Helper()
		prog, err := driver.Compile(ctx, sources, opts)
		if err != nil {
			t.Fatal(err)
		}
		var text, out bytes.Buffer
		if err := prog.Emit(&text, driver.StageHarmony,
			driver.EmitOptions{Target: "cpu"}); err != nil {
			t.Fatal(err)
		}
		res, err := prog.Run(ctx, driver.NewFacts().Dir(filepath.Join(folder, "facts")),
			driver.RunOptions{Engine: engine})
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Write(&out, "_", driver.TSV, driver.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		return text.String(), out.String()
	}
	fused, want := run(driver.Options{})
	pairs := 0
	for _, m := range regexp.MustCompile(`run (\w+_\w+)\n`).FindAllStringSubmatch(fused, -1) {
		parts := strings.Split(m[1], "_")
		for i := range parts[1:] {
			pairs++
			apart, got := run(driver.Options{KeepApart: []string{parts[i] + "+" + parts[i+1]}})
			if strings.Contains(apart, "run "+m[1]+"\n") {
				t.Errorf("%s and %s are fused all the same", parts[i], parts[i+1])
			}
			if got != want {
				t.Errorf("with %s and %s apart the answer is\n%s\nnot\n%s", parts[i], parts[i+1],
					got, want)
			}
		}
	}
	if pairs == 0 {
		t.Errorf("nothing is fused in\n%s", fused)
	}
	var wrong *driver.EnvironmentError
	if _, err := driver.Compile(ctx, sources,
		driver.Options{KeepApart: []string{"k0"}}); !errors.As(err, &wrong) {
		t.Errorf("a pair of one name gives %v", err)
	}
	prog, err := driver.Compile(ctx, sources, driver.Options{KeepApart: []string{"k0+nothing"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := prog.Emit(&bytes.Buffer{}, driver.StageHarmony, driver.EmitOptions{}); !errors.As(err,
		&wrong) || !strings.Contains(err.Error(), `"nothing"`) {
		t.Errorf("a pair with an unknown kernel gives %v", err)
	}
}

// TestAuto holds what auto takes: over few facts the go engine, over many the
// best that there is.
func TestAuto(t *testing.T) {
	ctx := context.Background()
	prog, err := driver.Compile(ctx,
		[]driver.Source{driver.Text("p.logic",
			"n(x) -> int(x).\n_[] = t <- agg<<t = total(x)>> n(x).\n")}, driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	best := "cpu"
	if _, _, err := driver.ChooseEngine(best); err != nil {
		best = "go"
	}
	for _, tt := range []struct {
		rows int
		want string
	}{{10, "go"}, {40_000, best}} {
		var rows [][]any
		for i := range tt.rows {
			rows = append(rows, []any{i})
		}
		db, err := prog.Load(ctx, driver.NewFacts().Rows("n", rows...), driver.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		chosen, passed, err := prog.ChooseEngine(db, driver.RunOptions{})
		if err != nil || chosen.Name != tt.want {
			t.Errorf("%d facts: auto is %s, not %s (%v)", tt.rows, chosen.Name, tt.want, err)
		}
		if said := len(passed) > 0; said != (tt.rows > 1000 && best == "go") {
			t.Errorf("%d facts: %d engines are passed over", tt.rows, len(passed))
		}
		res, err := prog.RunOn(ctx, db, driver.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Stats.Engine != tt.want {
			t.Errorf("%d facts ran on %s, not %s", tt.rows, res.Stats.Engine, tt.want)
		}
		for row := range res.Rows("_") {
			if want := int64(tt.rows*(tt.rows-1)) / 2; row[0] != want {
				t.Errorf("%d facts: the total is %v, not %d", tt.rows, row[0], want)
			}
		}
	}
}
