package driver_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/redfoxdb/redfox/internal/driver"
	"github.com/redfoxdb/redfox/internal/short"
)

// TestClosures compares the sizes of closures of real graphs with published
// ones.
func TestClosures(t *testing.T) {
	file, err := os.Open("../../testdata/graphs/SIZES.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comma = '\t'
	table, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head := table[0]
	for _, row := range table[1:] {
		edges, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		for c := 3; c < len(head); c++ {
			if row[c] == "" {
				continue
			}
			want, err := strconv.ParseInt(row[c], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(head[c]+"/"+row[0], func(t *testing.T) {
				if testing.Short() && want > 1e6 {
					t.Skip("-short: closures of more than a million tuples")
				}
				if want > 200e6 {
					t.Skipf("a closure of %d tuples is too large for a test", want)
				}
				if edges > 100_000 || want > 20e6 {
					short.OnlyEvery(t, "closures of 100,000 edges or 20 million tuples")
				}
				prog := compileFile(t, filepath.Join("../../testdata/graphs", head[c]+".logic"))
				facts := driver.NewFacts().File("edge",
					filepath.Join("../../testdata/graphs", row[0]+".tsv.gz"))
				res, err := prog.Run(context.Background(), facts, driver.RunOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if got := rows(res, "_")[0][0]; got != want {
					t.Errorf("%d tuples, published are %d", got, want)
				}
			})
		}
	}
}

func compileFile(t *testing.T, file string) *driver.Program {
	t.Helper()
	sources, err := driver.ReadSources(file)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := driver.Compile(context.Background(), sources, driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// pointers returns the facts of a made-up C program for cspa.logic: functions
// of variables that are assigned in short chains, and pointers to some of them.
func pointers(functions int) *driver.Facts {
	random := rand.New(rand.NewPCG(7, uint64(functions)))
	var assign, dereference [][]any
	const variables = 40
	for f := range functions {
		base := f * variables
		for v := 1; v < variables; v++ {
			if random.IntN(4) > 0 {
				assign = append(assign, []any{base + v, base + random.IntN(v)})
			}
			if random.IntN(3) == 0 {
				dereference = append(dereference, []any{base + v, base + random.IntN(variables)})
			}
		}
		if f > 0 { // a call passes a value on
			assign = append(assign, []any{base, random.IntN(base)})
		}
	}
	return driver.NewFacts().Rows("assign", assign...).Rows("dereference", dereference...)
}

// TestPointsTo runs a mutually recursive points-to analysis over generated
// programs in every variant; the sizes must agree, and the analysis is closed
// under its own rules. Only variants with all passes get the larger program,
// which is half as large with -short.
func TestPointsTo(t *testing.T) {
	text, err := os.ReadFile("../../testdata/graphs/cspa.logic")
	if err != nil {
		t.Fatal(err)
	}
	// A binding of a rule's body without its head would violate a constraint.
	closed := string(text) + `
valueFlow(x, z), valueFlow(z, y) -> valueFlow(x, y).
assign(x, z), memoryAlias(z, y) -> valueFlow(x, y).
dereference(y, x), valueAlias(y, z), dereference(z, w) -> memoryAlias(x, w).
valueFlow(z, x), memoryAlias(z, w), valueFlow(w, y) -> valueAlias(x, y).
`
	for _, c := range []struct {
		functions int
		all       bool
	}{{25, false}, {6, true}} {
		if testing.Short() {
			c.functions = min(c.functions, 12)
		}
		facts, first := pointers(c.functions), ""
		for i, v := range variants(t) {
			if !c.all && v.disable != nil || isLeftOut(v, i) {
				continue
			}
			prog := compile(t, closed, driver.Options{Disable: v.disable, NoFuse: v.noFuse})
			res, err := v.runOver(context.Background(), prog, facts)
			if err != nil {
				t.Fatalf("%s: %v", v.name, err)
			}
			got := fmt.Sprint(rows(res, "_"))
			if first == "" {
				first = got
				t.Logf("flows, memory aliases, value aliases of %d functions: %s", c.functions, got)
			}
			if got != first {
				t.Errorf("%s: %s, at first it was %s", v.name, got, first)
			}
		}
	}
}
