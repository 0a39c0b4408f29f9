package frontend_test

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend/ast"
	"github.com/redfoxdb/redfox/frontend/blocks"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/delta"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/frontend/sema"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
)

// maxSteps keeps the brute-force evaluation of one program to a few
// milliseconds.
const maxSteps = 100_000

// TestOrderMeansNothing changes programs in ways that LogiQL says mean nothing:
// it shuffles the conjuncts and alternatives of bodies and the clauses, turns
// equalities round, and writes alternatives as rules of their own. The answers
// by brute force must stay the same.
func TestOrderMeansNothing(t *testing.T) {
	paths, err := filepath.Glob("../testdata/programs/*/program.logic")
	if err != nil {
		t.Fatal(err)
	}
	compared, large := 0, 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		facts := filepath.Join(filepath.Dir(path), "facts")
		want := answers(t, check(t, string(text), nil), facts)
		if want == "" {
			large++
			continue
		}
		for seed := range int64(4) {
			compared++
			r := rand.New(rand.NewSource(seed))
			if got := answers(t, check(t, string(text), r), facts); got != want && got != "" {
				t.Errorf("%s, seed %d: got\n%s\nwant\n%s", path, seed, got, want)
			}
		}
	}
	t.Logf("%d programs compared, %d are too large for brute force or refused", compared, large)
	if compared < 100 {
		t.Errorf("only %d programs compared", compared)
	}
}

// check checks a program, rearranged by r if that is not nil.
func check(t *testing.T, text string, r *rand.Rand) *core.Program {
	t.Helper()
	var list diag.List
	tree := parse.File(source.NewFile("program.logic", text), &list)
	if r != nil {
		tree.Clauses = rearrange(tree.Clauses, r)
	}
	files, _ := blocks.Names{}.Resolve([]*ast.File{tree}, &list)
	program := sema.Check(delta.Rewrite(files, &list), sema.Options{}, &list)
	if program == nil {
		t.Fatalf("refused: %s\n%s", list.All()[0].Message, text)
	}
	if err := core.Verify(program); err != nil {
		t.Fatalf("core: %v\n%s", err, program)
	}
	return program
}

// answers renders the result of a program, "" if it is too large or has none.
func answers(t *testing.T, p *core.Program, dir string) string {
	t.Helper()
	facts, err := oracle.ReadFacts(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	result, err := oracle.RunBounded(p, facts, maxSteps)
	if err != nil {
		return ""
	}
	var out []string
	for _, pred := range p.Preds {
		if !pred.Hidden {
			out = append(out, pred.Name+"\n"+oracle.TSV(result.Tuples[pred.Name]))
		}
	}
	violations := map[string]int{}
	for _, v := range result.Violations {
		violations[v.Check.Text] += len(v.Bindings)
	}
	for text, n := range violations {
		out = append(out, fmt.Sprintf("%s: %d violations\n", text, n))
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// rearrange changes clauses in place and returns them in another order.
func rearrange(clauses []*ast.Clause, r *rand.Rand) []*ast.Clause {
	var out []*ast.Clause
	presented, queries := false, 0
	for _, c := range clauses {
		text := c.Span.Text()
		presented = presented || strings.HasPrefix(text, "lang:output")
		if strings.HasPrefix(text, "_(") || strings.HasPrefix(text, "_[") {
			queries++
		}
		if c.P2P == nil || c.P2P.Name == "agg" {
			shuffle(c.Right, r)
		}
		alternatives, ok := ast.Unparen(c.Right).(*ast.Disj)
		if !ok || c.Arrow != ast.Rule {
			out = append(out, c)
			continue
		}
		for _, x := range alternatives.Items {
			single := *c
			single.Right = x
			out = append(out, &single)
		}
	}
	// Order by name, and the names of several queries, follow the text.
	if !presented && queries < 2 {
		r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	}
	return out
}

// shuffle rearranges a formula in place.
func shuffle(n ast.Node, r *rand.Rand) {
	mix := func(items []ast.Node) {
		for _, x := range items {
			shuffle(x, r)
		}
		r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	switch n := n.(type) {
	case *ast.Conj:
		mix(n.Items)
	case *ast.Disj:
		mix(n.Items)
	case *ast.Not:
		shuffle(n.X, r)
	case *ast.Paren:
		shuffle(n.X, r)
	case *ast.Compare:
		if len(n.Ops) == 1 && n.Ops[0] == "=" && r.Intn(2) == 0 {
			n.Operands[0], n.Operands[1] = n.Operands[1], n.Operands[0]
		}
	}
}
