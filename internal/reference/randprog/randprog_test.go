package randprog_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/frontend"
	"github.com/redfoxdb/redfox/frontend/core"
	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/source"
	"github.com/redfoxdb/redfox/internal/reference/oracle"
	"github.com/redfoxdb/redfox/internal/reference/randprog"
)

// seeds is how many programs each test looks at.
const seeds = 400

func compile(p *randprog.Program) (*core.Program, string) {
	file := source.NewFile("program.logic", p.Text())
	program, found := frontend.Compile([]*source.File{file}, frontend.Options{})
	var b strings.Builder
	for _, d := range found {
		if d.Severity == diag.Error {
			fmt.Fprintf(&b, "%d: %s\n", d.Span.Position().Line, d.Message)
		}
	}
	return program, b.String()
}

func TestProgramsAreValid(t *testing.T) {
	for seed := range uint64(seeds) {
		p := randprog.New(seed).WithTerms()
		if program, why := compile(p); program == nil {
			t.Errorf("seed %d is refused:\n%s\n%s", seed, why, p.Text())
		}
	}
}

func TestProgramsAreDeterminedByTheirSeed(t *testing.T) {
	for seed := range uint64(seeds) {
		if !reflect.DeepEqual(randprog.New(seed), randprog.New(seed)) {
			t.Fatalf("seed %d gives two programs", seed)
		}
	}
	if randprog.New(1).Text() == randprog.New(2).Text() {
		t.Error("seeds 1 and 2 give one program")
	}
}

// TestProgramsCoverTheLanguage wants every construct in a good share of the
// programs.
func TestProgramsCoverTheLanguage(t *testing.T) {
	counts := map[string]int{}
	for seed := range uint64(seeds) {
		p := randprog.New(seed)
		text := p.Text()
		for name, pattern := range map[string]string{
			"negation": `!\w+[(\[]`, "negated conjunction": `!\(.*, `, "disjunction": `\(.* ; .*\)`,
			"aggregation": `agg<<`, "two aggregates": `agg<<.*, .*>>`,
			"numbering": `seq<<>>`, "several heads": `(?m)^p\d+\([^)]*\), p`, "nullary": `n\d+\(\)`,
			"like": `string:like`, "arithmetic": `\+ v\d`,
			"functional": `e\d+\[`, "chain": `0 <= v\d+ <`, "constraint": `(?m)-> v\d`,
			"limit": `lang:output:limit`,
			"table": `t\d+:a\[`, "applications compared": `\] = [\w:]+\[`,
			"application of an application": `\[[\w:]+\[`, "several values": `\(x0.*;.*\) ->`,
			"delta rule": `(?m)^\+.* <- `, "delta fact": `(?m)^\+[^<]*\.$`,
			"least values": `lang:recursiveMin`, "greatest values": `lang:recursiveMax`,
			"first values":                `lang:recursiveAny`,
			"count in a recursion":        `(?m)^i.*agg<<u = .* q\d+\(`,
			"recursion that is no result": `(?m)^_k\d+\(`, "iteration": `lang:iterate\[`, "iteration until nothing moves": `lang:iterateUntil\[`,
			"deletion": `(?m)^-l`, "stage": `@prev`,
			"unsigned integers": `\buint`, "widened columns": `(?m)^w\d+\(`,
			"lists": `list<<>>`, "running totals": `runtotal`, "defaults": `lang:defaultValue`,
			"sum in an atom":         `\w[(\[][^<]*v\d+ [+-] [123][,)\]]`,
			"votes of a round":       `(?m)^_v\d+\[`,
			"constraint with a join": `(?m)^[^<]*[)\d], [^<]*v\d.* -> [^x]*$`, "range": `int:range|\w < v\d+ <= `,
			"relations with shared sources": `(?m)^s\d+\(v0\) <- `,
			"parts of a text":               `string:split|, v\d+, [1_]\] = v`,
			"cycle in a recursion":          `(?m)^p\d+\([xyz], [xyz]\) <- \w+\([xyz], .*, \w+\(`,
		} {
			if regexp.MustCompile(pattern).MatchString(text) {
				counts[name]++
			}
		}
		if readsOneRowTwice(p) {
			counts["one row read twice"]++
		}
		program, why := compile(p)
		if program == nil {
			t.Fatalf("seed %d is refused: %s", seed, why)
		}
		for _, s := range program.Strata {
			if s.Recursive {
				counts["recursion"]++
			}
			if s.Recursive && len(s.Preds) > 1 {
				counts["mutual recursion"]++
			}
		}
	}
	for _, name := range []string{"negation", "negated conjunction", "disjunction", "aggregation", "two aggregates", "numbering", "several heads", "nullary", "like", "arithmetic", "functional", "chain", "constraint", "limit", "recursion", "mutual recursion",
		"table", "applications compared", "application of an application", "several values",
		"one row read twice", "delta rule", "delta fact",
		"lists", "running totals", "defaults", "deletion", "stage", "unsigned integers", "widened columns", "sum in an atom", "range",
		"parts of a text", "constraint with a join", "votes of a round", "relations with shared sources", "least values", "greatest values",
		"first values", "iteration", "iteration until nothing moves", "recursion that is no result",
		"count in a recursion", "cycle in a recursion"} {
		if counts[name] < seeds/50 {
			t.Errorf("%s is in %d of %d programs", name, counts[name], seeds)
		}
	}
}

