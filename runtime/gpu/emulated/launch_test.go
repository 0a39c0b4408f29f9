package emulated

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/llvm"
	"github.com/redfoxdb/redfox/internal/scalar"
	"github.com/redfoxdb/redfox/primitives/service"
)

var library = sync.OnceValues(llvm.Open)

// addIR adds the second parameter to the word that the first one points to, for
// each tile of the state.
const addIR = `
define i64 @add(ptr %params, ptr %state) {
entry:
  %p1 = getelementptr i64, ptr %params, i64 1
  %to = load ptr, ptr %params
  %by = load i64, ptr %p1
  %s1 = getelementptr i64, ptr %state, i64 1
  %s2 = getelementptr i64, ptr %state, i64 2
  %until = load i64, ptr %s1
  %step = load i64, ptr %s2
  br label %check
check:
  %tile = load i64, ptr %state
  %more = icmp slt i64 %tile, %until
  br i1 %more, label %work, label %done
work:
  %old = atomicrmw add ptr %to, i64 %by seq_cst
  %next = add i64 %tile, %step
  store i64 %next, ptr %state
  br label %check
done:
  ret i64 0
}
`

func addModule() *abi.Module {
	return &abi.Module{Target: "gpu:sm_90", Entries: []*abi.Entry{{
		Symbol: "add", Of: "k", Threads: 1, Items: 32,
		Params: []abi.Param{{Kind: abi.ColumnData, Var: "r"}, {Kind: abi.RowsUntil}},
	}}}
}

// TestWoven compiles, links and loads a module, beside the service kernels, and
// runs its function on several blocks.
func TestWoven(t *testing.T) {
	lib, err := library()
	if err != nil {
		t.Skip(err)
	}
	b := open(t, Options{Library: lib})
	linked, err := b.gpu.Link(cuda.ModuleOptions{},
		cuda.Image{Name: "add", Code: []byte(Image(addModule(), addIR))},
		cuda.Image{Name: "service", Code: []byte(service.Base.PTX)})
	b.ok(err)
	m, err := b.gpu.LoadModule(cuda.Image{Name: "both", Code: linked.Code}, cuda.ModuleOptions{})
	b.ok(err)
	add, err := m.Function("add")
	b.ok(err)
	if n, known := add.Parameters(); n != 3 || !known {
		t.Errorf("%d parameters, known %v", n, known)
	}
	const blocks, tiles = 5, 23
	sum, states := b.alloc(8), b.alloc(8*3*blocks)
	b.ok(b.service(service.States(int64(states), blocks, 3, tiles, 1, 1)),
		b.stream.Fill8(sum, 0, 8))
	b.ok(b.stream.Launch(add, cuda.Shape{Grid: cuda.Dim{X: blocks}, Block: cuda.Dim{X: 1}},
		[]int64{int64(sum), 7, int64(states)}))
	if got := b.words(sum, 1)[0]; got != 7*tiles {
		t.Errorf("the sum is %d, not %d", got, 7*tiles)
	}
	for i, w := range b.words(states, 3*blocks) {
		if want := []uint64{0, tiles, blocks}; i%3 != 0 && w != want[i%3] || i%3 == 0 && w < tiles {
			t.Errorf("word %d of the states is %d", i, w)
		}
	}
	b.ok(b.d.Check())

	// A card would not notice these mistakes, or only by its results.
	for _, c := range []struct {
		want    string
		threads uint32
		states  cuda.Pointer
		params  int
	}{{"2 threads", 2, states, 3}, {"5 parameters", 1, states, 5}, {"the states of 5 blocks", 1,
		states + 8, 3}} {
		_ = b.stream.Launch(add,
			cuda.Shape{Grid: cuda.Dim{X: blocks}, Block: cuda.Dim{X: c.threads}},
			append([]int64{int64(sum), 7, int64(c.states)}, make([]int64, c.params-3)...))
		err := b.sync()
		if wrong := b.d.Check(); wrong == nil || !strings.Contains(wrong.Error(), c.want) {
			t.Errorf("got %v, not %q", wrong, c.want)
		}
		if err != nil { // it was a fault
			_ = errors.Join(b.stream.Close(), b.pool.Close(), m.Close(), b.gpu.Close())
			b.ok(b.d.Check())
			b = open(t, Options{Library: lib})
			m, err = b.gpu.LoadModule(cuda.Image{Name: "both", Code: linked.Code},
				cuda.ModuleOptions{})
			b.ok(err)
			add, err = m.Function("add")
			b.ok(err)
			sum, states = b.alloc(8), b.alloc(8*3*blocks)
		}
	}
	b.ok(b.stream.Free(sum), b.stream.Free(states), b.sync(), m.Close())
	b.close()
	b.ok(b.d.Check())
}

