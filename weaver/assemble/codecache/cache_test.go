package codecache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/kernelcache"
	"github.com/redfoxdb/redfox/internal/scalar"
)

const program = `relation a(x: int, y: int) input "a"
relation t(x: int) temp
block b0:
  run k0
    rows a
    v0: int = load x
    v1: int = load y
    v2: int = map add(v0, v1)
    store t(v2)
  halt
`

func parse(t *testing.T, text string) *harmony.Program {
	t.Helper()
	p, err := harmony.Parse("test.harmony", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// facts are what a test's knowledge is made of.
type facts struct {
	width  int64 // of all columns
	form   int64 // known if it is not 0
	bound  int64 // of all registers
	exists bool  // whether registers have bounds
}

func (f facts) knowledge() Knowledge {
	return Knowledge{
		Fix: func(entry string, p abi.Param) (int64, bool) {
			if p.Kind == abi.ColumnWidth {
				return f.width, true
			}
			return f.form, f.form != 0
		},
		Range: func(r *harmony.Reg) (lo, hi int64, ok bool) {
			return -f.bound, f.bound, f.exists && r.Type == scalar.IntType
		},
	}
}

// bench compiles a program, and counts how often it had to.
type bench struct {
	t     *testing.T
	store Store
	made  int
}

// compile returns the text of code that tells what was asked and answered: of
// columns of a byte also the form of a set.
func (b *bench) compile(text, maker string, f facts) string {
	b.t.Helper()
	graph := parse(b.t, text)
	c, err := Compile(b.store, graph, maker, f.knowledge(), func(k Knowledge) (*Code, error) {
		b.made++
		kernel := graph.Kernels()[0]
		width, _ := k.Fix(kernel.Name, abi.Param{Kind: abi.ColumnWidth, Var: "a", Index: 1})
		lo, hi, ok := k.Range(harmony.Def(kernel.Stages[2]))
		code := fmt.Sprintf("%s %s %d [%d %d %t]", maker, graph.String(), width, lo, hi, ok)
		if width == 1 {
			form, known := k.Fix(kernel.Name, abi.Param{Kind: abi.SetForm, Var: "t"})
			code += fmt.Sprint(" ", form, known)
		}
		k.Range(&harmony.Reg{})
		return NewCode(&abi.Module{Target: "test",
			Entries: []*abi.Entry{{Symbol: "k0", Of: "k0", Threads: 1, Items: 32}}}, code), nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	m, err := c.Module()
	if err != nil || m.Target != "test" || len(m.Entries) != 1 || m.Entries[0].Items != 32 {
		b.t.Errorf("the interface is %v, %v", m, err)
	}
	return c.Text
}

// check compiles, and wants what a cache without anything in it gives.
func (b *bench) check(text, maker string, f facts) {
	b.t.Helper()
	got := b.compile(text, maker, f)
	fresh := &bench{t: b.t, store: memory{}}
	if want := fresh.compile(text, maker, f); got != want {
		b.t.Errorf("the code is %q, want %q", got, want)
	}
}

// want compares beside that how often code was generated, in all.
func (b *bench) want(made int, text, maker string, f facts) {
	b.t.Helper()
	if b.check(text, maker, f); b.made != made {
		b.t.Errorf("code was generated %d times, want %d", b.made, made)
	}
}

// TestKeys changes what code depends on, one after the other.
func TestKeys(t *testing.T) {
	b := &bench{t: t, store: kernelcache.New(filepath.Join(t.TempDir(), "cache"), 1<<20)}
	base := facts{width: 4, bound: 10}
	b.want(1, program, "v1", base)
	b.want(1, program, "v1", base)
	// Nothing asked for the form, nor for bounds that there are not.
	b.want(1, program, "v1", facts{width: 4, form: 3, bound: 11})
	b.want(2, program, "v2", base)
	b.want(3, strings.Replace(program, "add", "mul", 1), "v1", base)
	b.want(4, program, "v1", facts{width: 8, bound: 10})
	b.want(5, program, "v1", facts{width: 4, bound: 10, exists: true})
	b.want(6, program, "v1", facts{width: 4, bound: 11, exists: true})
	for range 2 {
		b.want(6, program, "v2", base)
		b.want(6, strings.Replace(program, "add", "mul", 1), "v1", base)
		b.want(6, program, "v1", facts{width: 8, bound: 10})
		b.want(6, program, "v1", facts{width: 4, bound: 11, exists: true})
	}
	// A further question: what lies under fewer is made once more.
	b.want(7, program, "v1", facts{width: 1, form: 1})
	b.want(8, program, "v1", facts{width: 1, form: 2})
	b.want(9, program, "v1", facts{width: 1})
	b.want(10, program, "v1", facts{width: 4, form: 3, bound: 10})
	b.want(11, program, "v1", base) // the form is a question now
	for range 2 {
		b.want(11, program, "v1", facts{width: 1, form: 1})
		b.want(11, program, "v1", facts{width: 1, form: 2})
		b.want(11, program, "v1", base)
	}
}

// TestProcesses compiles with several caches in one folder at once, and then
// with another one.
func TestProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	all := func() int {
		b := &bench{t: t, store: kernelcache.New(dir, 1<<20)}
		for i := range int64(30) {
			b.check(program, "v1", facts{width: i % 3, form: i % 2, bound: i % 5, exists: i%4 == 0})
		}
		return b.made
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { all() })
	}
	wg.Wait()
	// Whoever wrote the questions last may not have known them all, and what
	// was made before they grow is made again.
	all()
	all()
	if n := all(); n != 0 {
		t.Errorf("code was generated %d times although other processes have it", n)
	}
}

// TestDamage cuts and changes entries.
func TestDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	b := &bench{t: t, store: kernelcache.New(dir, 1<<20)}
	f := facts{width: 1, form: 1}
	b.want(1, program, "v1", f)
	made := 1
	for _, damage := range []func([]byte) []byte{
		func(data []byte) []byte { return data[:len(data)/2] },
		func(data []byte) []byte { data[len(data)-1] ^= 1; return data },
		func(data []byte) []byte { return nil },
	} {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 2 {
			t.Fatalf("there are the files %q, %v", files, err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err == nil {
				err = os.WriteFile(name, damage(data), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			made++
			b.want(made, program, "v1", f)
			b.want(made, program, "v1", f)
		}
	}
}

// memory is a store that keeps what it is told to.
type memory map[string][]byte

func (m memory) Get(key string) ([]byte, bool) { v, ok := m[key]; return v, ok }
func (m memory) Put(key string, object []byte) { m[key] = object }
func (m memory) change(f func(data []byte) []byte) {
	for k := range m {
		m[k] = f(m[k])
	}
}

// TestForeign reads what no version has written.
func TestForeign(t *testing.T) {
	store := memory{}
	b := &bench{t: t, store: store}
	b.want(1, program, "v1", facts{width: 1})
	for _, data := range []string{"", "\xff", "\x7f", "\x00", "\x00\x01a",
		"\x00\x01a\x01\xff\xff\xff\xff\x07", "\x00\x01a\x01\x01b", strings.Repeat("\xff", 30),
		"\x01\x02\x03\x04"} {
		store.change(func([]byte) []byte { return []byte(data) })
		b.compile(program, "v1", facts{width: 1})
	}
}

// TestFailures keeps nothing of a generation that fails, or that learns what
// cannot be asked again.
func TestFailures(t *testing.T) {
	store := memory{}
	graph := parse(t, program)
	failure := errors.New("failure")
	k := facts{width: 4, exists: true}.knowledge()
	if _, err := Compile(store, graph, "v1", k, func(k Knowledge) (*Code, error) {
		k.Fix("k0", abi.Param{Kind: abi.ColumnWidth})
		return nil, failure
	}); err != failure || len(store) != 0 {
		t.Errorf("%v, and %d entries", err, len(store))
	}
	c, err := Compile(store, graph, "v1", k, func(k Knowledge) (*Code, error) {
		k.Range(&harmony.Reg{Type: scalar.IntType}) // no register of the graph, and it has bounds
		return NewCode(&abi.Module{Target: "test"}, "text"), nil
	})
	if err != nil || c.Text != "text" || len(store) != 0 {
		t.Errorf("%v, %v, and %d entries", c, err, len(store))
	}
}
