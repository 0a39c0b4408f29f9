package read

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/internal/short"
	"github.com/redfoxdb/redfox/runtime/store"
	"github.com/redfoxdb/redfox/runtime/store/storetest"
)

// TestData runs testdata/load and testdata/bind. Directives:
//
//	file NAME           writes a file of the input; \t, \r, \\ and \xHH stand for
//	                    those bytes, and \ at the end of the input for no newline.
//	                    gzip or zstd compress it; cut=N takes off its last N bytes
//	dir NAME            makes a folder
//	reset               removes all files
//	schemas             the predicates of what follows, one a line
//	bind                binds the folder; facts=(...) binds files as --fact does
//	load                binds and loads; prints each relation's tuples and the report
//
// bind and load take header, skip, offset, positional, delimiter=C and
// names=(...).
func TestData(t *testing.T) {
	for _, file := range []string{"load", "bind", "sniff", "files", "signature", "json"} {
		t.Run(file, func(t *testing.T) {
			dir := t.TempDir()
			var schemas []store.Schema
			datadriven.RunTest(t, filepath.Join("testdata", file),
				func(t *testing.T, d *datadriven.TestData) string {
					switch d.Cmd {
					case "reset":
						os.RemoveAll(dir)
						os.Mkdir(dir, 0o777)
					case "link":
						to := filepath.Join(dir, d.CmdArgs[1].Key)
						from := filepath.Join(dir, pathOf(d.CmdArgs[0]))
						if err := os.Symlink(to, from); err != nil {
							t.Fatal(err)
						}
					case "dir":
						os.MkdirAll(filepath.Join(dir, d.CmdArgs[0].Key), 0o777)
					case "file":
						WriteFile(t, dir, pathOf(d.CmdArgs[0]), fileContent(t, d))
					case "schemas":
						schemas = nil
						for _, line := range strings.Split(d.Input, "\n") {
							schemas = append(schemas, storetest.Predicate(t, line))
						}
					case "bind", "load":
						return strings.ReplaceAll(bindOrLoad(t, d, dir, schemas), dir+"/", "")
					default:
						d.Fatalf(t, "unknown directive %s", d.Cmd)
					}
					return ""
				})
		})
	}
}

// pathOf returns an argument that is a path, which may have an equals sign.
func pathOf(a datadriven.CmdArg) string {
	return strings.Join(append([]string{a.Key}, a.Vals...), "=")
}

