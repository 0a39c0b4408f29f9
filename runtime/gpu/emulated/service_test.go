package emulated

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/primitives/service"
)

// upload puts words on the device.
func (b *rig) upload(words ...uint64) cuda.Pointer {
	b.Helper()
	p := b.alloc(uint64(8 * max(len(words), 1)))
	b.ok(b.sync())
	if len(words) > 0 {
		b.ok(b.gpu.CopyToDevice(p, unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))))
	}
	return p
}

// want compares words of the device.
func (b *rig) want(what string, p cuda.Pointer, words ...uint64) {
	b.Helper()
	if got := b.words(p, int64(len(words))); !slices.Equal(got, words) {
		b.Errorf("%s: %d, not %d", what, got, words)
	}
}

const free = ^uint64(0)

// TestService runs every service kernel on a few words. What they do to many is
// for the tests of package service.
func TestService(t *testing.T) {
	b := open(t, Options{})
	at := func(p cuda.Pointer) int64 { return int64(p) }
	run := func(l service.Launch) {
		t.Helper()
		b.ok(b.service(l))
	}

	p := b.upload(9, 9, 9, 9, 9, 9, 9)
	shared := b.upload(9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9)
	run(service.States(at(shared), 2, 6, 5, 2, 100))
	b.want("states that share tiles", shared, 0, 5, 1, 0, 0, 200, 0, 5, 1, 100, 100, 200)
	run(service.States(at(p), 2, 3, 5, 1, 100))
	b.want("states", p, 0, 5, 2, 1, 5, 2, 9)
	launches := b.upload(uint64(p), 2, 3, 5, 1, 100, uint64(shared), 1, 3, 7, 1, 100)
	run(service.Fill(at(p), 6, 9))
	run(service.StatesOf(at(launches), 2))
	b.want("states of the first of two launches", p, 0, 5, 2, 1, 5, 2, 9)
	b.want("states of the second", shared, 0, 7, 1, 0)
	run(service.Fill(at(p)+8, 2, -1))
	b.want("filled", p, 0, free, free, 1, 5, 2, 9)

	scratch := b.upload(0, 0, 0)
	p = b.upload(1, 2, 3, 4)
	run(service.Scan(at(p), 3, true, at(scratch)))
	b.want("inclusive sums", p, 1, 3, 6, 4)
	run(service.Scan(at(p), 4, false, at(scratch)))
	b.want("exclusive sums", p, 0, 1, 4, 10)
	b.want("scratch", scratch, 0, 0, 0)

	// 4 slots and that of the key 0, and keys with homes of their own.
	var home [4]uint64
	for key := uint64(1); slices.Contains(home[:], 0); key++ {
		home[mix(key)&3] = key
	}
	from, to, moved := b.upload(home[0], 0, home[2], 0,
		1), b.upload(make([]uint64, 9)...), b.upload(7, 7, 7, 7, 7)
	run(service.Rehash(at(from), 3, at(to), 7, at(moved)))
	set := make([]uint64, 9)
	a, c := mix(home[0])&7, mix(home[2])&7
	set[a], set[c], set[8] = home[0], home[2], 1
	b.want("rehashed", to, set...)
	b.want("moved", moved, a, free, c, free, 8)
	cells, into := b.upload(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), b.upload(make([]uint64, 18)...)
	run(service.Move(at(moved), 5, 2, at(cells), at(into)))
	want := make([]uint64, 18)
	copy(want[2*a:], []uint64{1, 2})
	copy(want[2*c:], []uint64{5, 6})
	copy(want[16:], []uint64{9, 10})
	b.want("cells", into, want...)

	spaced := b.upload(make([]uint64, 4)...)
	run(service.Extents(at(b.upload(3, 5, 5)), 2, at(spaced)))
	b.want("extents", spaced, 3|5<<32, 5, 5|5<<32, 5)

	x, y := b.upload(1, 1, 2), b.upload(5, 6, 5)
	columns, slots := b.upload(uint64(x), uint64(y)), b.upload(make([]uint64, 16)...)
	run(service.RowSet(at(slots), 15, at(columns), 2, 3))
	found := b.words(slots, 16)
	for row, tuple := range [][2]uint64{{1, 5}, {1, 6}, {2, 5}} {
		hash := mix(mix(tuple[0])*0x9e3779b97f4a7c15 + tuple[1])
		i := hash & 15
		for found[i]&(1<<40-1) != uint64(row)+2 {
			if found[i] == 0 {
				t.Fatalf("row %d is not where its hash leads to: %x", row, found)
			}
			i = (i + 1) & 15
		}
		if found[i]>>40 != hash>>40 {
			t.Errorf("row %d has the wrong hash", row)
		}
	}

	b.ok(b.d.Check())
}

// both packs two numbers of 32 bits.
func both(low, high uint64) uint64 { return low | high<<32 }

