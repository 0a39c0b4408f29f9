package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redfoxdb/redfox/internal/short"
)

// answers returns each predicate of a run as TSV, or the error.
func answers(ctx context.Context, s *Session, p *Program, facts *Facts,
	opts LoadOptions) map[string]string {
	db, err := s.Load(ctx, p, facts, opts)
	if err != nil {
		return map[string]string{"": err.Error()}
	}
	res, err := s.Run(ctx, p, db, RunOptions{})
	if err != nil {
		return map[string]string{"": err.Error()}
	}
	out := map[string]string{}
	for _, pred := range res.Predicates() {
		var b bytes.Buffer
		if err := res.Write(&b, pred, TSV, WriteOptions{}); err != nil {
			return map[string]string{"": err.Error()}
		}
		out[pred] = b.String()
	}
	return out
}

// TestStoredPrograms writes the facts of all test programs to databases, and
// runs the programs over them on every engine: the answers are those of the
// files.
func TestStoredPrograms(t *testing.T) {
	ctx := context.Background()
	files, err := filepath.Glob("../../testdata/programs/*/program.logic")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d programs found: %v", len(files), err)
	}
	type stored struct {
		name, path string
		program    *Program
		want       map[string]string
	}
	var all []stored
	reference, err := OpenSession(SessionOptions{Engine: EngineGo})
	if err != nil {
		t.Fatal(err)
	}
	defer reference.Close()
	dir := t.TempDir()
	for i, file := range files {
		folder := filepath.Dir(file)
		if _, err := os.Stat(filepath.Join(folder, "facts")); err != nil {
			continue
		}
		sources, err := ReadSources(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Compile(ctx, sources, Options{})
		if err != nil {
			continue // a program that is refused needs no facts
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.rfdb", i))
		facts := FactsIn(filepath.Join(folder, "facts"))
		if _, err := p.Store(ctx, facts, path, LoadOptions{}); err != nil {
			var wrong *ProgramError
			if !errors.As(err, &wrong) {
				t.Errorf("%s: %v", file, err)
			}
			continue
		}
		want := answers(ctx, reference, p, FactsIn(filepath.Join(folder, "facts")), LoadOptions{})
		if want[""] == "" {
			all = append(all, stored{filepath.Base(folder), path, p, want})
		}
	}
	if len(all) < 60 {
		t.Fatalf("%d programs have facts", len(all))
	}
	onEngines(t, func(t *testing.T, engine string) {
		s, part := reference, 1
		if engine != EngineGo {
			// Code takes long to make, and engines see only columns.
			s, part = QuickSession(t), 6
			if engine != EngineCPU {
				if s, err = OpenSession(SessionOptions{Engine: engine}); err != nil {
					t.Fatal(err)
				}
				defer s.Close()
			}
			if testing.Short() {
				part = 30
			}
		}
		for i, x := range all {
			if i%part != 0 && !short.Every() {
				continue
			}
			got := answers(ctx, s, x.program, NewFacts().Dir(x.path),
				LoadOptions{Once: i%2 == 0})
			for pred, want := range x.want {
				if got[pred] != want {
					t.Errorf("%s: %s is\n%s\n%s, want\n%s", x.name, pred, got[pred], got[""], want)
				}
			}
		}
	})
}

// TestStoredRefused has databases that do not fit a program.
func TestStoredRefused(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "e.rfdb")
	program := func(text string) *Program {
		p, err := Compile(ctx, []Source{Text("p.logic", text)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := program("road(x, y) -> int(x), int(y). out(x) <- road(x, _).")
	if _, err := first.Store(ctx, NewFacts().Rows("road", []any{1, 2}, []any{1, 3}), path,
		LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged, cut := filepath.Join(t.TempDir(), "d.rfdb"), filepath.Join(t.TempDir(), "c.rfdb")
	changed := bytes.Clone(data)
	changed[3*4096] ^= 4
	for file, text := range map[string][]byte{damaged: changed, cut: data[:len(data)-1]} {
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		program *Program
		facts   *Facts
		want    string
	}{
		{program("road(x, y) -> string(x), int(y). out(x) <- road(x, _)."), NewFacts().Dir(path),
			path + " has road(int, int), and the program wants road(string, int); declare the " +
				"predicate so, or load its facts again: redfox load PROGRAM --facts DIR -o FILE.rfdb"},
		{program("road[x] = y -> int(x), int(y). out(x) <- road[x] = _."), NewFacts().Dir(path),
			path + "#road:2: error: road[1] has two values: 3 here and 2 in row 1"},
		{first, NewFacts().Dir(damaged), damaged + "#road: error: damage at byte 12288 of the file, " +
			"in column y of road: its bytes up to 12290 differ from their checksum"},
		{first, NewFacts().Dir(cut), cut + ": error: damage at byte " + fmt.Sprint(len(data)-1) +
			" of the file, in transaction 1: the file ends there, and the transaction " +
			"at byte " + fmt.Sprint(len(data))},
		{first, NewFacts().File("road", path+"x"), "no such file"},
	} {
		_, err := tt.program.Load(ctx, tt.facts, LoadOptions{})
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(tt.want)) {
			t.Errorf("the error is %v, want %s", err, tt.want)
		}
	}
}

// TestStoredSelected runs programs that compare columns of a packed database
// with constants: the rows that pass are read, and another program over the
// same facts still sees all of them.
func TestStoredSelected(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	const rows = 70_000 // enough to select from
	var text bytes.Buffer
	kept, sum, total := 0, 0, 0
	for i := range rows {
		day, price := i/100, i*7919%1000
		fmt.Fprintf(&text, "%d\t%d\t%d\t%s\n", i, day, price, []string{"AIR", "RAIL", "SHIP"}[i%3])
		total += price
		if day >= 300 && day < 320 && i%3 == 1 {
			kept++
			sum += price
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "item.tsv"), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	prog := compileText(t, `
item(i, day, price, mode) -> int(i), int(day), int(price), string(mode).
some[] = s -> int(s).
some[] = s <- agg<<s = total(p)>> item(_, day, p, "RAIL"), day >= 300, day < 320.
all[] = s -> int(s).
all[] = s <- agg<<s = total(p)>> item(_, _, p, _).
`, Options{})
	path := filepath.Join(dir, "items.rfdb")
	if _, err := prog.Store(ctx, FactsIn(dir), path, LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	onEngines(t, func(t *testing.T, engine string) {
		opts := RunOptions{Engine: engine, Outputs: []string{"some"}, Load: LoadOptions{Once: true}}
		db, err := prog.LoadFor(ctx, NewFacts().Dir(path), opts)
		if err != nil {
			t.Fatal(err)
		}
		if f := db.Report().Files[0]; !f.Selected || f.Kept != int64(kept) || f.BlocksLeft == 0 {
			t.Errorf("%d of %d rows are read, without %d of %d blocks", f.Kept, f.Rows, f.BlocksLeft,
				f.Blocks)
		}
		for _, out := range []string{"some", "all"} {
			opts.Outputs = []string{out}
			res, err := prog.RunOn(ctx, db, opts)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int{"some": sum, "all": total}[out]
			if got := fmt.Sprint(slices.Collect(res.Rows(out))); got != fmt.Sprintf("[[%d]]", want) {
				t.Errorf("%s is %s, want %d", out, got, want)
			}
		}
	})
}