// readsOneRowTwice reports whether a rule applies predicates of one table, or
// one predicate, to the same keys.
func readsOneRowTwice(p *randprog.Program) bool {
	application := regexp.MustCompile(`(\w+)(?::\w+)?\[([^\]]*v[^\]]*)\]`)
	for _, c := range p.Clauses {
		seen := map[string]bool{}
		for _, m := range application.FindAllStringSubmatch(c, -1) {
			if row := m[1] + "[" + m[2]; seen[row] {
				return true
			} else {
				seen[row] = true
			}
		}
	}
	return false
}

// TestProgramsEnd evaluates programs by brute force. Most are small enough,
// some are refused, and most derive something.
func TestProgramsEnd(t *testing.T) {
	large, refused, empty := 0, 0, 0
	for seed := range uint64(seeds / 4) {
		p := randprog.New(seed)
		program, why := compile(p)
		if program == nil {
			t.Fatalf("seed %d is refused: %s", seed, why)
		}
		result, err := oracle.RunBounded(program, facts(t, p, program), 200_000)
		if errors.Is(err, oracle.ErrTooLarge) {
			large++
			continue
		}
		if err != nil || len(result.Violations) > 0 {
			refused++
			continue
		}
		derived, some := 0, 0
		for _, pred := range program.Preds {
			if pred.Exported {
				derived++
				some += min(1, len(result.Tuples[pred.Name]))
			}
		}
		if some*3 < derived {
			empty++
		}
	}
	summary := fmt.Sprintf("of %d programs, %d are too large for brute force, %d are refused and %d derive little", seeds/4, large, refused, empty)
	t.Log(summary)
	if large > seeds/20 || refused == 0 || refused > seeds/12 || empty > seeds/16 {
		t.Error(summary)
	}
}

// TestTwinsAgree holds what lists, series and defaults derive against rules of
// the core language that mean the same.
func TestTwinsAgree(t *testing.T) {
	compared, full := 0, 0
	for seed := range uint64(seeds) {
		p := randprog.New(seed)
		program, why := compile(p)
		if program == nil {
			t.Fatalf("seed %d is refused: %s", seed, why)
		}
		if p.Twins == nil {
			continue
		}
		result, err := oracle.RunBounded(program, facts(t, p, program), 50_000)
		if err != nil {
			continue
		}
		for _, pair := range p.Twins {
			a, b := rows(result.Tuples[pair[0]]), rows(result.Tuples[pair[1]])
			if compared++; len(a) > 1 {
				full++
			}
			if !slices.Equal(a, b) {
				t.Errorf("seed %d: %s has %v, and its twin %s %v\n%s", seed, pair[0], a, pair[1], b,
					p.Text())
			}
		}
	}
	if compared < seeds/4 || full < compared/3 {
		t.Errorf("%d pairs were compared, %d with several tuples", compared, full)
	}
}

func rows(tuples []oracle.Tuple) []string {
	var out []string
	for _, tuple := range tuples {
		out = append(out, fmt.Sprint(tuple))
	}
	slices.Sort(out)
	return out
}

// facts goes through files, as any other program's facts do.
func facts(t *testing.T, p *randprog.Program, program *core.Program) oracle.Facts {
	t.Helper()
	dir := t.TempDir()
	if err := p.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "program.logic"))
	if err != nil || string(text) != p.Text() {
		t.Fatalf("the written program differs: %v", err)
	}
	out, err := oracle.ReadFacts(filepath.Join(dir, "facts"), program)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestShrink(t *testing.T) {
	p := &randprog.Program{Seed: 7}
	for i := range 20 {
		p.Clauses = append(p.Clauses, fmt.Sprintf("c%d().", i))
		p.Facts = append(p.Facts, randprog.Fact{Pred: "f", Fields: []string{fmt.Sprint(i)}})
	}
	calls := 0
	small := randprog.Shrink(p, func(q *randprog.Program) bool {
		calls++
		files := q.FactFiles()
		return strings.Contains(q.Text(), "c3().") && strings.Contains(q.Text(), "c17().") &&
			strings.Contains("\n"+files["f.tsv"], "\n11\n")
	})
	if small.Text() != "c3().\nc17().\n" || small.FactFiles()["f.tsv"] != "11\n" ||
		small.Seed != 7 {
		t.Errorf("shrunk to %q and %q", small.Text(), small.FactFiles())
	}
	if calls > 200 {
		t.Errorf("shrinking took %d calls", calls)
	}
	if len(p.Clauses) != 20 || len(p.Facts) != 20 || p.Clauses[4] != "c4()." {
		t.Error("shrinking changed the program it was given")
	}
}
