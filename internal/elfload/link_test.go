package elfload

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// The image of tests is at base. What it calls is near or far.
const (
	base = 0x7000_0000_0000
	near = base + 0x100_0000
	far  = 0x1234_5678_9abc
)

// outside has the symbols of the process.
func outside(name string) uintptr {
	return map[string]uintptr{"near": near, "far": far}[name]
}

// linkAt links objects as they would be at an address.
func linkAt(at uint64, objects ...[]byte) (*linking, error) {
	p, err := planOf(objects, 4096)
	if err != nil {
		return nil, err
	}
	l := &linking{plan: p, memory: make([]byte, p.starts[regions]), base: at, resolve: outside,
		outside: map[string]uint64{}}
	return l, l.write()
}

// other is an object that defines the variable "theirs", at 8 of a section.
func other(t testing.TB) []byte {
	return file(t, []part{{name: ".data", flags: elf.SHF_WRITE, data: make([]byte, 16)}},
		[]label{{name: "theirs", bind: elf.STB_GLOBAL, kind: elf.STT_OBJECT, section: 1, value: 8}})
}

// user is an object with one relocation, at 4 of its code.
func user(t testing.TB, r place) []byte {
	r.at = 4
	return file(t, []part{
		{name: ".text", flags: elf.SHF_EXECINSTR, data: bytes.Repeat([]byte{0x90}, 32),
			relocs: []place{r}},
		{name: ".rodata", data: []byte("constants of code")},
	}, []label{
		{name: "own", section: 2, value: 0, kind: elf.STT_SECTION},
		{name: "fixed", section: int(elf.SHN_ABS), value: 0x11},
		{name: "f", bind: elf.STB_GLOBAL, kind: elf.STT_FUNC, section: 1, value: 16},
		{name: "theirs", bind: elf.STB_GLOBAL},
		{name: "near", bind: elf.STB_GLOBAL},
		{name: "far", bind: elf.STB_GLOBAL},
		{name: "perhaps", bind: elf.STB_WEAK},
		{name: "absent", bind: elf.STB_GLOBAL},
	})
}

// TestRelocations has each relocation by what it leaves in the code. Code is on
// the first page, constants on the second, and variables on the third.
func TestRelocations(t *testing.T) {
	const place4 = base + 4
	for _, c := range []struct {
		place
		want  uint64 // the word at the place
		wrong string // the error instead
	}{
		{place{kind: elf.R_X86_64_64, symbol: "own", addend: 3}, base + 4096 + 3, ""},
		{place{kind: elf.R_X86_64_64, symbol: "theirs"}, base + 8192 + 8, ""},
		{place{kind: elf.R_X86_64_64, symbol: "far", addend: -1}, far - 1, ""},
		{place{kind: elf.R_X86_64_64, symbol: "perhaps", addend: 5}, 5, ""},
		{place{kind: elf.R_X86_64_PC64, symbol: "far"}, ^uint64(place4 - far - 1), ""},
		{place{kind: elf.R_X86_64_PC32, symbol: "own", addend: -4}, 4096 - 4 - 4, ""},
		{place{kind: elf.R_X86_64_PC32, symbol: "near", addend: -4}, near - 4 - place4, ""},
		{place{kind: elf.R_X86_64_PC32, symbol: "far"}, 0, "R_X86_64_PC32 to far is too far"},
		{place{kind: elf.R_X86_64_PLT32, symbol: "f", addend: -4}, 16 - 4 - 4, ""},
		// A stub of 16 bytes is behind 32 bytes of code.
		{place{kind: elf.R_X86_64_PLT32, symbol: "far", addend: -4}, 32 - 4 - 4, ""},
		// The offset table is behind 24 bytes of constants.
		{place{kind: elf.R_X86_64_GOTPCREL, symbol: "far", addend: -4}, 4096 + 24 - 4 - 4, ""},
		{place{kind: elf.R_X86_64_GOTPCRELX, symbol: "own", addend: -4}, 4096 + 24 - 4 - 4, ""},
		{place{kind: elf.R_X86_64_REX_GOTPCRELX, symbol: "theirs", addend: -4},
			4096 + 24 - 4 - 4, ""},
		{place{kind: elf.R_X86_64_32, symbol: "fixed", addend: 1}, 0x12, ""},
		{place{kind: elf.R_X86_64_32, symbol: "fixed", addend: -0x12}, 0, "is too far"},
		{place{kind: elf.R_X86_64_32S, symbol: "fixed", addend: -0x12}, 0xffff_ffff, ""},
		{place{kind: elf.R_X86_64_32S, symbol: "own"}, 0, "is too far"},
		{place{kind: elf.R_X86_64_NONE, symbol: "absent"}, 0x9090_9090, ""},
		{place{kind: elf.R_X86_64_64, symbol: "absent"}, 0, "symbol absent is not defined"},
	} {
		l, err := linkAt(base, user(t, c.place), other(t))
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v: got %v, want %s", c.place, err, c.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.place, err)
			continue
		}
		got := uint64(binary.LittleEndian.Uint32(l.memory[4:]))
		if sizes[c.kind] == 8 {
			got = binary.LittleEndian.Uint64(l.memory[4:])
		}
		if got != c.want {
			t.Errorf("%v: got %#x, want %#x", c.place, got, c.want)
		}
		if !bytes.Equal(l.memory[:4], []byte{0x90, 0x90, 0x90, 0x90}) ||
			!bytes.HasPrefix(l.memory[4096:], []byte("constants of code")) {
			t.Errorf("%v: what is beside the place has changed", c.place)
		}
		switch c.kind {
		case elf.R_X86_64_GOTPCREL:
			if got := binary.LittleEndian.Uint64(l.memory[4096+24:]); got != far {
				t.Errorf("the entry of the offset table is %#x", got)
			}
		case elf.R_X86_64_PLT32:
			if stub := l.memory[32:]; c.symbol == "far" &&
				(!bytes.HasPrefix(stub, []byte{0xff, 0x25, 0, 0, 0, 0}) ||
					binary.LittleEndian.Uint64(stub[6:]) != far) {
				t.Errorf("the stub is % x", stub[:stubSize])
			}
		}
	}
}

