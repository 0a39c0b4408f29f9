package ssbgen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// rowsOf returns all columns of a table by their names; integers are int64, all
// others are strings.
func rowsOf(t *testing.T, o Options, name string) map[string][]any {
	t.Helper()
	for _, table := range o.tables() {
		if table.name == name {
			return valuesOf(t, table.make(0, table.units))
		}
	}
	t.Fatalf("no table %s", name)
	return nil
}

func valuesOf(t *testing.T, columns []column) map[string][]any {
	t.Helper()
	out := map[string][]any{}
	for _, c := range columns {
		list := make([]any, c.values.len())
		switch v := c.values.(type) {
		case texts:
			for i := range list {
				list[i] = v[i]
			}
		case coded[int8]:
			for i := range list {
				list[i] = v.list[v.codes[i]]
			}
		case coded[int16]:
			for i := range list {
				list[i] = v.list[v.codes[i]]
			}
		default:
			numbers := reflect.ValueOf(v)
			for i := range list {
				list[i] = numbers.Index(i).Int()
			}
		}
		out[c.name] = list
	}
	return out
}

// count returns how often each value occurs.
func count(values []any) map[any]int {
	out := map[any]int{}
	for _, v := range values {
		out[v]++
	}
	return out
}

// even fails unless there are as many different values as expected, each about
// as often as the others: within six standard deviations of a binomial
// distribution.
func even(t *testing.T, name string, values []any, different int) {
	t.Helper()
	counts := count(values)
	if len(counts) != different {
		t.Errorf("%s has %d different values, not %d", name, len(counts), different)
	}
	p := 1 / float64(different)
	mean := float64(len(values)) * p
	spread := 6 * math.Sqrt(mean*(1-p))
	for v, n := range counts {
		if math.Abs(float64(n)-mean) > spread {
			t.Errorf("%s is %v %d times, not %.0f ± %.0f", name, v, n, mean, spread)
		}
	}
}

// within fails unless all values are of a range whose ends occur.
func within(t *testing.T, name string, values []any, low, high int64) {
	t.Helper()
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range values {
		least, most = min(least, v.(int64)), max(most, v.(int64))
	}
	if least != low || most != high {
		t.Errorf("%s is of %d to %d, not of %d to %d", name, least, most, low, high)
	}
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		scale                             float64
		orders, customer, supplier, parts int64
	}{
		{0.001, 1500, 30, 2, 200},
		{0.01, 15_000, 300, 20, 2000},
		{0.5, 750_000, 15_000, 1000, 100_000},
		{1, 1_500_000, 30_000, 2000, 200_000},
		{3.9, 5_850_000, 117_000, 7800, 400_000},
		{20, 30_000_000, 600_000, 40_000, 1_000_000},
		{100, 150_000_000, 3_000_000, 200_000, 1_400_000},
	} {
		o := Options{Scale: c.scale}
		want := map[string]int64{"lineorder": c.orders, "customer": c.customer,
			"supplier": c.supplier,
			"part":     c.parts, "date": 2556}
		got := map[string]int64{}
		for _, table := range o.tables() {
			got[table.name] = table.units
		}
		if !maps.Equal(got, want) {
			t.Errorf("scale factor %v: %v, not %v", c.scale, got, want)
		}
	}
}

