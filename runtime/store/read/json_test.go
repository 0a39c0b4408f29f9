package read

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// TestPlainNumber compares numbers that are written out with their values.
func TestPlainNumber(t *testing.T) {
	for text, want := range map[string]string{
		"1.0": "1", "-0": "-0", "0.0": "0", "12e3": "12000", "-10e-1": "-1", "1.25E-3": "0.00125",
		"0e5": "0", "1e101": "", "1e99999999999999999999": "", "0.10": "0.1", "100e-2": "1",
	} {
		if got := plainNumber(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		text := fmt.Sprint(rng.Int64N(2_000_000) - 1_000_000)
		if rng.IntN(2) == 0 {
			text += fmt.Sprintf(".%0*d", 1+rng.IntN(4), rng.IntN(10_000))
		}
		if rng.IntN(2) == 0 {
			text += fmt.Sprintf("e%d", rng.IntN(30)-15)
		}
		want, _ := new(big.Rat).SetString(text)
		got, ok := new(big.Rat).SetString(plainNumber(text))
		if !ok || got.Cmp(want) != 0 || strings.ContainsAny(plainNumber(text), "e") {
			t.Fatalf("%s is %q", text, plainNumber(text))
		}
	}
}

// TestUnusualObjects reads objects of all kinds, right and wrong, as they are
// read mostly and by jsonDecoder alone: the rows and the errors are the same.
func TestUnusualObjects(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	blank := func() string {
		if rng.IntN(8) > 0 {
			return ""
		}
		return pick(" ", "\n", "\t\r\n", "  ")
	}
	text := func() string {
		return `"` + pick("", "a", "b c", `\"`, `\u00e9`, `\ud83d\ude00`, "é", `\\`, "longer than a word",
			`a\tb`, `\n`) + pick("", "", "", "x", `\/`, strings.Repeat("y", rng.IntN(20))) + `"`
	}
	number := func() string {
		return pick("0", "-0", "1", "-17", "12345678", "123456789012345678", "1234567890123456789", "1.5",
			"1.0", "25e-1", "1e2", "-1.25", "0.5", "0.001", "1E+3", "9223372036854775807")
	}
	value := func() string {
		return pick(text(), number(), "null", "true", "false", `[1,{"a":"]"}]`, `{"b":{}}`, `[]`, "{}",
			`"2024-02-29"`, `"2023-02-29"`, `"inf"`)
	}
	wrong := []string{"01", "1.", "-", "tru", `"a`, `"\u0000"`, `"\ud800"`, "\"\x01\"", "[1 2]",
		`{"b":1,"b":2}`, "\"\xff\"", "1 1", "+1", ".5"}
	s := []store.Schema{storetest.Predicate(t, "p(a:int; b:string; c:decimal[8,2])"),
		storetest.Predicate(t, "p[a:string]=b:float"), storetest.Predicate(t, "p[x:int]=y:datetime"),
		storetest.Predicate(t, "p(a:boolean; b:int[8])")}
	defer func(n int) { maxDecoded = n }(maxDecoded)
	loaded := 0
	texts := short.Count(t, 1600, "texts of unusual objects")
	for range texts {
		var b strings.Builder
		for range 1 + rng.IntN(6) {
			b.WriteString("{" + blank())
			names := []string{"a", "b", "c", "x", "y", "z", "other", `\u0061`}
			if rng.IntN(3) > 0 {
				rng.Shuffle(5, func(i, j int) { names[i], names[j] = names[j], names[i] })
			}
			for i := range rng.IntN(6) {
				if i > 0 {
					b.WriteString(blank() + "," + blank())
				}
				name := names[i]
				if rng.IntN(60) == 0 {
					name = pick(names...)
				}
				v := value()
				switch {
				case rng.IntN(100) == 0:
					v = pick(wrong...)
				case rng.IntN(3) == 0:
				case name == "a" || name == "x":
					v = number()
				case name == "b":
					v = text()
				case name == "y":
					v = `"2024-02-29"`
				}
				b.WriteString(`"` + name + `"` + blank() + ":" + blank() + v)
			}
			b.WriteString(blank() + "}" + pick("\n", "\n", "", " ", "\r\n") + blank())
			if rng.IntN(200) == 0 {
				b.WriteString(pick(",", "]", "x", "1", "[]"))
			}
		}
		schema := s[rng.IntN(len(s))]
		for _, policy := range []Policy{Stop, Skip} {
			var answers [2]string
			for i, most := range []int{8, 0} {
				maxDecoded = most
				r, err := tryLoad(schema, Fact{Pred: "p", Path: "p.json", Format: JSON,
					Reader: strings.NewReader(b.String())},
					Options{OnError: policy, Threads: 1, blockSize: 1 << 10})
				if err != nil {
					answers[i] = err.Error()
					continue
				}
				answers[i] = strings.Join(storetest.Tuples(r), "\n")
				loaded += r.Rows()
			}
			if answers[0] != answers[1] {
				t.Fatalf("%q as %s:\n%s\ndecoded:\n%s", b.String(), schema.Name, answers[0], answers[1])
			}
		}
	}
	if loaded < int(texts)/10 {
		t.Errorf("only %d rows of %d texts load", loaded, texts)
	}
}