// TestDefinitions takes a strong definition before a weak one, wherever the
// code that uses it is, and the first of two weak ones.
func TestDefinitions(t *testing.T) {
	defines := func(value byte, bind elf.SymBind) []byte {
		return file(t, []part{{name: ".rodata", data: slices.Repeat([]byte{value}, 8)},
			{name: ".text", flags: elf.SHF_EXECINSTR, data: make([]byte, 8),
				relocs: []place{{kind: elf.R_X86_64_64, symbol: "x"}}}},
			[]label{{name: "x", bind: bind, section: 1}})
	}
	for _, c := range []struct {
		binds []elf.SymBind
		want  byte
	}{
		{[]elf.SymBind{elf.STB_WEAK, elf.STB_GLOBAL}, 2},
		{[]elf.SymBind{elf.STB_GLOBAL, elf.STB_WEAK}, 1},
		{[]elf.SymBind{elf.STB_WEAK, elf.STB_WEAK}, 1},
		{[]elf.SymBind{elf.STB_WEAK, elf.STB_WEAK, elf.STB_GLOBAL}, 3},
	} {
		var objects [][]byte
		for i, b := range c.binds {
			objects = append(objects, defines(byte(i+1), b))
		}
		l, err := linkAt(base, objects...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.binds {
			at := binary.LittleEndian.Uint64(l.memory[16*i:]) - base
			if got := l.memory[at]; got != c.want || l.addresses()["x"] != uintptr(base+at) {
				t.Errorf("%v: object %d uses definition %d", c.binds, i+1, got)
			}
		}
	}
	// A weak symbol of one object may be a strong one of another.
	needs := func(bind elf.SymBind) []byte {
		return file(t, []part{{name: ".rodata", data: make([]byte, 8),
			relocs: []place{{kind: elf.R_X86_64_64, symbol: "absent"}}}},
			[]label{{name: "absent", bind: bind}})
	}
	if _, err := linkAt(base, needs(elf.STB_WEAK)); err != nil {
		t.Error(err)
	}
	if _, err := linkAt(base, needs(elf.STB_WEAK), needs(elf.STB_GLOBAL)); err == nil {
		t.Error("a symbol that is needed is 0")
	}
	both := []label{{name: "x", section: 1, value: 8}, {name: "x", bind: elf.STB_GLOBAL, section: 1}}
	l, err := linkAt(base, file(t, []part{{name: ".rodata", data: make([]byte, 16),
		relocs: []place{{kind: elf.R_X86_64_64, symbol: "x"}}}}, both))
	if err != nil {
		t.Fatal(err)
	}
	if got := binary.LittleEndian.Uint64(l.memory); got != base+8 {
		t.Errorf("a local symbol is at %#x, so another object's has taken its place", got)
	}
}

// TestRefused names what this linker leaves to another one.
func TestRefused(t *testing.T) {
	code := func(change func(*part, *label)) []byte {
		p := part{name: ".text", flags: elf.SHF_EXECINSTR, data: make([]byte, 16)}
		l := label{name: "f", bind: elf.STB_GLOBAL, section: 1}
		change(&p, &l)
		return file(t, []part{p}, []label{l})
	}
	relocated := func(r place) []byte {
		return code(func(p *part, _ *label) { p.relocs = []place{r} })
	}
	wide := code(func(p *part, _ *label) {})
	narrow, arm, library := slices.Clone(wide), slices.Clone(wide), slices.Clone(wide)
	narrow[elf.EI_CLASS] = byte(elf.ELFCLASS32)
	library[16] = byte(elf.ET_DYN)
	arm[18] = byte(elf.EM_AARCH64)
	for name, c := range map[string]struct {
		object []byte
		want   string
	}{
		"no ELF":       {[]byte("damaged"), ""},
		"nothing":      {nil, ""},
		"a part of it": {wide[:len(wide)-100], ""},
		"32 bits":      {narrow, ""},
		"arm64":        {arm, "for EM_AARCH64"},
		"a library":    {library, "type ET_DYN"},
		"writable code": {code(func(p *part, _ *label) { p.flags |= elf.SHF_WRITE }),
			"writable code"},
		"thread-local": {code(func(p *part, _ *label) { p.flags = elf.SHF_TLS }), "SHF_TLS"},
		"constructors": {code(func(p *part, _ *label) { p.kind = elf.SHT_INIT_ARRAY }),
			"SHT_INIT_ARRAY"},
		"constructors by name": {code(func(p *part, _ *label) { p.name = ".ctors.1" }),
			"functions to call"},
		"an alignment of two pages": {code(func(p *part, _ *label) { p.align = 8192 }), "8192"},
		"an alignment of 3":         {code(func(p *part, _ *label) { p.align = 3 }), "of 3"},
		"too much": {code(func(p *part, _ *label) {
			p.kind, p.flags, p.data, p.zeros = elf.SHT_NOBITS, elf.SHF_WRITE, nil, 1<<40
		}), "bytes"},
		"a common symbol": {code(func(_ *part, l *label) { l.section = int(elf.SHN_COMMON) }),
			"SHN_COMMON"},
		"an indirect function": {code(func(_ *part, l *label) { l.kind = elf.STT_GNU_IFUNC }),
			"has the type"},
		"a strange binding": {code(func(_ *part, l *label) { l.bind = elf.STB_HIPROC }), "binding"},
		"a symbol behind":   {code(func(_ *part, l *label) { l.value = 17 }), "behind"},
		"a relocation that is not known": {relocated(place{kind: elf.R_X86_64_TPOFF32, symbol: "f"}),
			"R_X86_64_TPOFF32"},
		"a relocation behind": {relocated(place{at: 9, kind: elf.R_X86_64_64, symbol: "f"}),
			"outside"},
		"a relocation far away": {relocated(place{at: 1<<64 - 4, kind: elf.R_X86_64_64,
			symbol: "f"}), "outside"},
		"a relocation of no symbol": {relocated(place{kind: elf.R_X86_64_64, symbol: "g"}),
			"symbol 1048576 of 2"},
		"relocations without addends": {code(func(p *part, _ *label) {
			p.relocs, p.rel = []place{{kind: elf.R_X86_64_64, symbol: "f"}}, true
		}), "SHT_REL"},
	} {
		if _, err := linkAt(base, c.object); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	if _, err := linkAt(base, wide, wide); err == nil ||
		!strings.Contains(err.Error(), "f is defined twice") {
		t.Errorf("two definitions: %v", err)
	}
}

// TestLeftOut loads objects without their tables for debuggers and unwinding,
// and refuses code that needs one of them.
func TestLeftOut(t *testing.T) {
	with := func(symbol string) []byte {
		return file(t, []part{
			{name: ".text", flags: elf.SHF_EXECINSTR, data: make([]byte, 8),
				relocs: []place{{kind: elf.R_X86_64_64, symbol: symbol}}},
			{name: ".eh_frame", data: make([]byte, 8),
				relocs: []place{{at: 100, kind: elf.R_X86_64_TPOFF32, symbol: "f"}}},
			{name: ".debug_line", debug: true, data: make([]byte, 8)},
			{name: ".note", kind: elf.SHT_NOTE, data: make([]byte, 8)},
		}, []label{{name: "f", section: 1}, {name: "frame", section: 2}})
	}
	l, err := linkAt(base, with("f"))
	if err != nil || len(l.memory) != 4096 {
		t.Errorf("got %v", err)
	}
	if _, err := linkAt(base, with("frame")); err == nil ||
		!strings.Contains(err.Error(), "not loaded") {
		t.Errorf("got %v", err)
	}
}

// FuzzLink never panics, whatever the files are.
func FuzzLink(f *testing.F) {
	for kind := range sizes {
		f.Add(user(f, place{kind: kind, symbol: "far"}), other(f))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		p, err := planOf([][]byte{first, second}, 4096)
		if err != nil || p.starts[regions] > 1<<20 {
			return
		}
		l := &linking{plan: p, memory: make([]byte, p.starts[regions]), base: base,
			resolve: outside, outside: map[string]uint64{}}
		if l.write() == nil {
			l.addresses()
		}
	})
}
