package emit

import (
	"context"
	"flag"
	"fmt"
	"math"
	mathbits "math/bits"
	"os"
	"regexp"
	goruntime "runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/harmony/domain"
	"github.com/redfoxdb/redfox/harmony/ranges"
	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/interval"
	"github.com/redfoxdb/redfox/internal/ptxas"
	"github.com/redfoxdb/redfox/weaver/target"
)

var (
	cardBench = flag.String("cardbench", "", "measure on a GPU the kernels whose names match")
	cardScale = flag.Int("cardscale", 0, "divide rows by 2 to this power")
	cardPTX   = flag.String("cardptx", "", "write the PTX of measured kernels to this folder")
	cardTimes = flag.Int("cardtimes", 10,
		"how often a kernel is measured; with 0 it is assembled only, and takes no GPU")
)

// ceiling is the number of bytes that an H200 reads in a second.
const ceiling = 4.54e12

// TestCardBench measures kernels over columns that a card makes for itself,
// hot: the median of all runs. It checks counts and sums.
func TestCardBench(t *testing.T) {
	if *cardBench == "" {
		t.Skip("-cardbench names what is measured")
	}
	wanted := regexp.MustCompile(*cardBench)
	r := &rig{}
	if *cardTimes > 0 {
		r = newRig(t, openCard(t))
	}
	for _, b := range cardBenches() {
		if wanted.MatchString(b.name) {
			t.Run(b.name, func(t *testing.T) { r.measure(t, b) })
		}
	}
}

// randomColumn is a column of random numbers from 0 to below mod, or of row
// numbers if mod is 0. One in hot of the numbers is 0, if hot is not 0. Words
// are base plus a number.
type randomColumn struct {
	width     int
	mod, seed uint64
	hot       uint64
	base      int64
}

// at returns the word of a row.
func (c randomColumn) at(row int64) int64 {
	n := uint64(row)
	if c.mod != 0 {
		h := mix64(n ^ c.seed<<40)
		n, _ = mathbits.Mul64(h, c.mod)
		if c.hot != 0 && h%c.hot == 0 {
			n = 0
		}
	}
	return c.base + int64(n)
}

