package rfx

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// example is a program with a bit of everything.
func example() *File {
	header := true
	module := func(target string) *abi.Module {
		return &abi.Module{Target: target, Entries: []*abi.Entry{{
			Symbol: "k0", Role: abi.Kernel, Of: "k0", Threads: 256, Items: 16, Scratch: 36,
			Params:   []abi.Param{{Kind: abi.RowsFrom}, {Kind: abi.ColumnData, Var: "edge"}},
			Literals: []abi.Literal{{Value: scalar.OfString("grün")}},
		}}}
	}
	return &File{
		Redfox: "v1.2.3", Name: "reach", Disable: []string{"Inline"}, NoFuse: true,
		KeepApart: []string{"k1+k2"}, Facts: "0123abcd",
		Sources: []Source{{"reach.logic", "reach(x, y) <- edge(x, y).\n"}, {"2:more.logic", ""},
			{"reach.logic", "// grün\n"}},
		Plan:   "var edge(x: int, y: int) input \"edge\"\n",
		Places: []Span{{1, 0, 5}, {}, {3, 3, 8}},
		Predicates: []Predicate{
			{Name: "edge", Columns: []Column{{"x", "int", ""}, {"y", "string", "tree"}}, Keys: 2,
				Binding: &Binding{Path: "edge.csv", Delimiter: "|", Header: &header,
					Columns: []string{"a", "b"}}},
			{Name: "reach", Columns: []Column{{"x", "int", ""}}, Keys: 1, Derived: true, Exported: true,
				Clauses: []Span{{1, 0, 26}}},
		},
		Code: []Code{
			{Target: "gpu:sm_90", Compiler: "LLVM 16", Graph: "block b0:\n  halt\n",
				Module:  module("gpu:sm_90"),
				Origins: []Origin{{Ops: []string{"scan edge(x, y)"}, Span: Span{1, 0, 26}}},
				Text:    ".version 7.8\n",
				Granted: abi.Granted{
					Words: []abi.GrantedWord{{Param: abi.Param{Kind: abi.ColumnWidth, Var: "edge",
						Index: 1}, Word: 4}},
					Ranges: []abi.GrantedRange{{Kernel: "k0", Stage: 1, Lo: -1, Hi: 7}},
				}},
			{Target: "cpu", Compiler: "LLVM 15", Graph: "block b0:\n  halt\n",
				Module: module("cpu"), Text: "define void @k0() { ret void }\n"},
		},
	}
}