func TestLineorder(t *testing.T) {
	o := Options{Scale: 0.02, Seed: 7}
	rows := rowsOf(t, o, "lineorder")
	n := len(rows["lo_orderkey"])
	if mean := 4 * float64(o.orders()); math.Abs(float64(n)-mean) > mean/50 {
		t.Errorf("%d rows, not about %.0f", n, mean)
	}
	even(t, "lo_quantity", rows["lo_quantity"], 50)
	even(t, "lo_discount", rows["lo_discount"], 11)
	even(t, "lo_tax", rows["lo_tax"], 9)
	even(t, "lo_suppkey", rows["lo_suppkey"], 40)
	even(t, "lo_shipmode", rows["lo_shipmode"], 7)
	within(t, "lo_quantity", rows["lo_quantity"], 1, 50)
	within(t, "lo_discount", rows["lo_discount"], 0, 10)
	within(t, "lo_tax", rows["lo_tax"], 0, 8)
	within(t, "lo_linenumber", rows["lo_linenumber"], 1, 7)
	within(t, "lo_partkey", rows["lo_partkey"], 1, o.parts())
	within(t, "lo_suppkey", rows["lo_suppkey"], 1, o.suppliers())
	within(t, "lo_orderdate", rows["lo_orderdate"], 19920101, 19980802)
	within(t, "lo_orderkey", rows["lo_orderkey"], 1, 120_000)
	if got := count(rows["lo_shippriority"]); got["0"] != n {
		t.Errorf("lo_shippriority is %v", got)
	}

	var first []int // row of each order
	lines := map[any]int{}
	for i, key := range rows["lo_orderkey"] {
		at := func(name string) int64 { return rows[name][i].(int64) }
		lines[key]++
		if at("lo_linenumber") == 1 {
			first = append(first, i)
		}
		if at("lo_linenumber") != int64(lines[key]) {
			t.Fatalf("order %d: line %d is number %d", key, at("lo_linenumber"), lines[key])
		}
		f := first[len(first)-1]
		for _, name := range []string{"lo_orderkey", "lo_custkey", "lo_orderdate", "lo_orderpriority",
			"lo_ordtotalprice"} {
			if rows[name][i] != rows[name][f] {
				t.Fatalf("order %d: lines differ in %s", key, name)
			}
		}
		part := at("lo_partkey")
		price := 90000 + part/10%20001 + 100*(part%1000)
		if at("lo_extendedprice") != price*at("lo_quantity") || at("lo_supplycost") != price*6/10 ||
			at("lo_revenue") != at("lo_extendedprice")*(100-at("lo_discount"))/100 {
			t.Fatalf("order %d, line %d: the amounts do not follow from the price %d", key,
				lines[key],
				price)
		}
		if at("lo_custkey")%3 == 0 || at("lo_custkey") > o.customers() {
			t.Fatalf("order %d is of customer %d", key, at("lo_custkey"))
		}
		if key := key.(int64); key%32 > 7 {
			t.Fatalf("order key %d is not one of the first 8 of 32", key)
		}
	}
	if len(lines) != int(o.orders()) {
		t.Errorf("%d orders, not %d", len(lines), o.orders())
	}
	var sizes []any
	for _, n := range lines {
		sizes = append(sizes, n)
	}
	even(t, "lines of an order", sizes, 7)
	ofOrders := func(name string) (out []any) {
		for _, i := range first {
			out = append(out, rows[name][i])
		}
		return out
	}
	even(t, "lo_custkey", ofOrders("lo_custkey"), 400)
	even(t, "lo_orderpriority", ofOrders("lo_orderpriority"), 5)
	even(t, "lo_orderdate", ofOrders("lo_orderdate"), 2406)
}

// TestTotal recomputes the totals of orders from their lines.
func TestTotal(t *testing.T) {
	rows := rowsOf(t, Options{Scale: 0.001}, "lineorder")
	totals := map[any]int64{}
	for i, key := range rows["lo_orderkey"] {
		totals[key] += rows["lo_revenue"][i].(int64) * (100 + rows["lo_tax"][i].(int64)) / 100
	}
	for i, key := range rows["lo_orderkey"] {
		if rows["lo_ordtotalprice"][i] != totals[key] {
			t.Fatalf("order %d has lines for %d and the total %d", key, totals[key],
				rows["lo_ordtotalprice"][i])
		}
	}
}

// TestReferences looks for keys of lineorder that no dimension has.
func TestReferences(t *testing.T) {
	o := Options{Scale: 0.01, Seed: 3}
	lineorder := rowsOf(t, o, "lineorder")
	for _, r := range []struct{ from, table, key string }{
		{"lo_custkey", "customer", "c_custkey"},
		{"lo_suppkey", "supplier", "s_suppkey"},
		{"lo_partkey", "part", "p_partkey"},
		{"lo_orderdate", "date", "d_datekey"},
		{"lo_commitdate", "date", "d_datekey"},
	} {
		keys := rowsOf(t, o, r.table)[r.key]
		have := count(keys)
		if len(have) != len(keys) {
			t.Errorf("%s: keys are repeated", r.table)
		}
		for key := range count(lineorder[r.from]) {
			if have[key] == 0 {
				t.Errorf("%s %v is not in %s", r.from, key, r.table)
			}
		}
	}
}