func fileContent(t *testing.T, d *datadriven.TestData) string {
	content := strings.NewReplacer(`\t`, "\t", `\r`, "\r", `\\`, `\`, `\x00`, "\x00", `\x03`, "\x03", `\x04`, "\x04", `\xff`,
		"\xff",
		`\xfe`, "\xfe",
		`\xef`, "\xef", `\xbb`, "\xbb", `\xbf`, "\xbf").Replace(d.Input)
	if rest, ok := strings.CutSuffix(content, `\`); ok {
		content = rest
	} else if content != "" {
		content += "\n"
	}
	var b bytes.Buffer
	var w io.WriteCloser
	switch {
	case d.HasArg("gzip"):
		w = gzip.NewWriter(&b)
	case d.HasArg("zstd"):
		w, _ = zstd.NewWriter(&b)
	}
	if w != nil {
		io.WriteString(w, content)
		w.Close()
		content = b.String()
	}
	if d.HasArg("cut") {
		var n int
		d.ScanArgs(t, "cut", &n)
		content = content[:len(content)-n]
	}
	return content
}

func bindOrLoad(t *testing.T, d *datadriven.TestData, dir string, schemas []store.Schema) string {
	opts := Options{Header: d.HasArg("header")}
	if d.HasArg("skip") {
		opts.OnError = Skip
	}
	from := dir
	var facts []Fact
	for _, arg := range d.CmdArgs {
		if arg.Key != "facts" {
			continue
		}
		from = ""
		for _, text := range arg.Vals {
			pred, path, _ := strings.Cut(text, "=")
			f, err := ParseFact(pred + "=" + dir + "/" +
				strings.NewReplacer("[", "(", "]", ")", ";", ",").Replace(path))
			if err != nil {
				return err.Error() + "\n"
			}
			f.Offset, f.Positional = d.HasArg("offset"), d.HasArg("positional")
			if d.HasArg("names") {
				var names string
				d.ScanArgs(t, "names", &names)
				f.Names = strings.Split(names, ";")
			}
			if d.HasArg("format") {
				var name string
				d.ScanArgs(t, "format", &name)
				f.Format = Format(slices.Index(formatNames[:], name))
			}
			if d.HasArg("delimiter") {
				var c string
				d.ScanArgs(t, "delimiter", &c)
				f.Delimiter = c[0]
			}
			facts = append(facts, f)
		}
	}
	if d.HasArg("both") {
		from = dir
	}
	b, err := Bind(context.Background(), schemas, from, facts, opts)
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var out strings.Builder
	if d.Cmd == "bind" {
		for _, s := range b.Sources {
			fmt.Fprintf(&out, "%s (%s)\n", s.Path, s.Format)
			for _, u := range s.Uses {
				fmt.Fprintf(&out, "  %s %v\n", u.Schema.Name, u.Columns)
			}
		}
		for _, n := range b.Notes {
			fmt.Fprintf(&out, "note: %s\n", n)
		}
		return out.String()
	}
	// However the text is cut, the answer is the same.
	var first string
	for i, block := range []int{1 << 20, 1, 5, 16} {
		opts.blockSize, opts.Threads = block, 1+i
		got := loadAll(b, opts)
		if i == 0 {
			first = got
		} else if got != first {
			return fmt.Sprintf("blocks of %d bytes give\n%snot\n%s", block, got, first)
		}
	}
	return first
}

func loadAll(b *Binding, opts Options) string {
	db, report, err := Load(context.Background(), b, opts)
	if err != nil {
		return fmt.Sprintf("error: %s\n", err)
	}
	var out strings.Builder
	tables := map[*store.Table]string{}
	for _, r := range db.Relations() {
		table := tables[r.Table]
		if table == "" {
			table = fmt.Sprintf("table %d", len(tables)+1)
			tables[r.Table] = table
		}
		fmt.Fprintf(&out, "%s (%s): %s\n", r.Name, table, counted(r.Rows(), "row"))
		for _, tuple := range storetest.Tuples(r) {
			fmt.Fprintf(&out, "  %s\n", tuple)
		}
	}
	for _, f := range report.Files {
		if f.Skipped > 0 {
			fmt.Fprintf(&out, "%s: skipped %d of %d\n", f.File, f.Skipped, f.Skipped+f.Rows)
			for _, e := range f.Examples {
				fmt.Fprintf(&out, "  %s\n", e)
			}
		}
		if f.Repeated > 0 {
			fmt.Fprintf(&out, "%s: %d repeated\n", f.File, f.Repeated)
		}
	}
	return out.String()
}

// TestFailedLoadOfCompressedText ends loads of compressed files at a malformed
// row while the rest is still being decompressed.
func TestFailedLoadOfCompressedText(t *testing.T) {
	text := []byte("0x\n" + strings.Repeat("1\n", 1<<20))
	for _, name := range []string{"n.tsv.zst", "n.tsv.gz"} {
		var packed bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&packed)
		if strings.HasSuffix(name, ".zst") {
			w, _ = zstd.NewWriter(&packed)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		schema := []store.Schema{{Name: "n", Keys: 1,
			Args: []store.Field{{Name: "x", Type: scalar.IntType}}}}
		for range short.Count(t, 50, "loads of a file") {
			b, err := Bind(context.Background(), schema, "", []Fact{{Pred: "n", Path: file}},
				Options{Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := Load(t.Context(), b, Options{Threads: 2}); err == nil {
				t.Fatal("a malformed row is loaded")
			}
		}
	}
}
