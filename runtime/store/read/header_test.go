package read

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// textColumn is a column of a random text: an argument, or one that no
// predicate takes.
type textColumn struct {
	name string
	arg  int // -1 for none
}

// TestRandomHeaders writes random facts as text, with and without a first line
// of names, and expects to read the facts that were written. Some lines lack a
// value, and some are wrong.
func TestRandomHeaders(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	schemas := []store.Schema{storetest.Predicate(t, "p[a:int]=b:string"),
		storetest.Predicate(t, "p[a:string]=b:int"), storetest.Predicate(t, "p(a:int; b:string)"),
		storetest.Predicate(t, "p[a:int; b:string]=c:int")}
	kinds := map[string]int{}
	for range short.Count(t, 4000, "random texts with and without headers") {
		schema := schemas[rng.IntN(len(schemas))]
		var columns []textColumn
		for i, a := range schema.Args {
			columns = append(columns, textColumn{a.Name, i})
		}
		kind := pick("none", "names", "shuffled", "more", "others")
		switch kind {
		case "shuffled", "more":
			if kind == "more" {
				columns = append(columns, textColumn{"extra", -1})
			}
			rng.Shuffle(len(columns), func(i, j int) {
				columns[i], columns[j] = columns[j], columns[i]
			})
		case "others":
			for i := range columns {
				columns[i].name = fmt.Sprintf("column %c", 'x'+i)
			}
		}
		kinds[kind]++
		isCSV := rng.IntN(2) == 0
		fact := Fact{Pred: "p", Path: "p.tsv", Format: TSV, Sniff: true}
		delimiter, end := "\t", pick("\n", "\r\n")
		if isCSV {
			fact.Path, fact.Format, delimiter = "p.csv", CSV, ","
		}
		quoted := func(s string) string {
			if isCSV && (strings.ContainsAny(s, ",\"\r\n") || s == "" || rng.IntN(5) == 0) {
				return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
			}
			return s
		}
		var lines []string
		line := func(cell func(c textColumn) string) {
			var cells []string
			for _, c := range columns {
				cells = append(cells, cell(c))
			}
			lines = append(lines, strings.Join(cells, delimiter))
		}
		if kind != "none" {
			line(func(c textColumn) string { return quoted(c.name) })
		}
		var want []string
		hasBad := false
		for row := range 1 + rng.IntN(6) {
			isMissing := row > 0 && schema.Keys < len(schema.Args) && rng.IntN(4) == 0
			isBad := row > 0 && !isMissing && rng.IntN(8) == 0
			hasBad = hasBad || isBad
			tuple := make([]string, len(schema.Args))
			line(func(c textColumn) string {
				if c.arg < 0 {
					return quoted(pick("", "7", "more", "a b"))
				}
				isValue := c.arg >= schema.Keys
				if schema.Args[c.arg].Type == scalar.IntType {
					n := fmt.Sprint(row*1000 + rng.IntN(1000) - 2500)
					if isValue && isMissing {
						return ""
					}
					if isBad {
						return "x" + n
					}
					tuple[c.arg] = n
					return n
				}
				s := fmt.Sprintf("%d%s", row, pick("", " word", "é", ":x", "NA"))
				if isCSV {
					s += pick("", "", `"`, ",", "\n", ", ")
				}
				if isValue && isMissing && isCSV {
					return ""
				}
				if isValue && isMissing {
					s = "" // an empty field of a TSV file is the empty string
				}
				tuple[c.arg] = scalar.Literal(scalar.OfString(s))
				return quoted(s)
			})
			if !slices.Contains(tuple, "") {
				want = append(want, strings.Join(tuple, " "))
			}
		}
		text := pick("", "\ufeff") + strings.Join(lines, end) + pick("", end)
		fact.Reader = strings.NewReader(text)
		_, err := tryLoad(schema, fact, Options{Threads: 1, blockSize: 1 << 10})
		if (err != nil) != hasBad || hasBad && !strings.Contains(err.Error(), "is not an int") {
			t.Fatalf("%s: %q as %v: %v", kind, text, schema, err)
		}
		fact.Reader = strings.NewReader(text)
		r, err := tryLoad(schema, fact, Options{OnError: Skip, Threads: 1, blockSize: 1 << 10})
		if err != nil {
			t.Fatalf("%s: %q as %v: %v", kind, text, schema, err)
		}
		got := storetest.Tuples(r)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %q as %v: read %q, written %q", kind, text, schema, got, want)
		}
	}
	if len(kinds) < 5 {
		t.Errorf("only these kinds of first lines: %v", kinds)
	}
}