func TestDimensions(t *testing.T) {
	o := Options{Scale: 1}
	for _, table := range []struct{ name, prefix string }{{"customer", "c_"}, {"supplier", "s_"}} {
		rows := rowsOf(t, o, table.name)
		even(t, table.prefix+"city", rows[table.prefix+"city"], 250)
		even(t, table.prefix+"nation", rows[table.prefix+"nation"], 25)
		even(t, table.prefix+"region", rows[table.prefix+"region"], 5)
		for i, city := range rows[table.prefix+"city"] {
			home := rows[table.prefix+"nation"][i].(string)
			if city := city.(string); len(city) != 10 || city[:9] != fmt.Sprintf("%-9s", home)[:9] {
				t.Fatalf("city %q is of %s", city, home)
			}
			code := slices.IndexFunc(nations, func(n nation) bool { return n.name == home })
			if nations[code].region != rows[table.prefix+"region"][i] {
				t.Fatalf("%s is in %s", home, rows[table.prefix+"region"][i])
			}
			phone := rows[table.prefix+"phone"][i].(string)
			if len(phone) != 15 || !strings.HasPrefix(phone, fmt.Sprintf("%d-", 10+code)) {
				t.Fatalf("telephone %s is of %s", phone, home)
			}
		}
	}
	part := rowsOf(t, o, "part")
	even(t, "p_mfgr", part["p_mfgr"], 5)
	even(t, "p_category", part["p_category"], 25)
	even(t, "p_brand1", part["p_brand1"], 1000)
	even(t, "p_color", part["p_color"], 92)
	even(t, "p_type", part["p_type"], 150)
	even(t, "p_size", part["p_size"], 50)
	even(t, "p_container", part["p_container"], 40)
	even(t, "p_name", part["p_name"], 92*91)
	for i, brand := range part["p_brand1"] {
		mfgr, category := part["p_mfgr"][i].(string), part["p_category"][i].(string)
		if !strings.HasPrefix(brand.(string), category) || category[:len(category)-1] != mfgr {
			t.Fatalf("%s is of %s and %s", brand, category, mfgr)
		}
		if strings.Contains(" "+part["p_name"][i].(string)+" ",
			" "+part["p_color"][i].(string)+" ") {
			t.Fatalf("%s is %s", part["p_name"][i], part["p_color"][i])
		}
	}
}

// TestDates looks at days that queries ask for, and at the ends.
func TestDates(t *testing.T) {
	rows := rowsOf(t, Options{Scale: 1}, "date")
	if got := count(rows["d_year"]); fmt.Sprint(
		got) != "map[1992:366 1993:365 1994:365 1995:365 1996:366 1997:365 1998:364]" {
		t.Errorf("years have days %v", got)
	}
	for _, want := range []map[string]any{
		{"d_datekey": int64(19920101), "d_date": "January 1, 1992", "d_dayofweek": "Wednesday",
			"d_daynuminweek": int64(4), "d_holidayfl": int64(1), "d_sellingseason": "Winter"},
		{"d_datekey": int64(19940206), "d_weeknuminyear": int64(6), "d_yearmonthnum": int64(199402),
			"d_daynuminweek": int64(1), "d_weekdayfl": int64(0)},
		{"d_datekey": int64(19960229), "d_lastdayinmonthfl": int64(1), "d_daynuminyear": int64(60),
			"d_weekdayfl": int64(1)},
		{"d_datekey": int64(19971206), "d_yearmonth": "Dec1997", "d_month": "December",
			"d_lastdayinweekfl": int64(1), "d_sellingseason": "Christmas"},
		{"d_datekey": int64(19981230), "d_weeknuminyear": int64(53), "d_monthnuminyear": int64(12),
			"d_daynuminmonth": int64(30), "d_lastdayinmonthfl": int64(0)},
	} {
		i := slices.Index(rows["d_datekey"], want["d_datekey"])
		if i < 0 {
			t.Errorf("no day %d", want["d_datekey"])
			continue
		}
		for name, v := range want {
			if rows[name][i] != v {
				t.Errorf("%d: %s is %v, not %v", want["d_datekey"], name, rows[name][i], v)
			}
		}
	}
}

// TestParts makes rows of each table by themselves.
func TestParts(t *testing.T) {
	o := Options{Scale: 0.01, Seed: 5}
	for _, table := range o.tables() {
		whole := valuesOf(t, table.make(0, 20))
		a, b := valuesOf(t, table.make(0, 7)), valuesOf(t, table.make(7, 20))
		for name := range whole {
			if !slices.Equal(whole[name], append(a[name], b[name]...)) {
				t.Errorf("%s: %s depends on what else is made", table.name, name)
			}
		}
	}
	if slices.Equal(rowsOf(t, o, "customer")["c_city"],
		rowsOf(t, Options{Scale: 0.01, Seed: 6}, "customer")["c_city"]) {
		t.Error("another seed makes the same customers")
	}
}