func mix64(v uint64) uint64 {
	v = (v + 0x9e3779b97f4a7c15)
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// fillIR fills a column of width bytes as randomColumn says.
const fillIR = `
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
define ptx_kernel void @fill(ptr %to, i64 %rows, i64 %width, i64 %mod, i64 %seed, i64 %hot) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %g = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %b256 = mul i32 %b, 256
  %first32 = add i32 %b256, %t
  %first = zext i32 %first32 to i64
  %g256 = mul i32 %g, 256
  %step = zext i32 %g256 to i64
  %high = shl i64 %seed, 40
  br label %head
head:
  %i = phi i64 [ %first, %entry ], [ %next, %latch ]
  %more = icmp ult i64 %i, %rows
  br i1 %more, label %body, label %done
body:
  %v0 = xor i64 %i, %high
  %v1 = add i64 %v0, -7046029254386353131
  %s1 = lshr i64 %v1, 30
  %x1 = xor i64 %v1, %s1
  %v2 = mul i64 %x1, -4658895280553007687
  %s2 = lshr i64 %v2, 27
  %x2 = xor i64 %v2, %s2
  %v3 = mul i64 %x2, -7723592293110705685
  %s3 = lshr i64 %v3, 31
  %h = xor i64 %v3, %s3
  %wideh = zext i64 %h to i128
  %widem = zext i64 %mod to i128
  %product = mul i128 %wideh, %widem
  %upper = lshr i128 %product, 64
  %n = trunc i128 %upper to i64
  %nohot = icmp eq i64 %hot, 0
  %divisor = select i1 %nohot, i64 1, i64 %hot
  %rem = urem i64 %h, %divisor
  %ishot0 = icmp eq i64 %rem, 0
  %cool = xor i1 %nohot, true
  %ishot = and i1 %ishot0, %cool
  %n2 = select i1 %ishot, i64 0, i64 %n
  %plain = icmp eq i64 %mod, 0
  %v = select i1 %plain, i64 %i, i64 %n2
  switch i64 %width, label %w8 [ i64 1, label %w1  i64 2, label %w2  i64 4, label %w4 ]
w1:
  %p1 = getelementptr i8, ptr %to, i64 %i
  %t1 = trunc i64 %v to i8
  store i8 %t1, ptr %p1
  br label %latch
w2:
  %p2 = getelementptr i16, ptr %to, i64 %i
  %t2 = trunc i64 %v to i16
  store i16 %t2, ptr %p2
  br label %latch
w4:
  %p4 = getelementptr i32, ptr %to, i64 %i
  %t4 = trunc i64 %v to i32
  store i32 %t4, ptr %p4
  br label %latch
w8:
  %p8 = getelementptr i64, ptr %to, i64 %i
  store i64 %v, ptr %p8
  br label %latch
latch:
  %next = add i64 %i, %step
  br label %head
done:
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @fill, !"kernel", i32 1}
`

// rig is a card with the columns that benches share.
type rig struct {
	*card
	stream  *cuda.Stream
	fill    *cuda.Function
	columns map[string]cuda.Pointer
	bytes   int64 // of columns
}

// mostColumns bounds the bytes of columns that are kept for other benches.
const mostColumns = 40 << 30

func newRig(t *testing.T, c *card) *rig {
	r := &rig{card: c, columns: map[string]cuda.Pointer{}}
	var err error
	if r.stream, err = c.NewStream(); err != nil {
		t.Fatal(err)
	}
	ptx := ptxOf(t, &Code{Module: &abi.Module{Entries: []*abi.Entry{{Symbol: "fill"}}}, IR: fillIR},
		90)
	m, err := c.LoadModule(cuda.Image{Name: "fill", Code: ptx}, cuda.ModuleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.fill, err = m.Function("fill"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		r.stream.Close()
		for _, p := range r.columns {
			c.Free(p)
		}
	})
	return r
}

func (r *rig) wait(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := r.stream.Synchronize(ctx); err != nil {
		t.Fatal(err)
	}
}

// column returns a column's address, and makes it the first time.
func (r *rig) column(t testing.TB, c randomColumn, rows int64) cuda.Pointer {
	t.Helper()
	if r.card == nil || c.width == 0 {
		return 0
	}
	key := fmt.Sprint(c, rows)
	if p, ok := r.columns[key]; ok {
		return p
	}
	p := r.alloc(t, rows*int64(c.width), false)
	shape := cuda.Shape{Grid: cuda.Dim{X: 132 * 8}, Block: cuda.Dim{X: 256}}
	err := r.stream.Launch(r.fill, shape,
		[]int64{int64(p), rows, int64(c.width), int64(c.mod), int64(c.seed), int64(c.hot)})
	if err != nil {
		t.Fatal(err)
	}
	r.wait(t)
	r.columns[key] = p
	r.bytes += rows * int64(c.width)
	return p
}

// alloc returns memory for a number of bytes, freed with the test if it is its
// own.
func (r *rig) alloc(t testing.TB, bytes int64, own bool) cuda.Pointer {
	t.Helper()
	if r.card == nil {
		return 0
	}
	p, err := r.Alloc(uint64(bytes+63) / 32 * 32)
	if err != nil {
		t.Fatal(err)
	}
	if own {
		t.Cleanup(func() { r.Free(p) })
	}
	return p
}

// benchTable is memory that is cleared before each run.
type benchTable struct {
	at    cuda.Pointer
	words int64 // of 32 bits
	value uint32
}

// cardBenched is a kernel to measure. Words are the parameters that it takes
// beside what its columns say; those of Fixed kinds are constants of the code.
type cardBenched struct {
	name, text string
	rows       map[string]int64          // of relations
	cols       map[string][]randomColumn // of relations
	derived    map[string]int64          // capacities of derived relations
	// forms and bits are those of keys; slots what tables hold.
	forms map[string]abi.Form
	bits  map[string][]int64 // of each key column
	slots map[string]int64
	open  bool // nothing is known when code is made
	units int64
	unit  string
	bytes int64
	from  int64 // the first row of the source
	share int   // workers that share tiles
	// check is given the words of cells or gauges.
	check func(t *testing.T, get func(kind abi.Kind, name string, index int, words int64) []int64)
}

func (r *rig) measure(t *testing.T, b *cardBenched) {
	if r.bytes > mostColumns {
		for _, p := range r.columns {
			r.Free(p)
		}
		clear(r.columns)
		r.bytes = 0
	}
	p, err := harmony.Parse("bench.harmony", b.text)
	if err == nil {
		err = harmony.Verify(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	words := map[abi.Param]int64{}
	set := func(kind abi.Kind, name string, index int, v int64) {
		words[abi.Param{Kind: kind, Var: name, Index: index}] = v
	}
	var tables []benchTable
	cleared := func(bytes int64, value uint32) cuda.Pointer {
		at := r.alloc(t, bytes, true)
		tables = append(tables, benchTable{at, (bytes + 3) / 4, value})
		return at
	}
	keysOf := func(name string, form, shift, base, bits abi.Kind) {
		set(form, name, 0, int64(b.forms[name]))
		at := int64(0)
		for i, n := range b.bits[name] {
			set(shift, name, i, at)
			set(base, name, i, 0)
			set(bits, name, i, n)
			at += n
		}
	}
	for _, rel := range p.Relations {
		rows := b.rows[rel.Name]
		if n := b.derived[rel.Name]; n > 0 {
			rows = n
			keysOf(rel.Name, abi.SetForm, abi.SetShift, abi.SetBase, abi.SetBits)
			gauge := cleared(16, 0)
			tables = append(tables, benchTable{gauge + 8, 2, math.MaxInt32})
			set(abi.Gauge, rel.Name, 0, int64(gauge))
			set(abi.SetSize, rel.Name, 0, b.slots[rel.Name])
			switch b.forms[rel.Name] {
			case abi.Direct:
				set(abi.SetTable, rel.Name, 0, int64(cleared(b.slots[rel.Name]/8+32, 0)))
			case abi.Hash:
				set(abi.SetSize, rel.Name, 0, b.slots[rel.Name]-1)
				set(abi.SetTable, rel.Name, 0, int64(cleared(8*b.slots[rel.Name]+32, 0)))
			}
		}
		for i, c := range b.cols[rel.Name] {
			data := cuda.Pointer(0)
			if b.derived[rel.Name] > 0 {
				data = r.alloc(t, rows*int64(c.width), true)
			} else {
				data = r.column(t, c, rows)
			}
			set(abi.ColumnData, rel.Name, i, int64(data))
			set(abi.ColumnBase, rel.Name, i, c.base)
			set(abi.ColumnStep, rel.Name, i, 1)
			set(abi.ColumnWidth, rel.Name, i, int64(c.width))
		}
	}
	for _, g := range p.Groups {
		keysOf(g.Name, abi.GroupForm, abi.GroupShift, abi.GroupBase, abi.GroupBits)
		n := max(b.slots[g.Name], 1)
		set(abi.GroupSize, g.Name, 0, n)
		set(abi.GroupShared, g.Name, 0, 1)
		gauge := cleared(16, 0)
		tables = append(tables, benchTable{gauge + 8, 2, math.MaxInt32})
		set(abi.Gauge, g.Name, 0, int64(gauge))
		if b.forms[g.Name] == abi.Hash {
			set(abi.GroupSize, g.Name, 0, n-1)
			set(abi.GroupTable, g.Name, 0, int64(cleared(8*(n+2), 0)))
			n++
		}
		for i, a := range g.Accs {
			cell := abi.CellOf(a.Fn, a.In)
			set(abi.GroupCells, g.Name, i, int64(cleared(8*n*int64(cell.Words), 0)))
		}
		set(abi.GroupOccupied, g.Name, 0, int64(cleared(8*n, 0)))
	}
	for _, x := range p.Indexes {
		keysOf(x.Name, abi.IndexForm, abi.IndexShift, abi.IndexBase, abi.IndexBits)
		n := b.slots[x.Name]
		set(abi.IndexSize, x.Name, 0, n)
		entry := map[harmony.IndexKind]int64{harmony.Unique: 4, harmony.Exists: 1}[x.Kind]
		if b.forms[x.Name] == abi.Hash {
			set(abi.IndexSize, x.Name, 0, n-1)
			entry = 8
			if x.Kind == harmony.Unique {
				entry = 16
			}
			n += 2
		}
		zeroed := func(bytes int64) cuda.Pointer {
			at := r.alloc(t, bytes, true)
			if r.card != nil {
				if err := r.Fill8(at, 0, uint64(bytes)); err != nil {
					t.Fatal(err)
				}
			}
			return at
		}
		table := zeroed(n*entry + 64)
		set(abi.IndexTable, x.Name, 0, int64(table))
		if x.Kind == harmony.Multi {
			set(abi.IndexBegins, x.Name, 0, int64(zeroed(8*(n+2))))
			set(abi.IndexRows, x.Name, 0, int64(r.alloc(t, 4*b.rows[x.Of.Name], true)))
		}
	}
	domains := domain.Find(p)
	found := ranges.Find(p, domains, ranges.Options{
		UnknownLiterals: true,
		Column: func(rel *harmony.Relation, col int) interval.Interval {
			c := b.cols[rel.Name][col]
			most := b.rows[rel.Name]
			if c.mod != 0 {
				most = int64(c.mod)
			}
			return interval.Interval{Lo: c.base, Hi: c.base + most - 1}
		},
	})
	o := Options{Target: target.GPU(90), Domains: domains}
	if !b.open {
		o.Fix = func(entry string, p abi.Param) (int64, bool) {
			// Runs know the size of what is directly addressed from the start.
			if p.Kind == abi.GroupSize && b.forms[p.Var] != abi.Direct || p.Kind == abi.SetSize ||
				p.Kind == abi.IndexSize {
				return 0, false
			}
			v, ok := words[p]
			return v, ok
		}
		o.Range = func(reg *harmony.Reg) (lo, hi int64, ok bool) {
			in, exact := found.Reg(reg)
			return in.Lo, in.Hi, exact && !in.Empty()
		}
	}
	begin := time.Now()
	code, err := Program(p, o)
	if err != nil {
		t.Fatal(err)
	}
	emitted := time.Since(begin)
	ptx := ptxOf(t, code, 90)
	compiled := time.Since(begin) - emitted
	if *cardPTX != "" {
		os.WriteFile(*cardPTX+"/"+regexp.MustCompile(`\W+`).ReplaceAllString(b.name, "-")+".ptx",
			ptx, 0o644)
	}
	if r.card == nil {
		usage, err := ptxas.Assemble(ptx, "sm_90")
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range usage.Kernels {
			fmt.Printf("%-34s %s, %d bytes of PTX, %.0f+%.0f ms\n", b.name, u, len(ptx),
				1e3*emitted.Seconds(), 1e3*compiled.Seconds())
		}
		return
	}
	m, err := r.LoadModule(cuda.Image{Name: b.name, Code: ptx}, cuda.ModuleOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	launch := func(e *abi.Entry, rows int64, times int, prepare func()) (taken []time.Duration,
		blocks int, regs int) {
		f, err := m.Function(e.Symbol)
		if err != nil {
			t.Fatal(err)
		}
		if e.Dynamic > 0 {
			if err := f.SetMaxDynamicShared(e.Dynamic); err != nil {
				t.Fatal(err)
			}
		}
		each, err := f.BlocksPerMultiprocessor(e.Threads, e.Dynamic)
		if err != nil {
			t.Fatal(err)
		}
		workers := each * r.Device().Attributes.Multiprocessors
		states := make([]int64, workers*e.StateWords())
		e.Start(states, workers, b.from, rows, max(b.share, 1))
		device := r.alloc(t, int64(8*len(states)), true)
		params := make([]int64, len(e.Params))
		for i, p := range e.Params {
			word, ok := words[p]
			switch {
			case ok:
			case p.Kind == abi.RowsFrom:
				word = b.from
			case p.Kind == abi.RowsUntil:
				word = rows
			case p.Kind == abi.LiteralWord:
				word = int64(e.Literals[p.Index].Value.Bits())
			case !p.Kind.IsAddress():
				t.Fatalf("no word for %s", p)
			}
			params[i] = word
		}
		start, err1 := r.NewTimer()
		stop, err2 := r.NewTimer()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for range times {
			prepare()
			if err := r.CopyToDevice(device, bytesOf(states)); err != nil {
				t.Fatal(err)
			}
			shape := cuda.Shape{Grid: cuda.Dim{X: uint32(workers)},
				Block: cuda.Dim{X: uint32(e.Threads)}, Shared: e.Dynamic}
			r.stream.Record(start)
			if err := r.stream.Launch(f, shape,
				append(slices.Clone(params), int64(device))); err != nil {
				t.Fatal(err)
			}
			r.stream.Record(stop)
			r.wait(t)
			d, err := stop.Elapsed(start)
			if err != nil {
				t.Fatal(err)
			}
			taken = append(taken, d)
		}
		slices.Sort(taken)
		return taken, each, f.Attributes().Registers
	}
	prepare := func() {
		for _, c := range tables {
			if err := r.Fill32(c.at, c.value, uint64(c.words)); err != nil {
				t.Fatal(err)
			}
		}
	}
	get := func(kind abi.Kind, name string, index int, n int64) []int64 {
		out := make([]int64, n)
		if err := r.CopyToHost(bytesOf(out),
			cuda.Pointer(words[abi.Param{Kind: kind, Var: name, Index: index}])); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, e := range code.Module.Entries {
		if e.Role == abi.Kernel {
			rows := int64(0)
			for _, k := range p.Kernels() {
				if k.Name == e.Of {
					rows = b.rows[k.Source.(*harmony.Rows).Rel.Name]
				}
			}
			taken, each, regs := launch(e, rows, *cardTimes, prepare)
			median := taken[len(taken)/2].Seconds()
			rate := float64(b.bytes) / median
			fmt.Printf("%-34s %9.3f ms (%.3f to %.3f)  %8.2f G %s/s  %7.1f GB/s %5.1f %%  | %d×%d×%d regs %d shared %d compile %.0f+%.0f ms\n",
				b.name, 1e3*median, 1e3*taken[0].Seconds(), 1e3*taken[len(taken)-1].Seconds(),
				float64(b.units)/median/1e9, b.unit, rate/1e9, 100*rate/ceiling, each, e.Threads,
				e.Items, regs, e.Scratch,
				1e3*emitted.Seconds(), 1e3*compiled.Seconds())
			if b.check != nil {
				b.check(t, get)
			}
			continue
		}
		x := p.Indexes[slices.IndexFunc(p.Indexes, func(x *harmony.Index) bool {
			return x.Name == e.Of
		})]
		from := b.from
		b.from = 0
		taken, _, _ := launch(e, b.rows[x.Of.Name], 1, func() {})
		b.from = from
		fmt.Printf("%-34s %9.3f ms, %s of %s\n", b.name, 1e3*taken[0].Seconds(), e.Role, e.Of)
		if e.Role == abi.BuildCount {
			begins := abi.Param{Kind: abi.IndexBegins, Var: x.Name}
			n := b.slots[x.Name] + 4
			if b.forms[x.Name] != abi.Hash {
				n = b.slots[x.Name] + 2
			}
			counts := get(abi.IndexBegins, x.Name, 0, n)
			sum := int64(0)
			for i := 1; i < len(counts); i++ {
				sum, counts[i] = sum+counts[i], sum
			}
			if err := r.CopyToDevice(cuda.Pointer(words[begins]), bytesOf(counts)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func bytesOf(words []int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// sumRows adds up what f says of all rows, on all processors.
func sumRows(rows int64, f func(row int64) int64) int64 {
	n := int64(goruntime.GOMAXPROCS(0))
	sums := make([]int64, n)
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() {
			sum := int64(0)
			for i := w * rows / n; i < (w+1)*rows/n; i++ {
				sum += f(i)
			}
			sums[w] = sum
		})
	}
	wg.Wait()
	total := int64(0)
	for _, s := range sums {
		total += s
	}
	return total
}

// cardBenches are the kernels that are measured.
func cardBenches() []*cardBenched {
	million := int64(1_000_000) >> *cardScale
	var out []*cardBenched
	wantSum := func(name string, index int, slots, words int64,
		want func() int64) func(t *testing.T, get func(abi.Kind, string, int, int64) []int64) {
		return func(t *testing.T, get func(abi.Kind, string, int, int64) []int64) {
			sum := int64(0)
			for i, w := range get(abi.GroupCells, name, index, slots*words) {
				if int64(i)%words == 0 {
					sum += w
				}
			}
			if want := want(); sum != want {
				t.Errorf("the sum is %d, not %d", sum, want)
			}
		}
	}
	// Read and reduce.
	for _, width := range []int{1, 2, 4, 8} {
		for _, open := range []bool{false, true} {
			n := int64(1<<33) / int64(width) >> *cardScale
			if width < 4 {
				n = int64(1<<31) >> *cardScale
			}
			c := randomColumn{width: width, mod: 200, seed: 1}
			name := fmt.Sprintf("total of %d bytes", width)
			if open {
				name += " open"
			}
			out = append(out, &cardBenched{
				name: name, open: open,
				text: "relation a(x: int) input \"a\"\ngroups g(; s: int = total(int))\nblock b0:\n  run k0\n    rows a\n    v0: int = load x\n    group g [] total(v0)\n  halt\n",
				rows: map[string]int64{"a": n}, cols: map[string][]randomColumn{"a": {c}},
				units: n, unit: "rows", bytes: n * int64(width),
				check: wantSum("g", 0, 1, 2, func() int64 { return sumRows(n, c.at) }),
			})
		}
	}
	// A chain of three selections over four columns.
	n := 600 * million
	chain := []randomColumn{{width: 2, mod: 2000, seed: 2}, {width: 1, mod: 100, seed: 3},
		{width: 1, mod: 100, seed: 4}, {width: 4, mod: 1e6, seed: 5}}
	for _, pick := range [][3]int64{{1000, 50, 50}, {40, 50, 50}, {2000, 100, 100}} {
		out = append(out, &cardBenched{
			name: fmt.Sprintf("select chain %d %d %d", pick[0], pick[1], pick[2]),
			text: fmt.Sprintf("relation a(x: int, y: int, z: int, p: int) input \"a\"\ngroups g(; s: int = total(int))\nblock b0:\n  run k0\n    rows a\n"+
				"    v0: int = load x\n    v1: boolean = map lt(v0, %d)\n    filter v1\n    v2: int = load y\n    v3: boolean = map lt(v2, %d)\n    filter v3\n"+
				"    v4: int = load z\n    v5: boolean = map lt(v4, %d)\n    filter v5\n    v6: int = load p\n    group g [] total(v6)\n  halt\n", pick[0], pick[1], pick[2]),
			rows: map[string]int64{"a": n}, cols: map[string][]randomColumn{"a": chain},
			units: n, unit: "rows", bytes: n * 8,
			check: wantSum("g", 0, 1, 2, func() int64 {
				return sumRows(n, func(i int64) int64 {
					for k, c := range chain[:3] {
						if c.at(i) >= pick[k] {
							return 0
						}
					}
					return chain[3].at(i)
				})
			}),
		})
	}
	// Unique probes.
	for _, keys := range []int64{million, 100 * million} {
		for _, form := range []abi.Form{abi.Direct, abi.Hash} {
			bits := int64(mathbits.Len64(uint64(keys - 1)))
			slots := keys
			if form == abi.Hash {
				slots = 2 << bits
			}
			out = append(out, &cardBenched{
				name: fmt.Sprintf("probe %d keys %s", keys, form),
				text: "relation a(x: int) input \"a\"\nrelation d(k: int) input \"d\"\nindex i unique d(k)\ngroups g(; n: int = count())\nblock b0:\n  build i\n  run k0\n    rows a\n    v0: int = load x\n    v1: row = probe unique i(v0)\n    group g [] count()\n  halt\n",
				rows: map[string]int64{"a": n, "d": keys},
				cols: map[string][]randomColumn{"a": {{width: 4, mod: uint64(keys), seed: 6}},
					"d": {{width: 4}}},
				forms: map[string]abi.Form{"i": form}, bits: map[string][]int64{"i": {bits}},
				slots: map[string]int64{"i": slots},
				units: n, unit: "probes", bytes: n * 4,
				check: wantSum("g", 0, 1, 1, func() int64 { return n }),
			})
		}
	}
	// Groups.
	for _, groups := range []int64{1, 4, 33, 1000, 3000, 10_000, 25_000, 100_000, million,
		100 * million} {
		for _, form := range []abi.Form{abi.Direct, abi.Hash} {
			for _, hot := range []uint64{0, 2} {
				if hot != 0 && groups < 10_000 {
					continue
				}
				bits := int64(mathbits.Len64(uint64(groups - 1)))
				slots := groups
				cells := groups
				if form == abi.Hash {
					slots = max(int64(2)<<bits, 1024)
					cells = slots + 1
				}
				key := randomColumn{width: 4, mod: uint64(groups), seed: 7, hot: hot}
				switch {
				case groups == 1:
					key.width = 0
				case groups <= 256:
					key.width = 1
				case groups <= 1<<16:
					key.width = 2
				}
				words := randomColumn{width: 4, mod: 1e6, seed: 5, base: 1}
				name := fmt.Sprintf("group by %d %s", groups, form)
				if hot != 0 {
					name += " half hot"
				}
				out = append(out, &cardBenched{
					name:  name,
					text:  "relation a(x: int, y: int) input \"a\"\ngroups g(x: int; s: int = total(int))\nblock b0:\n  run k0\n    rows a\n    v0: int = load x\n    v1: int = load y\n    group g [v0] total(v1)\n  halt\n",
					rows:  map[string]int64{"a": n},
					cols:  map[string][]randomColumn{"a": {key, words}},
					forms: map[string]abi.Form{"g": form}, bits: map[string][]int64{"g": {bits}},
					slots: map[string]int64{"g": slots},
					units: n, unit: "rows", bytes: n * int64(4+key.width),
					check: wantSum("g", 0, cells, 2, func() int64 { return sumRows(n, words.at) }),
				})
			}
		}
	}
	// Sets.
	for _, c := range []struct {
		form     abi.Form
		tries    int64
		distinct int64
	}{
		{abi.Hash, 1 << 31, 1 << 29}, {abi.Hash, 1 << 29, 1 << 22}, {abi.Direct, 1 << 31, 1 << 26},
		{abi.Direct, 1 << 31, 1 << 29}, {abi.Direct, 1 << 31, 1 << 32},
	} {
		tries, distinct := c.tries>>*cardScale, c.distinct>>*cardScale
		bits := int64(mathbits.Len64(uint64(distinct - 1)))
		slots := int64(1) << bits
		if c.form == abi.Hash {
			slots *= 2
		}
		key := randomColumn{width: 8, mod: uint64(distinct), seed: 8}
		if c.form == abi.Hash {
			key.base = 1 << 40
			bits = 63
		}
		out = append(out, &cardBenched{
			name:    fmt.Sprintf("insert %s %d of %d", c.form, tries, distinct),
			text:    "relation a(x: int) input \"a\"\nrelation d(x: int) derived\nblock b0:\n  run k0\n    rows a\n    v0: int = load x\n    insert d(v0)\n  merge d\n  halt\n",
			rows:    map[string]int64{"a": tries},
			cols:    map[string][]randomColumn{"a": {key}, "d": {{width: 8}}},
			derived: map[string]int64{"d": min(distinct, tries)},
			forms:   map[string]abi.Form{"d": c.form}, bits: map[string][]int64{"d": {bits}},
			slots: map[string]int64{"d": slots},
			units: tries, unit: "tries", bytes: tries * 8,
			check: func(t *testing.T, get func(abi.Kind, string, int, int64) []int64) {
				got := float64(get(abi.Gauge, "d", 0, 1)[0])
				want := float64(distinct) * (1 - math.Exp(-float64(tries)/float64(distinct)))
				if math.Abs(got-want) > want/1000 {
					t.Errorf("%.0f were new, about %.0f expected", got, want)
				}
			},
		})
	}
	// A step of a closure.
	for _, c := range []struct {
		name   string
		rows   int64
		hot    uint64
		degree int64
		nodes  int64
		share  int
	}{
		{"", 16 * million, 0, 16, 1 << 20, 1}, {" few rows", million / 8, 0, 1024, 1 << 16, 1},
		{" few rows shared", million / 8, 0, 1024, 1 << 16, 8},
		{" skewed", 16 * million, 1000, 16, 1 << 20, 1},
		{" skewed shared", 16 * million, 1000, 16, 1 << 20, 8},
	} {
		edges := c.nodes * c.degree
		source := randomColumn{width: 4, mod: uint64(c.nodes), seed: 9, hot: c.hot}
		// Hot nodes are hot as sources of edges alone.
		reached := randomColumn{width: 4, mod: uint64(c.nodes), seed: 10}
		if c.hot != 0 {
			source.hot = 16
			reached.hot = 1 << 16
		}
		bits := int64(mathbits.Len64(uint64(c.nodes - 1)))
		from := randomColumn{width: 4, mod: uint64(c.nodes), seed: 11}
		for _, count := range []bool{true, false} {
			b := &cardBenched{
				name: "expand count" + c.name,
				rows: map[string]int64{"t": c.rows, "e": edges},
				cols: map[string][]randomColumn{"t": {from, reached},
					"e": {source, {width: 4, mod: uint64(c.nodes), seed: 12}},
					"d": {{width: 4}, {width: 4}}},
				forms: map[string]abi.Form{"i": abi.Direct, "d": abi.Hash},
				bits:  map[string][]int64{"i": {bits}, "d": {bits, bits}},
				slots: map[string]int64{"i": c.nodes, "d": 1 << 30 >> *cardScale},
				units: c.rows * c.degree, unit: "outputs", bytes: c.rows * c.degree * 4,
				share: c.share,
				text:  "relation t(x: int, y: int) input \"t\"\nrelation e(x: int, y: int) input \"e\"\nindex i multi e(x)\ngroups g(; n: int = count())\nblock b0:\n  build i\n  run k0\n    rows t\n    v0: int = load x\n    v1: int = load y\n    v2: row = probe multi i(v1)\n    v3: int = gather y[v2]\n    v4: boolean = map ge(v3, 0)\n    filter v4\n    group g [] count()\n  halt\n",
			}
			if !count {
				b.name = "expand insert" + c.name
				b.derived = map[string]int64{"d": 1 << 29 >> *cardScale}
				b.text = "relation t(x: int, y: int) input \"t\"\nrelation e(x: int, y: int) input \"e\"\nrelation d(x: int, y: int) derived\nindex i multi e(x)\nblock b0:\n  build i\n  run k0\n    rows t\n    v0: int = load x\n    v1: int = load y\n    v2: row = probe multi i(v1)\n    v3: int = gather y[v2]\n    insert d(v0, v3)\n  merge d\n  halt\n"
			} else {
				b.check = func(t *testing.T, get func(abi.Kind, string, int, int64) []int64) {
					fmt.Printf("%-34s %d outputs\n", "", get(abi.GroupCells, "g", 0, 1)[0])
				}
			}
			out = append(out, b)
		}
	}
	return out
}