// words copies words from the device once the stream is done.
func (b *rig) words(p cuda.Pointer, n int64) []uint64 {
	b.Helper()
	b.ok(b.sync())
	words, err := b.gpu.(*share).memory.Words(int64(p), n)
	b.ok(err)
	return slices.Clone(words)
}

// service launches a service kernel.
func (b *rig) service(l service.Launch) error {
	b.Helper()
	for _, s := range service.Modules {
		m, err := b.gpu.LoadModule(cuda.Image{Name: s.Name, Code: []byte(s.PTX)},
			cuda.ModuleOptions{})
		b.ok(err)
		f, err := m.Function(l.Kernel)
		if err == nil {
			b.ok(f.SetMaxDynamicShared(l.Shared))
			err = b.stream.Launch(f,
				cuda.Shape{Grid: cuda.Dim{X: l.Blocks}, Block: cuda.Dim{X: l.Threads},
					Shared: l.Shared}, l.Params)
			b.ok(err)
			err = b.sync()
			_ = m.Close() // it fails if the kernel has
			return err
		}
		b.ok(m.Close())
	}
	b.Fatalf("there is no kernel %s", l.Kernel)
	return nil
}

// TestImagesRefused loads what is no code for an emulated GPU.
func TestImagesRefused(t *testing.T) {
	lib, err := library()
	if err != nil {
		t.Skip(err)
	}
	image := func(change func(e *abi.Entry)) string {
		m := addModule()
		change(m.Entries[0])
		return Image(m, addIR)
	}
	good := Image(addModule(), addIR)
	for _, c := range []struct {
		code, want string
		kind       error
	}{
		{".version 7.0\n", "no code for an emulated GPU", cuda.ErrInvalidPTX},
		{"\x7fELF\x02", "NO_BINARY", cuda.ErrNoBinary},
		{codeMark + "x", "NO_BINARY", cuda.ErrNoBinary},
		{imageMark + "entry", "expected", cuda.ErrInvalidPTX},
		{good + "define void @broken(", "expected", cuda.ErrInvalidPTX},
		{image(func(e *abi.Entry) { e.Symbol = "absent" }), "absent", cuda.ErrNoBinary},
		{image(func(e *abi.Entry) { e.Threads = 256 }), "256 threads", cuda.ErrInvalidPTX},
		{image(func(e *abi.Entry) {
			e.Hosts = []abi.Host{{Func: "string:lower", Args: []scalar.Type{scalar.StringType},
				Result: scalar.StringType}}
		}), "calls the host's string:lower", cuda.ErrInvalidPTX},
	} {
		b := open(t, Options{Library: lib})
		m, err := b.gpu.LoadModule(cuda.Image{Name: "wrong", Code: []byte(c.code)},
			cuda.ModuleOptions{})
		if err == nil {
			b.ok(m.Close())
		}
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, not %q", err, c.want)
		}
		b.close()
		b.ok(b.d.Check())
	}
	b := open(t, Options{})
	if _, err := b.gpu.Link(cuda.ModuleOptions{},
		cuda.Image{Name: "add", Code: []byte(good)}); !errors.Is(err, cuda.ErrInvalidPTX) {
		t.Errorf("without LLVM: %v", err)
	}
	b.close()
}