// TestOrder runs every kernel of an ordering on a few words.
func TestOrder(t *testing.T) {
	b := open(t, Options{})
	at := func(p cuda.Pointer) int64 { return int64(p) }
	run := func(l service.Launch) {
		t.Helper()
		b.ok(b.service(l))
	}

	// Bytes 3, 1, 2, 1, as words 13, 11, 12, 11.
	column := b.upload(0x01020103)
	field := service.OrderField{Data: at(column), Base: 10, Step: 1, Width: 1, First: 10, Bits: 2,
		At: 8}
	fields := b.upload(toWords(service.AppendOrderFields(nil, []service.OrderField{field}))...)
	keys, wide := b.upload(0, 0), b.upload(0, 0, 0, 0)
	run(service.OrderKeys(at(keys), 4, 0, at(fields), 1, 4))
	b.want("keys of 4 bytes", keys, both(0x300, 0x100), both(0x200, 0x100))
	run(service.OrderKeys(at(wide), 8, 0, at(fields), 1, 4))
	b.want("keys of 8 bytes", wide, 0x300, 0x100, 0x200, 0x100)

	counts := b.upload(make([]uint64, service.PairsCounts)...)
	run(service.PairsCount(at(keys), 4, at(counts)))
	moved, rows, scratch := b.upload(0, 0), b.upload(0,
		0), b.upload(make([]uint64, service.PairsScratch(4)/8)...)
	run(service.PairsMove(at(moved), at(rows), at(keys), 0, 4, 8, at(counts), at(scratch)))
	b.want("sorted keys", moved, both(0x100, 0x100), both(0x200, 0x300))
	b.want("sorted rows", rows, both(1, 3), both(2, 0))

	state := make([]uint64, service.SelectState)
	state[service.SelectPlace] = 3
	selected, found, count := b.upload(state...), b.upload(0, 0), b.upload(0)
	run(service.Select(at(wide), 4, 0, at(selected)))
	b.want("the third key and its place", selected, 0x200, 1, 0, 0)
	run(service.SelectUpTo(at(found), 4, at(wide), 4, at(selected), at(count)))
	b.want("rows up to it", found, both(1, 2), both(3, 0))
	b.want("their number", count, 3)
	ranked := b.upload(9, 9)
	run(service.Rank(at(ranked), 0, at(wide), 1, 4, 3))
	b.want("the first rows", ranked, both(1, 3), both(2, 0))

	groups, starts := b.upload(9, 9, 9, 9), b.upload(9, 9, 9)
	run(service.Heads(at(groups), at(rows), at(fields), 1, 4))
	b.want("heads", groups, 1, 0, 1, 1)
	sums := b.upload(0, 0, 0)
	run(service.Scan(at(groups), 4, true, at(sums)))
	run(service.Starts(at(starts), at(groups), 4))
	b.want("starts", starts, 0, 2, 3)
	run(service.Places(at(groups), at(starts), 4))
	b.want("places", groups, 0, 1, 0, 0)
	words := b.upload(0, 1, 0, 5, 1)
	run(service.Below(at(words), 1, 4))
	b.want("words below 1", words, 1, 0, 1, 0, 1)
	run(service.Scan(at(words), 5, false, at(sums)))
	kept := b.upload(0)
	run(service.Keep(at(kept), at(rows), at(words), 4))
	b.want("kept rows", kept, both(1, 2))

	into, places := b.upload(0), b.upload(0)
	columns := b.upload(toWords(service.AppendMovedColumns(nil, []service.MovedColumn{
		{Data: at(column), Base: 10, Step: 1, Width: 1, To: at(into), ToBase: 9, ToWidth: 2},
		{Data: at(column), Base: 10, Step: 1, Width: 1, To: at(places), ToBase: 10, ToWidth: 1,
			InOrder: true},
	}))...)
	run(service.MoveRows(at(columns), 2, at(rows), 3, 1))
	b.want("moved in the order of rows", into, 0x0003_0002_0002_0000)
	b.want("moved as they stand", places, 0x02010300)
	b.ok(b.d.Check())
}

func toWords(words []int64) []uint64 {
	out := make([]uint64, len(words))
	for i, w := range words {
		out[i] = uint64(w)
	}
	return out
}

// TestServiceMisuse has service kernels used wrongly, which costs the context
// and is told.
func TestServiceMisuse(t *testing.T) {
	for _, c := range []struct {
		want string
		do   func(b *rig) service.Launch
	}{
		{"4 words at", func(b *rig) service.Launch { return service.Fill(4, 4, 0) }},
		{"32 bytes from byte 8 of 16", func(b *rig) service.Launch {
			return service.Fill(int64(b.upload(1, 2))+8, 4, 0)
		}},
		{"of the scratch", func(b *rig) service.Launch {
			return service.Scan(int64(b.upload(1)), 1, true, int64(b.upload(0, 5, 0)))
		}},
		{"of the new set", func(b *rig) service.Launch {
			return service.Rehash(int64(b.upload(1, 0, 0)), 1, int64(b.upload(0, 1, 0)), 1, 0)
		}},
		{"from 5 slots to 3", func(b *rig) service.Launch {
			return service.Rehash(int64(b.upload(1, 0, 0, 0, 0)), 3, int64(b.upload(0, 0, 0)), 1, 0)
		}},
		{"2 rows in a set", func(b *rig) service.Launch {
			return service.RowSet(int64(b.upload(0, 0)), 1, 0, 0, 2)
		}},
		{"is 0x1 and not 0", func(b *rig) service.Launch {
			return service.Select(int64(b.upload(1)), 1, 0,
				int64(b.upload(slices.Repeat([]uint64{1}, service.SelectState)...)))
		}},
		{"0 of 1 keys are counted", func(b *rig) service.Launch {
			counts, scratch := b.upload(make([]uint64, service.PairsCounts)...),
				b.upload(make([]uint64, service.PairsScratch(1)/8)...)
			return service.PairsMove(int64(b.upload(0)), int64(b.upload(0)), int64(b.upload(0)), 0,
				1, 0, int64(counts), int64(scratch))
		}},
		{"3 threads", func(b *rig) service.Launch {
			l := service.Fill(int64(b.upload(1)), 1, 0)
			l.Threads = 3
			return l
		}},
	} {
		b := open(t, Options{})
		if err := b.service(c.do(b)); err == nil {
			t.Errorf("%s: taken", c.want)
		}
		if err := b.d.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, not %q", err, c.want)
		}
		_ = b.gpu.Close() // it is lost
		b.ok(b.d.Check())
	}
}
