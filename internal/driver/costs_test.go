package driver

import (
	"context"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestKernelCosts predicts the kernels of a program and runs them on an
// emulated GPU: kernels are predicted as they run, and the rows behind a filter
// are those that were counted.
func TestKernelCosts(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 3})
	p := compileText(t, `
num(0).
num(x + 1) <- num(x), x < 99.
odd(x, k) <- num(x), int:mod[x, 2] = 1, k = int:mod[x, 10].
count[k] = n <- agg<<n = count()>> odd(_, k).
_(k, n) <- count[k] = n.`, Options{})
	db, err := p.Load(context.Background(), NewFacts(), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	costs, err := p.KernelCosts(context.Background(), db, 2, RunOptions{Engine: EngineGPU})
	if err != nil {
		t.Fatal(err)
	}
	counted := false
	for _, k := range costs {
		if k.Predicted <= 0 || k.Estimated <= 0 {
			t.Errorf("%s: predicted %v by counts and %v by estimates", k.Kernel, k.Predicted,
				k.Estimated)
		}
		if len(k.Measured) != 2 {
			t.Errorf("%s has run %d times, want 2", k.Kernel, len(k.Measured))
		}
		counted = counted || k.Rows == 100 && k.Appended == 50
	}
	if !counted {
		t.Errorf("no kernel keeps 50 of 100 rows: %+v", costs)
	}
}

// TestExplainCosts prints predictions beside what an emulated GPU measures.
func TestExplainCosts(t *testing.T) {
	emulateGPU(t, emulated.Options{Seed: 3})
	p := compileText(t, "num(0).\nnum(x + 1) <- num(x), x < 99.\n_(x) <- num(x), x > 89.", Options{})
	db, err := p.Load(context.Background(), NewFacts(), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		opts ExplainOptions
		want []string
	}{
		{ExplainOptions{Kernels: true, Target: DefaultGPU}, []string{"by estimates: launch "}},
		{ExplainOptions{Kernels: true, Run: true, RunOptions: RunOptions{Engine: EngineGPU}},
			[]string{" by counts and ", ", hot ", ", predicted "}},
		{ExplainOptions{JSON: true, Run: true, RunOptions: RunOptions{Engine: EngineGPU}},
			[]string{`"by_counts_us": `, `"measured_us": `}},
	} {
		var text strings.Builder
		if err := p.Explain(context.Background(), &text, db, tt.opts); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("there is no %q in:\n%s", want, &text)
			}
		}
	}
}