func encoded(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for name, f := range map[string]*File{"full": example(),
		"least": {Name: "least", Plan: "block b0:\n  halt\n"}} {
		data := encoded(t, f)
		if again := encoded(t, f); !bytes.Equal(data, again) {
			t.Errorf("%s: the same program gives other bytes", name)
		}
		got, err := Read(iotest.OneByteReader(bytes.NewReader(data)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sections, sum := got.Sections, got.Sum
		got.Sections, got.Sum = nil, ""
		if !reflect.DeepEqual(got, f) {
			t.Errorf("%s: the program changes:\n%+v\n%+v", name, got, f)
		}
		head := bytes.Index(data, []byte("{\n")) - sha256.Size
		if want := fmt.Sprintf("%x", sha256.Sum256(data[:head])); sum != want {
			t.Errorf("%s: the checksum is %s, want %s", name, sum, want)
		}
		size := int64(head) + sha256.Size
		for _, s := range sections {
			size += s.Size
		}
		if size != int64(len(data)) {
			t.Errorf("%s: the sections and the head take %d bytes of %d", name, size, len(data))
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for what, alter := range map[string]func(*File){
		"two codes of a target":      func(f *File) { f.Code[1] = f.Code[0] },
		"a module of another target": func(f *File) { f.Code[0].Module.Target = "cpu" },
		"a module without meaning":   func(f *File) { f.Code[0].Module.Entries[0].Items = 0 },
	} {
		f := example()
		alter(f)
		if err := Write(io.Discard, f); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// TestCut cuts a file at every byte: each is refused as what it is.
func TestCut(t *testing.T) {
	data := encoded(t, example())
	for n := range data {
		_, err := Read(bytes.NewReader(data[:n]))
		var foreign *ForeignError
		var damage *DamageError
		switch {
		case n < len(magic) && errors.As(err, &foreign):
		case n >= len(magic) && errors.As(err, &damage) &&
			strings.Contains(err.Error(), "cut short"):
		default:
			t.Fatalf("cut to %d bytes of %d: %v", n, len(data), err)
		}
	}
}

// TestAltered changes every byte of a file, and appends one.
func TestAltered(t *testing.T) {
	data := encoded(t, example())
	for at := range data {
		altered := bytes.Clone(data)
		altered[at] ^= 0x20
		_, err := Read(bytes.NewReader(altered))
		var foreign *ForeignError
		var version *VersionError
		var damage *DamageError
		switch {
		case at < 8 && errors.As(err, &foreign):
		case at >= 8 && at < 12 && errors.As(err, &version) && version.Known == Format:
		case at >= 12 && errors.As(err, &damage):
		default:
			t.Fatalf("altered at %d of %d: %v", at, len(data), err)
		}
	}
	var damage *DamageError
	if _, err := Read(bytes.NewReader(append(data, 0))); !errors.As(err, &damage) ||
		damage.Section != "cpu/code" {
		t.Errorf("with a byte more: %v", err)
	}
}

// TestNamesTheSection alters one byte of each section.
func TestNamesTheSection(t *testing.T) {
	data := encoded(t, example())
	f, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	at := int64(len(data))
	for i := len(f.Sections) - 1; i >= 0; i-- {
		s := f.Sections[i]
		if at -= s.Size; s.Size == 0 {
			continue
		}
		altered := bytes.Clone(data)
		altered[at]++
		_, err := Read(bytes.NewReader(altered))
		var damage *DamageError
		if !errors.As(err, &damage) || damage.Section != s.Name ||
			!strings.Contains(damage.Reason, s.Sum[:12]) {
			t.Errorf("section %s: %v", s.Name, err)
		}
	}
}

// TestMeaning reads files whose checksums are right and whose contents are not.
func TestMeaning(t *testing.T) {
	for _, test := range []struct {
		what  string
		alter func([]section) []section
		want  string
	}{
		{"no sections", func([]section) []section {
			return nil
		}, "its head has a table that does not list sections"},
		{"a section twice", func(s []section) []section {
			return append(s, s[0])
		}, "its head has a table that does not list sections"},
		{"no plan", without(planSection), "its section plan is missing"},
		{"no source", without("source/1:reach.logic"),
			"its section manifest.json counts 3 sources; 0 are there"},
		{"no code", without("cpu/code"), "its section cpu/code is missing"},
		{"another section", func(s []section) []section { return append(s, section{"virus", nil}) },
			"its section virus is none that a compiled program has"},
		{"a plan that is no text", replaced(planSection, "var edge(x: int, y: int)", "\xff"),
			"its section plan is no UTF-8 text"},
		{"a manifest that is no JSON", replaced(manifestSection, "{", "["),
			"its section manifest.json does not parse: invalid character ':' after array element"},
		{"a manifest and more", replaced(manifestSection, "\n}\n", "\n} {}\n"),
			"its section manifest.json goes on after its end"},
		{"a manifest with more", replaced(manifestSection, `"program"`, `"programme"`),
			`its section manifest.json does not parse: json: unknown field "programme"`},
		{"a module that does not parse", replaced("cpu/abi", "rows_from", "rows"),
			`its section cpu/abi does not parse: cpu/abi:3:9: expected a kind of parameter, found "rows"`},
		{"a module of another target", replaced("cpu/abi", `"cpu"`, `"gpu"`),
			"its section cpu/abi does not parse: it is of target gpu"},
		{"a module without meaning", replaced("cpu/abi", "column_data edge 0", "literal_word 1"),
			"its section cpu/abi does not parse: entry k0: its parameter literal_word 1 stands for nothing"},
		{"a place outside", replaced(manifestSection, `"end": 26`, `"end": 28`),
			"its section manifest.json has the place 1:0-28, which is nowhere"},
		{"a place of no source", replaced(manifestSection, `"source": 3`, `"source": 4`),
			"its section manifest.json has the place 4:3-8, which is nowhere"},
		{"too many keys", replaced(manifestSection, `"keys": 2`, `"keys": 3`),
			"its section manifest.json gives predicate edge 3 keys of 2 columns"},
	} {
		sections, _, err := readSections(bytes.NewReader(encoded(t, example())))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := writeSections(&b, test.alter(sections)); err != nil {
			t.Fatal(err)
		}
		_, err = Read(&b)
		var damage *DamageError
		if !errors.As(err, &damage) || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.what, err, test.want)
		}
	}
}

func without(name string) func([]section) []section {
	return func(in []section) (out []section) {
		for _, s := range in {
			if s.name != name {
				out = append(out, s)
			}
		}
		return out
	}
}

func replaced(name, old, new string) func([]section) []section {
	return func(in []section) []section {
		for i, s := range in {
			if s.name == name {
				in[i].data = bytes.Replace(s.data, []byte(old), []byte(new), 1)
			}
		}
		return in
	}
}

// TestLies reads heads whose lengths promise more than there is: what is taken
// is bounded by what is there.
func TestLies(t *testing.T) {
	head := binary.LittleEndian.AppendUint32([]byte(magic), Format)
	for _, length := range []uint32{maxTable, maxTable + 1, 1<<32 - 1} {
		lie := binary.LittleEndian.AppendUint32(bytes.Clone(head), length)
		allocated := testing.AllocsPerRun(1, func() {
			var damage *DamageError
			if _, err := Read(bytes.NewReader(lie)); !errors.As(err, &damage) {
				t.Errorf("a table of %d bytes: %v", length, err)
			}
		})
		if allocated > 100 {
			t.Errorf("a table of %d bytes: %v allocations", length, allocated)
		}
	}
}

// TestReaderFails passes on what the reader says.
func TestReaderFails(t *testing.T) {
	broken := errors.New("disk on fire")
	data := encoded(t, example())
	for n := 0; n < len(data); n += 13 {
		r := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken))
		if _, err := Read(r); !errors.Is(err, broken) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

// FuzzRead wants that no file makes Read panic, and that what it reads is
// written and read as the same. The fuzzer's changes are made to the sections,
// too, where checksums do not hide them.
func FuzzRead(f *testing.F) {
	data := encoded(f, example())
	f.Add(data, "", []byte(nil))
	f.Add(data[:len(data)/2], "", []byte(nil))
	f.Add(data, manifestSection,
		[]byte(`{"program":"p","sources":3,"targets":[],"predicates":null}`))
	f.Add(data, "cpu/abi", []byte("module \"cpu\"\n"))
	f.Fuzz(func(t *testing.T, data []byte, name string, text []byte) {
		if sections, _, err := readSections(bytes.NewReader(data)); err == nil && name != "" {
			for i := range sections {
				if sections[i].name == name {
					sections[i].data = text
				}
			}
			var b bytes.Buffer
			if writeSections(&b, sections) == nil {
				data = b.Bytes()
			}
		}
		file, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, file); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		file.Sections, again.Sections, file.Sum, again.Sum = nil, nil, "", ""
		if !reflect.DeepEqual(encoded(t, file), encoded(t, again)) {
			t.Errorf("the program changes:\n%+v\n%+v", file, again)
		}
	})
}
