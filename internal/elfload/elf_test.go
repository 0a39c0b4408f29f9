package elfload

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"
)

// part is a section of an object of a test.
type part struct {
	name   string
	kind   elf.SectionType // 0 for SHT_PROGBITS
	flags  elf.SectionFlag // and SHF_ALLOC, unless debug
	debug  bool
	data   []byte
	zeros  uint64 // the size of a section without data
	align  uint64 // 0 for 16
	relocs []place
	rel    bool // the relocations have no addends of their own
}

// place is a relocation.
type place struct {
	at     uint64
	kind   elf.R_X86_64
	symbol string
	addend int64
}

// label is a symbol.
type label struct {
	name    string
	bind    elf.SymBind
	kind    elf.SymType
	section int // 1 for the first part, or a special number
	value   uint64
}

// file writes an object.
func file(t testing.TB, parts []part, labels []label) []byte {
	t.Helper()
	var out bytes.Buffer
	out.Write(make([]byte, binary.Size(elf.Header64{})))
	heads := make([]elf.Section64, 1)
	names := []byte{0}
	add := func(name string, h elf.Section64, data []byte) {
		h.Name = uint32(len(names))
		names = append(append(names, name...), 0)
		h.Off = uint64(out.Len())
		if h.Size == 0 {
			h.Size = uint64(len(data))
		}
		out.Write(data)
		heads = append(heads, h)
	}
	for _, p := range parts {
		h := elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(p.flags),
			Addralign: p.align, Size: p.zeros}
		if p.kind != 0 {
			h.Type = uint32(p.kind)
		}
		if !p.debug {
			h.Flags |= uint64(elf.SHF_ALLOC)
		}
		if p.align == 0 {
			h.Addralign = 16
		}
		add(p.name, h, p.data)
	}
	table := len(parts) + 1
	for _, p := range parts {
		if p.relocs != nil {
			table++
		}
	}
	find := func(name string) int {
		for i, l := range labels {
			if l.name == name {
				return i + 1
			}
		}
		return 1 << 20
	}
	for i, p := range parts {
		if p.relocs == nil {
			continue
		}
		var list bytes.Buffer
		for _, r := range p.relocs {
			put(&list, r.at, uint64(find(r.symbol))<<32|uint64(r.kind), r.addend)
		}
		kind := elf.SHT_RELA
		if p.rel {
			kind = elf.SHT_REL
		}
		add(".rela"+p.name, elf.Section64{Type: uint32(kind), Info: uint32(i + 1),
			Link: uint32(table), Entsize: 24}, list.Bytes())
	}
	strings := []byte{0}
	var symbols bytes.Buffer
	put(&symbols, elf.Sym64{})
	for _, l := range labels {
		put(&symbols, elf.Sym64{Name: uint32(len(strings)), Info: elf.ST_INFO(l.bind, l.kind),
			Shndx: uint16(l.section), Value: l.value})
		strings = append(append(strings, l.name...), 0)
	}
	add(".symtab", elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: uint32(table + 1),
		Entsize: elf.Sym64Size}, symbols.Bytes())
	add(".strtab", elf.Section64{Type: uint32(elf.SHT_STRTAB)}, strings)
	names = append(names, ".shstrtab\x00"...)
	heads = append(heads, elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: uint64(out.Len()),
		Size: uint64(len(names)), Name: uint32(len(names) - len(".shstrtab\x00"))})
	out.Write(names)
	head := elf.Header64{Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: 1,
		Shoff: uint64(out.Len()), Ehsize: 64, Shentsize: 64, Shnum: uint16(len(heads)),
		Shstrndx: uint16(len(heads) - 1)}
	copy(head.Ident[:], elf.ELFMAG)
	head.Ident[elf.EI_CLASS] = byte(elf.ELFCLASS64)
	head.Ident[elf.EI_DATA] = byte(elf.ELFDATA2LSB)
	head.Ident[elf.EI_VERSION] = byte(elf.EV_CURRENT)
	put(&out, heads)
	data := out.Bytes()
	if _, err := binary.Encode(data, binary.LittleEndian, &head); err != nil {
		t.Fatal(err)
	}
	return data
}

// put writes values of fixed size.
func put(to *bytes.Buffer, values ...any) {
	for _, v := range values {
		if err := binary.Write(to, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}