// TestGenerate compares files that different numbers of threads have made, and
// what they hold with the columns that they were made from. Row groups are
// small.
func TestGenerate(t *testing.T) {
	for _, table := range (Options{Scale: 0.01, Seed: 1}).tables() {
		table.group = 1 + table.units/5
		var files [][]byte
		for _, threads := range []int{1, 7} {
			path := filepath.Join(t.TempDir(), table.name)
			if err := table.write(context.Background(), path, threads); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, data)
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Errorf("%s depends on the number of threads", table.name)
		}
		want := valuesOf(t, table.make(0, table.units))
		got := readParquet(t, files[1])
		for name := range want {
			if !slices.Equal(got[name], want[name]) {
				t.Errorf("%s: the file has other values in %s", table.name, name)
			}
		}
	}
}

// TestFolder wants a file for each table and no others.
func TestFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	if err := Generate(context.Background(), folder, Options{Scale: 0.001}); err != nil {
		t.Fatal(err)
	}
	var names []string
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		names = append(names, f.Name())
	}
	if want := []string{"customer.parquet", "date.parquet", "lineorder.parquet", "part.parquet",
		"supplier.parquet"}; !slices.Equal(names, want) {
		t.Errorf("%q, not %q", names, want)
	}
}

func readParquet(t *testing.T, data []byte) map[string][]any {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := map[string][]any{}
	for g := range r.NumRowGroups() {
		for c := range r.MetaData().Schema.NumColumns() {
			name := r.MetaData().Schema.Column(c).Name()
			chunk, err := r.RowGroup(g).Column(c)
			if err != nil {
				t.Fatal(err)
			}
			rows := r.RowGroup(g).NumRows()
			switch chunk := chunk.(type) {
			case *file.Int32ColumnChunkReader:
				out[name] = readChunk(t, out[name], rows, func(v int32) any { return int64(v) },
					chunk.ReadBatch)
			case *file.Int64ColumnChunkReader:
				out[name] = readChunk(t, out[name], rows, func(v int64) any {
					return v
				}, chunk.ReadBatch)
			case *file.ByteArrayColumnChunkReader:
				out[name] = readChunk(t, out[name], rows, func(v parquet.ByteArray) any {
					return string(v)
				},
					chunk.ReadBatch)
			}
		}
	}
	return out
}

func readChunk[P any](
	t *testing.T, out []any, rows int64, value func(P) any,
	read func(int64, []P, []int16, []int16) (int64, int, error),
) []any {
	t.Helper()
	batch := make([]P, rows)
	for done := int64(0); done < rows; {
		_, n, err := read(rows-done, batch, nil, nil)
		if err != nil || n == 0 {
			t.Fatalf("%d of %d rows: %v", done, rows, err)
		}
		for _, v := range batch[:n] {
			out = append(out, value(v))
		}
		done += int64(n)
	}
	return out
}

func TestFailures(t *testing.T) {
	folder := t.TempDir()
	for _, scale := range []float64{0, -1, math.NaN(), math.Inf(1), MaxScale + 1} {
		if err := Generate(context.Background(), folder, Options{Scale: scale}); err == nil ||
			!strings.Contains(err.Error(), "scale factor") {
			t.Errorf("scale factor %v: %v", scale, err)
		}
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if err := Generate(stopped, folder, Options{Scale: 0.01}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
	if err := Generate(context.Background(), filepath.Join(folder, "a\x00b"),
		Options{Scale: 0.01}); err == nil {
		t.Error("a folder that cannot be made: no error")
	}
}

// TestSmallData wants that the data of the project's tests would be made again,
// so that a seed means the same data from version to version.
func TestSmallData(t *testing.T) {
	for _, table := range (Options{Scale: 0.01, Seed: 108}).tables() {
		data, err := os.ReadFile(filepath.Join("../../testdata/ssb/sf0.01", table.name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		want := readParquet(t, data)
		got := valuesOf(t, table.make(0, table.units))
		for name := range got {
			if !slices.Equal(got[name], want[name]) {
				t.Errorf("%s: other values in %s", table.name, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s has %d columns, not %d", table.name, len(got), len(want))
		}
	}
}
