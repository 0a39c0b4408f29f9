package driver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sectionsOf returns the contents of the sections of a compiled program, and
// the entries of its table without lengths and checksums. It is written from
// the description of the format in package rfx and shares nothing with it.
func sectionsOf(t testing.TB, file []byte) (names []string, contents [][]byte) {
	t.Helper()
	table := file[16 : 16+binary.LittleEndian.Uint32(file[12:])]
	rest := file[16+len(table)+sha256.Size:]
	for len(table) > 0 {
		n := int(binary.LittleEndian.Uint16(table))
		names = append(names, string(table[2:2+n]))
		length := binary.LittleEndian.Uint64(table[2+n:])
		contents = append(contents, rest[:length])
		table, rest = table[2+n+8+sha256.Size:], rest[length:]
	}
	if len(rest) > 0 {
		t.Fatalf("%d bytes follow the sections", len(rest))
	}
	return names, contents
}

// sealed puts sections together, with checksums that are right.
func sealed(head []byte, names []string, contents [][]byte) []byte {
	var table []byte
	for i, name := range names {
		table = binary.LittleEndian.AppendUint16(table, uint16(len(name)))
		table = append(table, name...)
		table = binary.LittleEndian.AppendUint64(table, uint64(len(contents[i])))
		sum := sha256.Sum256(contents[i])
		table = append(table, sum[:]...)
	}
	out := binary.LittleEndian.AppendUint32(slices.Clone(head[:12]), uint32(len(table)))
	out = append(out, table...)
	sum := sha256.Sum256(out)
	out = append(out, sum[:]...)
	return append(out, bytes.Join(contents, nil)...)
}

// fuzzedPrograms are compiled for FuzzRunCompiled: they have recursion,
// aggregates, negation, strings, decimals of 38 digits, constraints, orders,
// and files.
var fuzzedPrograms = []string{
	"a-cycle-reaches-itself", "a-decimal-that-does-not-fit-is-no-value",
	"a-histogram-with-groups-that-are-computed",
	"a-total-of-38-digits-overflows", "aggregates-between-two-recursions",
	"a-variable-only-under-negation-is-existential",
	"conversions-between-all-types", "dates-are-read-and-written-by-formats",
	"every-aggregate-over-groups",
	"functions-on-strings", "narrow-integers-wrap-around", "results-in-a-given-order-and-cut-off",
	"several-rules-for-one-function-that-agree", "strings-that-are-like-a-pattern",
	"the-row-of-the-maximum",
	"triangles-and-squares-in-a-graph", "wide-tuples-of-every-type", "words-grow-up-to-a-length",
}

// fileProgram names files to read and to write.
const fileProgram = "n(x, s) -> int(x), string(s).\nlang:physical:filePath[`n] = \"n.tsv\".\n" +
	"out(s, x) <- n(x, s), x > 1.\nlang:physical:filePath[`out] = \"out.csv\".\n" +
	"_(x) <- n(x, _).\n"

// fuzzedFile is a compiled program and the folder of its facts.
type fuzzedFile struct {
	data  []byte
	facts string
}

func fuzzedFiles(f *testing.F) []fuzzedFile {
	var out []fuzzedFile
	add := func(text, facts string) {
		prog := compileText(f, text, Options{})
		var b bytes.Buffer
		if _, err := prog.WriteCompiled(&b,
			CompiledOptions{Name: "p", Targets: []string{"cpu"}}); err != nil {
			f.Fatal(err)
		}
		out = append(out, fuzzedFile{b.Bytes(), facts})
	}
	add(fileProgram, "")
	for _, name := range fuzzedPrograms {
		dir := filepath.Join("../../testdata", "programs", name)
		text, err := os.ReadFile(filepath.Join(dir, "program.logic"))
		if err != nil {
			f.Fatal(err)
		}
		facts, err := filepath.Abs(filepath.Join(dir, "facts"))
		if err != nil {
			f.Fatal(err)
		}
		if _, err := os.Stat(facts); err != nil {
			facts = ""
		}
		add(string(text), facts)
	}
	return out
}

