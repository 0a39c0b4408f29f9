package suite

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redfoxdb/redfox/internal/failure"
)

// TestEmbedded holds that the binary has all queries, each in both languages.
func TestEmbedded(t *testing.T) {
	for suite, number := range map[string]int{"tpch": 22, "ssb": 13} {
		s, ok := Find(suite)
		if !ok {
			t.Fatalf("there is no suite %s", suite)
		}
		queries, err := s.Embedded()
		if err != nil {
			t.Fatal(err)
		}
		if len(queries) != number {
			t.Errorf("%s has %d queries, not %d", suite, len(queries), number)
		}
		for _, q := range queries {
			if len(q.Program) != 2 || !strings.HasSuffix(q.Program[0].Name, "schema.logic") ||
				!strings.Contains(q.Program[1].Text, "\n_") ||
				!strings.Contains(q.SQL, "from") || strings.HasSuffix(q.SQL, ";") {
				t.Errorf("%s %s: %d files of LogiQL, SQL of %d bytes", suite, q.Name,
					len(q.Program), len(q.SQL))
			}
		}
	}
	if _, ok := Find("tpcds"); ok {
		t.Error("tpcds is found")
	}
}

func TestReadQueries(t *testing.T) {
	folder := fstest.MapFS{
		"q02.logic":    {Data: []byte("_(x) <- a(x).\n")},
		"q01.logic":    {Data: []byte("_(x) <- b(x).\n")},
		"sql/q01.sql":  {Data: []byte("select x from b;\n\n")},
		"other.logic":  {Data: []byte("_(x) <- c(x).\n")},
		"old/q3.logic": {Data: []byte("_(x) <- c(x).\n")},
	}
	queries, err := tpch.ReadQueries(folder, "mine")
	if err != nil || len(queries) != 2 || queries[0].Name != "q01" ||
		queries[0].SQL != "select x from b" || queries[1].SQL != "" ||
		len(queries[0].Program) != 1 || queries[0].Program[0].Name != "mine/q01.logic" {
		t.Errorf("%v, %v", queries, err)
	}
	folder["schema.logic"] = &fstest.MapFile{Data: []byte("b(x) -> int(x).\n")}
	if queries, err = tpch.ReadQueries(folder, "mine"); err != nil ||
		len(queries[1].Program) != 2 || queries[1].Program[0].Name != "mine/schema.logic" {
		t.Errorf("%v, %v", queries, err)
	}
	var missing *failure.Environment
	if _, err = tpch.ReadQueries(fstest.MapFS{}, "mine"); !errors.As(err, &missing) ||
		missing.Message != "mine has no queries" {
		t.Errorf("no queries: %v", err)
	}
	two, unknown := Select(queries, []string{"q02"})
	if len(two) != 1 || two[0].Name != "q02" || unknown != "" {
		t.Errorf("%v, %q", two, unknown)
	}
	if _, unknown = Select(queries, []string{"q02", "q03"}); unknown != "q03" {
		t.Errorf("unknown is %q", unknown)
	}
}

// TestAt holds that the one parameter that goes with the scale factor is found
// in both texts, and that nothing else changes.
func TestAt(t *testing.T) {
	queries, err := tpch.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		same, small, large := tpch.At(q, 1), tpch.At(q, 0.01), tpch.At(q, 300)
		before, after := q.Program[1].Text+q.SQL, small.Program[1].Text+small.SQL
		if same.SQL != q.SQL || same.Program[1] != q.Program[1] {
			t.Errorf("%s at scale factor 1 is another", q.Name)
		}
		if q.Name != "q11" {
			if before != after {
				t.Errorf("%s depends on the scale factor", q.Name)
			}
			continue
		}
		if strings.ReplaceAll(before, "0.0001", "0.01") != after ||
			strings.Count(after, "0.01") != 2 ||
			strings.Count(large.Program[1].Text, "0.000000333333 ") != 1 {
			t.Errorf("Q11 at scale factor 0.01:\n%s\nat 300:\n%s", after, large.Program[1].Text)
		}
	}
}

func TestQueryName(t *testing.T) {
	for text, want := range map[string]string{"1": "q01", "q6": "q06", "Q22": "q22", "1.1": "q11",
		"q4.3": "q43", "all": "all", "q": "q"} {
		if got := QueryName(text); got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
}

func TestScale(t *testing.T) {
	for _, tt := range []struct {
		suite *Suite
		rows  map[string]int64
		scale float64
	}{
		{tpch, map[string]int64{"lineitem": 6001215, "orders": 1500000, "nation": 25}, 1},
		{tpch, map[string]int64{"lineitem": 60175, "supplier": 100}, 0.01},
		{tpch, map[string]int64{"lineitem": 600037902, "supplier": 1000000, "region": 5}, 100},
		{tpch, map[string]int64{"customer": 4500000}, 30},
		{tpch, map[string]int64{"nation": 25, "region": 5}, 0},
		{ssb,
			map[string]int64{"lineorder": 119994746, "part": 1000000, "customer": 600000,
				"supplier": 40000, "date": 2556}, 20},
		{ssb, map[string]int64{"lineorder": 60010, "part": 2000, "date": 2557}, 0.01},
	} {
		if got := tt.suite.ScaleOf(tt.rows); got != tt.scale {
			t.Errorf("%v: scale factor %g, not %g", tt.rows, got, tt.scale)
		}
		if tt.scale == 0 {
			continue
		}
		if err := tt.suite.CheckScale(tt.rows, tt.scale, "dir"); err != nil {
			t.Errorf("%v: %v", tt.rows, err)
		}
		var wrong *failure.Environment
		if err := tt.suite.CheckScale(tt.rows, tt.scale*3, "dir"); !errors.As(err, &wrong) ||
			!strings.HasPrefix(wrong.Message, "dir has ") {
			t.Errorf("%v at scale factor %g: %v", tt.rows, tt.scale*3, err)
		}
	}
}

// TestPublished holds that figures have one for each query, and sums that their
// sources name.
func TestPublished(t *testing.T) {
	sums := map[string]float64{"Sirius, GH200": 1427, "Sirius 2026-09": 948, "TQP++, H100": 700,
		"DuckDB 1.4.3, 16 cores": 2842,
		"Crystal, H200 20":       14.6, "Crystal, H20": 17.6, "Crystal, H200 100": 80.4}
	for _, p := range published {
		number := map[string]int{"tpch": 22, "ssb": 13}[p.Suite]
		if len(p.Queries) != number && (p.Sum == 0 || len(p.Queries) > 0) {
			t.Errorf("%s: %d queries", p.System, len(p.Queries))
		}
		want, ok := sums[p.System]
		if !ok {
			want = sums[p.System+" "+FormatScale(p.Scale)]
		}
		if got := p.Total(); got < want*0.995 || got > want*1.005 {
			t.Errorf("%s: the sum is %g, not %g", p.System, got, want)
		}
	}
	if got := PublishedScales("ssb"); len(got) != 2 || got[0] != 20 || got[1] != 100 {
		t.Errorf("scales are %v", got)
	}
	if list := PublishedFor("tpch", 100); len(list) != 3 || list[0].Of(0) != 87 ||
		list[0].Of(22) != 0 {
		t.Errorf("for TPC-H 100: %v", list)
	}
}
