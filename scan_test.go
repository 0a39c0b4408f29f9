package redfox

import (
	"context"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

// program compiles the text of a program.
func program(t *testing.T, text string) *Program {
	t.Helper()
	p, err := Compile(context.Background(), []Source{Text("p.logic", text)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// available lists the engines of this machine.
func available() []string {
	var out []string
	for _, e := range Engines() {
		if e.Available {
			out = append(out, e.Name)
		}
	}
	return out
}

func decimal(t *testing.T, text string) Decimal {
	t.Helper()
	d, err := ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// everything has a column of each type.
const everything = `
thing(id, small, count, byte, ratio, half, ok, name, price, wide, at) ->
    int(id), int[8](small), uint(count), uint[8](byte), float(ratio), float[32](half),
    boolean(ok), string(name), decimal[18,2](price), decimal[38,4](wide), datetime(at).
copy(id, small, count, byte, ratio, half, ok, name, price, wide, at) ->
    int(id), int[8](small), uint(count), uint[8](byte), float(ratio), float[32](half),
    boolean(ok), string(name), decimal[18,2](price), decimal[38,4](wide), datetime(at).
copy(id, small, count, byte, ratio, half, ok, name, price, wide, at) <-
    thing(id, small, count, byte, ratio, half, ok, name, price, wide, at).
`

type thing struct {
	ID    int64
	Small int8
	Count uint64
	Byte  byte
	Ratio float64
	Half  float32
	OK    bool
	Name  string
	Price Decimal
	Wide  Decimal
	At    time.Time
}

// TestStructsComeBack gives structs of all types as facts and scans them, on
// every engine.
func TestStructsComeBack(t *testing.T) {
	ctx := context.Background()
	things := []thing{
		{-1 << 63, -128, 0, 0, math.Inf(-1), -0.5, false, "", decimal(t, "-92233720368547758.08"),
			decimal(t, "-9999999999999999999999999999999999.9999"), time.Unix(-1, 5000).UTC()},
		{0, 0, 1 << 63, 7, 0.1, 1.5, true, "größe", decimal(t, "0.05"), decimal(t, "1.0000"),
			time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)},
		{1<<63 - 1, 127, 1<<64 - 1, 255, math.MaxFloat64, math.MaxFloat32, true, "a\tb",
			decimal(t, "92233720368547758.07"),
			decimal(t, "9999999999999999999999999999999999.9999"),
			time.Date(1969, 1, 1, 0, 0, 0, 1000, time.UTC)},
	}
	p := program(t, everything)
	for _, engine := range available() {
		res, err := p.Run(ctx, NewFacts().Structs("thing", things), RunOptions{Engine: engine})
		if err != nil {
			t.Fatalf("%s: %v", engine, err)
		}
		got, err := Scan[thing](res, "copy")
		if err != nil || !reflect.DeepEqual(got, things) {
			t.Errorf("%s: %+v, %v", engine, got, err)
		}
	}
}

// TestColumnsComeBack gives slices of decimals of both widths as facts and
// reads them, on every engine.
func TestColumnsComeBack(t *testing.T) {
	p := program(t, `
paid(n, price, wide) -> int(n), decimal[18,2](price), decimal[38,4](wide).
got(n, price, wide) -> int(n), decimal[18,2](price), decimal[38,4](wide).
got(n, price, wide) <- paid(n, price, wide).
`)
	price := []Decimal{decimal(t, "1"), decimal(t, "-2.5"), decimal(t, "3.250")}
	wide := []Decimal{decimal(t, "123456789012345678901234567890"), {}, decimal(t, "-0.0001")}
	for _, engine := range available() {
		res, err := p.Run(context.Background(),
			NewFacts().Columns("paid", []uint8{1, 2, 3}, price, wide), RunOptions{Engine: engine})
		if err != nil {
			t.Fatalf("%s: %v", engine, err)
		}
		gotPrice, err := ScanColumn[Decimal](res, "got", "price")
		if err != nil {
			t.Fatal(err)
		}
		gotWide, err := ScanColumn[*big.Rat](res, "got", "wide")
		if err != nil {
			t.Fatal(err)
		}
		for i := range price {
			if gotPrice[i].Cmp(price[i]) != 0 || gotPrice[i].Scale() != 2 ||
				gotWide[i].Cmp(wide[i].Rat()) != 0 {
				t.Errorf("%s: row %d is %v, %v", engine, i+1, gotPrice[i], gotWide[i])
			}
		}
	}
}

// TestMatching finds columns by name, tag, place and embedded struct.
func TestMatching(t *testing.T) {
	p := program(t, `
visit(first_name, ip_addr, weight, note) ->
    string(first_name), string(ip_addr), int(weight), string(note).
seen(first_name, ip_addr, weight, note) ->
    string(first_name), string(ip_addr), int(weight), string(note).
seen(a, b, c, d) <- visit(a, b, c, d).
`)
	type Named struct {
		FirstName *string
		//lint:ignore U1000 Scan passes over it
		private int
	}
	type visit struct {
		Named
		Where   netip.Addr `redfox:"ip_addr"`
		Pounds  uint16     `redfox:"3"`
		Ignored func()     `redfox:"-"`
		Note    any
		Owner   *string `redfox:",optional"`
	}
	ann := "ann"
	facts := NewFacts().Rows("visit", []any{"ann", "::1", 300, "n"}).Structs("visit",
		[]struct {
			FirstName, Note *string
			IPAddr          netip.Addr
			Weight          uint8
		}{{&ann, &ann, netip.MustParseAddr("10.0.0.1"), 7}, {nil, &ann, netip.Addr{}, 8}})
	res, err := p.Run(context.Background(), facts, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Scan[visit](res, "seen")
	if err != nil {
		t.Fatal(err)
	}
	want := []visit{
		{Named{FirstName: &ann}, netip.MustParseAddr("10.0.0.1"), 7, nil, "ann", nil},
		{Named{FirstName: &ann}, netip.MustParseAddr("::1"), 300, nil, "n", nil},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	n := 0
	for range All[visit](res, "seen") {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d steps", n)
	}
}

// TestNamedTypes gives and scans types that are defined by basic ones, with and
// without missing values.
func TestNamedTypes(t *testing.T) {
	type name string
	type flag bool
	type ratio float32
	type row struct {
		Name  name
		Flag  flag
		Ratio ratio
		Took  *time.Duration
		At    *time.Time
		Price *Decimal
		Rat   *big.Rat
	}
	p := program(t, `
in(name, flag, ratio, took, at, price, rat) -> string(name), boolean(flag), float[32](ratio),
    int(took), datetime(at), decimal[18,2](price), decimal[38,4](rat).
out(name, flag, ratio, took, at, price, rat) -> string(name), boolean(flag), float[32](ratio),
    int(took), datetime(at), decimal[18,2](price), decimal[38,4](rat).
out(name, flag, ratio, took, at, price, rat) <- in(name, flag, ratio, took, at, price, rat).
`)
	took, at, price := time.Second, time.Unix(7, 0).UTC(), decimal(t, "1.25")
	full := row{"ann", true, 0.25, &took, &at, &price, big.NewRat(5, 4)}
	none := full
	none.Name, none.Took = "bob", nil
	for _, rows := range [][]row{{full}, {none, full}, {full, none}} {
		res, err := p.Run(context.Background(), NewFacts().Structs("in", rows), RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Scan[row](res, "out")
		if err != nil || !reflect.DeepEqual(got, []row{full}) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// TestEntities scans an entity as the value of its refmode.
func TestEntities(t *testing.T) {
	p := program(t, `
person(p), person:name(p: n) -> string(n).
knows(p, q) -> person(p), person(q).
knows("ann", "bob").
friend(p, q) -> person(p), person(q).
friend(p, q) <- knows(p, q).
`)
	res, err := p.Run(context.Background(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Scan[struct{ P, Q string }](res, "friend")
	if err != nil || len(got) != 1 || got[0].P != "ann" || got[0].Q != "bob" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestAttributes scans functions of the columns of a predicate as fields, which
// have no value for some tuples.
func TestAttributes(t *testing.T) {
	res, err := program(t, `
p(1, "ann"). p(2, "bob"). p(3, "cid").
person(id, name) -> int(id), string(name).
person(id, name) <- p(id, name).
e(1, "ann", "a@x"). e(3, "cid", "c@x").
person:e_mail[id, name] = m <- e(id, name, m).
person:age[id] = 30 + id <- p(id, _).
person:size[id] = 1.5 <- p(id, _), id > 1.
person:name_of[name] = name <- p(_, name).
`).Run(context.Background(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	type person struct {
		Name  string
		Email *string
		Years uint8 `redfox:"age"`
		Size  any
	}
	a, c := "a@x", "c@x"
	want := []person{{"ann", &a, 31, nil}, {"bob", nil, 32, decimal(t, "1.5")},
		{"cid", &c, 33, decimal(t, "1.5")}}
	got, err := Scan[person](res, "person")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	_, absent := Scan[struct{ Size Decimal }](res, "person")
	_, kind := Scan[struct{ Age *string }](res, "person")
	_, misspelt := Scan[struct{ Sise any }](res, "person")
	_, keys := Scan[struct{ NameOf string }](res, "person")
	for want, err := range map[string]error{
		"row 1 of person: person:size has no value for field Size of ": absent,
		"column value of person:age is int, and field Age of ":         kind,
		"did you mean size?":                       misspelt,
		"person has no column for field NameOf of": keys, // its key is no leading column
	} {
		var lack *EnvironmentError
		if !errors.As(err, &lack) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, not %s", err, want)
		}
	}
}

// TestAttributeFacts gives fields as facts of functions below a predicate, with
// and without that predicate, and leaves missing values out.
func TestAttributeFacts(t *testing.T) {
	type person struct {
		ID     int
		Name   string
		Email  *string
		Height *Decimal `redfox:"size"`
		Note   string   `redfox:",optional"`
	}
	mail, size := "b@x", decimal(t, "1.80")
	people := []person{{1, "ann", nil, &size, ""}, {2, "bob", &mail, nil, "n"}}
	const functions = `
person:email[id] = e -> int(id), string(e).
person:size[id] = s -> int(id), decimal[38,2](s).
mail(id, e) <- person:email[id] = e.
size(id, s) <- person:size[id] = s.
`
	for _, head := range []string{
		"person(id, name) -> int(id), string(name).\nnames(n) <- person(_, n).\n",
		"person:name[id] = n -> int(id), string(n).\nnames(n) <- person:name[_] = n.\n",
	} {
		p := program(t, head+functions)
		res, err := p.Run(context.Background(), NewFacts().Structs("person", people), RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names, err1 := Scan[string](res, "names")
		mails, err2 := Scan[struct {
			ID int
			E  string
		}](res, "mail")
		sizes, err3 := Scan[struct {
			ID int
			S  Decimal
		}](res, "size")
		if err := errors.Join(err1, err2, err3); err != nil || len(names) != 2 ||
			len(mails) != 1 || mails[0].ID != 2 || mails[0].E != mail ||
			len(sizes) != 1 || sizes[0].ID != 1 || sizes[0].S != size {
			t.Errorf("%v %v %v %v", names, mails, sizes, err)
		}
	}
	p := program(t, "person(id) -> int(id).\nperson:email[id] = e -> int(id), string(e).\n"+
		"m(e) <- person(id), person:email[id] = e.\n")
	for _, tt := range []struct {
		facts *Facts
		want  string
	}{
		{NewFacts().Structs("person", []struct {
			ID    int
			Emial string
		}{}), "person has no column for field Emial of struct { ID int; Emial string }; " +
			"did you mean email?"},
		{NewFacts().Structs("person", []struct{ ID, Email int }{}),
			"column e of person:email is string, and field Email of "},
		{NewFacts().Structs("person", []struct{ Email string }{}),
			"has no field for column id of person"},
		{NewFacts().Structs("person", []struct {
			ID, I int
		}{}), "person has no column for field I of"},
		{NewFacts().Structs("person", []struct {
			ID int
			I  int `redfox:"1"`
		}{}), "fields ID and I of "},
	} {
		_, err := p.Run(context.Background(), tt.facts, RunOptions{})
		var lack *EnvironmentError
		if !errors.As(err, &lack) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("the error is %v, not %s", err, tt.want)
		}
	}
	only := program(t, "person:email[id] = e -> int(id), string(e).\nm(e) <- person:email[_] = e.\n")
	_, err := only.Run(context.Background(), NewFacts().Columns("person", []int{1}), RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "the program has no predicate person") {
		t.Errorf("%v", err)
	}
}

// TestScanErrors wants each error to name the column, the field and both types.
func TestScanErrors(t *testing.T) {
	res, err := program(t, `
t(name, qty, at) -> string(name), int(qty), string(at).
t("ann", 300, "noon"). t("bob", -1, "one").
one(x) <- t(x, _, _).
flag() <- t(_, _, _).
k(x) -> int(x).
flag() <- k(_).
`).Run(context.Background(), nil, RunOptions{Outputs: []string{"t", "one", "flag"}})
	if err != nil {
		t.Fatal(err)
	}
	_, input := Scan[string](res, "k")
	_, predicate := Scan[string](res, "on")
	_, kind := Scan[struct{ Qty string }](res, "t")
	_, bool1 := Scan[struct {
		Name string
		Qty  *bool
	}](res, "t")
	_, misspelt := Scan[struct{ Qyt int }](res, "t")
	_, tag := Scan[struct {
		Q int `redfox:"quantity"`
	}](res, "t")
	_, twice := Scan[struct {
		Qty int
		Q   int `redfox:"qty"`
	}](res, "t")
	_, small := Scan[struct{ Qty int8 }](res, "t")
	_, negative := Scan[struct{ Qty uint }](res, "t")
	_, text := Scan[struct {
		At netip.Addr
	}](res, "t")
	_, single := Scan[int](res, "t")
	_, value := Scan[int](res, "one")
	_, column := ScanColumn[string](res, "t", "nmae")
	_, columnType := ScanColumn[int](res, "t", "name")
	_, columnValue := ScanColumn[uint8](res, "t", "qty")
	_, length := res.Len("oen")
	_, columns := res.Columns("oen")
	var rows error
	for _, err := range res.Rows("oen") {
		rows = err
	}
	_, record := res.Arrow("oen")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{input, "the result does not hold k; name it in RunOptions.Outputs"},
		{predicate, "the result does not hold on; did you mean one?"},
		{length, "the result does not hold oen; did you mean one?"},
		{columns, "the result does not hold oen; did you mean one?"},
		{rows, "the result does not hold oen; did you mean one?"},
		{record, "the result does not hold oen; did you mean one?"},
		{res.Write(nil, "oen", CSV, WriteOptions{}), "the result does not hold oen; did you mean one?"},
		{res.Write(nil, "one", "xml", WriteOptions{}), "format xml is not known"},
		{kind, "column qty of t is int, and field Qty of struct { Qty string } is string"},
		{bool1, "is *bool; a column of int goes with Go's integer types"},
		{misspelt, "t has no column for field Qyt of struct { Qyt int }; did you mean qty?"},
		{tag, "t has no column for field Q of "},
		{twice, "fields Qty and Q of "},
		{small, "row 1 of t, column qty: field Qty of struct { Qty int8 }: 300 does not fit int8"},
		{negative, "row 2 of t, column qty: field Qty of struct { Qty uint }: -1 does not fit uint"},
		{text, "row 1 of t, column at: field At of struct { At netip.Addr }: ParseAddr"},
		{single, "t has 3 columns, and int holds one"},
		{value, "column x of one is string, and the Go type is int"},
		{column, "t has no column nmae; did you mean name?"},
		{columnType, "column name of t is string, and the slice is []int"},
		{columnValue, "row 1 of t, column qty: 300 does not fit uint8"},
	} {
		if _, ok := tt.err.(*EnvironmentError); !ok || !strings.Contains(tt.err.Error(), tt.want) {
			t.Errorf("the error is %v, not %s", tt.err, tt.want)
		}
	}
}

// TestFactErrors wants facts that do not fit their predicate to be refused by
// name.
func TestFactErrors(t *testing.T) {
	p := program(t, `
t(name, qty, at) -> string(name), int[8](qty), datetime(at).
d(x) -> decimal[18,2](x).
out(x) <- t(x, _, _), d(_).
`)
	now, large := time.Now(), 128
	for _, tt := range []struct {
		facts *Facts
		want  string
	}{
		{NewFacts().Structs("t", []struct{ Name string }{}), "has no field for column qty of t"},
		{NewFacts().Structs("t", 7), "the facts for t are int, and no slice of structs"},
		{NewFacts().Structs("t", nil), "the facts for t are <nil>, and no slice of structs"},
		{NewFacts().Structs("t", []struct {
			Name, Qty string
			At        time.Time
		}{}), "column qty of t is int[8], and field Qty of "},
		{NewFacts().Structs("t", []struct {
			Name string
			Qty  int
			At   time.Time
		}{{"a", 7, now}, {"b", 128, now}}), "argument 2 (qty) of t: row 2"},
		{NewFacts().Structs("t", []struct {
			Name string
			Qty  *int
			At   time.Time
		}{{"a", nil, now}, {"b", new(int), now}, {"c", &large, now}}),
			"field Qty of struct { Name string; Qty *int; At time.Time }, for column qty of t: row 3"},
		{NewFacts().Structs("t", []struct {
			Name string
			Qty  any
			At   time.Time
		}{}), "column qty of t is int[8]"},
		{NewFacts().Structs("d", []struct{ X Decimal }{{decimal(t, "1.5")}, {decimal(t, "1.555")}}),
			"field X of struct { X redfox.Decimal }, for column x of d: row 2"},
		{NewFacts().Structs("d", []struct{ X *big.Rat }{{nil}, {big.NewRat(1, 3)}}),
			"row 2: 1/3 is no decimal[18,2]: it would be rounded"},
		{NewFacts().Columns("d", []Decimal{decimal(t, "1.555")}), "argument 1 (x) of d: row 1"},
		{NewFacts().Columns("d", []Decimal{}, []Decimal{}), "d has 1 argument, not 2"},
		{NewFacts().Columns("d", []bool{true}), "[]bool does not fill"},
		{NewFacts().Structs("tt", []struct{}{}), "the program has no predicate tt"},
		{NewFacts().Reader("d", "xml", nil), "facts of d are not read as xml"},
	} {
		_, err := p.Run(context.Background(), tt.facts, RunOptions{})
		if _, ok := err.(*EnvironmentError); !ok || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("the error is %T %v, not %s", err, err, tt.want)
		}
	}
}