// FuzzRunCompiled changes a section of a compiled program, gives the file
// checksums that are right, and runs it on the go engine. The run gives answers
// or an error about the file or its data: it does not panic, and it neither
// reads nor writes files outside of the folders that it may use.
func FuzzRunCompiled(f *testing.F) {
	files := fuzzedFiles(f)
	dir := f.TempDir()
	box := filepath.Join(dir, "box")
	secret := filepath.Join(dir, "secret.tsv")
	if err := os.Mkdir(box, 0o700); err != nil {
		f.Fatal(err)
	}
	for name, text := range map[string]string{secret: "424242\tsecret\n",
		filepath.Join(box, "n.tsv"): "1\ta\n2\tb\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(box, "m.tsv")); err != nil {
		f.Fatal(err)
	}
	for i := range files {
		names, _ := sectionsOf(f, files[i].data)
		for j := range names {
			f.Add(uint8(i), uint8(j), uint16(0), uint8(0), []byte(nil))
			f.Add(uint8(i), uint8(j), uint16(40*i), uint8(1), []byte("0"))
		}
	}
	for _, path := range []string{"../secret.tsv", secret, "m.tsv", "/dev/stdout"} {
		_, contents := sectionsOf(f, files[0].data)
		for _, old := range []string{"n.tsv", "out.csv"} {
			at := bytes.Index(contents[0], []byte(old))
			f.Add(uint8(0), uint8(0), uint16(at), uint8(len(old)), []byte(path))
		}
	}
	f.Fuzz(func(t *testing.T, which, section uint8, at uint16, cut uint8, insert []byte) {
		file := files[int(which)%len(files)]
		names, contents := sectionsOf(t, file.data)
		i := int(section) % len(names)
		from := min(int(at), len(contents[i]))
		until := min(from+int(cut), len(contents[i]))
		contents[i] = slices.Concat(contents[i][:from], insert, contents[i][until:])
		data := sealed(file.data, names, contents)
		runFuzzed(t, Text(filepath.Join(box, "p.rfx"), string(data)),
			NewFacts().Dir(file.facts).Allow(box), filepath.Join(box, "results"))
		if found, err := os.ReadDir(dir); err != nil || len(found) != 2 {
			t.Errorf("outside are %v, %v", found, err)
		}
		if text, err := os.ReadFile(secret); err != nil || string(text) != "424242\tsecret\n" {
			t.Errorf("the file outside is %q, %v", text, err)
		}
	})
}

// runFuzzed runs what may be a compiled program, and writes its exports.
func runFuzzed(t *testing.T, src Source, facts *Facts, results string) {
	expected := func(what string, err error) bool {
		var environment *EnvironmentError
		var wrong *ProgramError
		var internal *InternalError
		if errors.As(err, &internal) {
			t.Errorf("%s: %v\n%s", what, err, internal.Stack)
		} else if err != nil && !errors.As(err, &environment) && !errors.As(err, &wrong) &&
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %T: %v", what, err, err)
		}
		return err == nil
	}
	compiled, err := ParseCompiled(src)
	if !expected("reading", err) {
		return
	}
	compiled.Info()
	prog, err := compiled.Program(Options{})
	if !expected("the program", err) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	exports, err := prog.ResolveExports(ExportOptions{Dir: results})
	expected("the exports", err)
	var outputs []string
	for _, q := range prog.Predicates() {
		outputs = append(outputs, q.Name)
	}
	res, err := prog.Run(ctx, facts,
		RunOptions{Engine: "go", Threads: 2, Memory: 64 << 20, Outputs: outputs})
	if !expected("running", err) {
		return
	}
	defer res.Release()
	for _, pred := range res.Predicates() {
		var text strings.Builder
		expected("writing "+pred, res.Write(&text, pred, TSV, WriteOptions{Limit: 1000}))
		if strings.Contains(text.String(), "secret") {
			t.Errorf("%s has what is outside: %q", pred, text.String())
		}
	}
	for _, x := range exports {
		expected("exporting "+x.Pred, prog.WriteExport(res, x))
	}
	if err := os.RemoveAll(results); err != nil {
		t.Error(err)
	}
}
