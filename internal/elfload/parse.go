package elfload

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// section is a section that has memory in the process.
type section struct {
	data   []byte // nil for one that begins as zeros
	size   uint64
	align  uint64
	region int
	offset uint64 // in its region, and then in the image
	relocs []relocation
}

// relocation changes a place of a section.
type relocation struct {
	offset uint64
	kind   elf.R_X86_64
	symbol int
	addend int64
}

// symbol is an entry of an object's table.
type symbol struct {
	name     string
	section  *section // nil unless defined
	absolute bool
	value    uint64
	weak     bool
	local    bool
	unknown  bool // defined in a section that has no memory
}

// isUndefined reports whether another object or the process has the symbol.
func (s *symbol) isUndefined() bool { return s.section == nil && !s.absolute && !s.unknown }

// object is one parsed file.
type object struct {
	sections []*section
	symbols  []symbol
}

// The regions of an image, by what the pages of each permit.
const (
	text = iota
	constants
	variables
	regions
)

// maxAlign is the largest alignment of a section, the size of a page.
const maxAlign = 4096

// parse reads an object.
func parse(data []byte) (*object, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || f.Machine != elf.EM_X86_64 ||
		f.Type != elf.ET_REL {
		return nil, fmt.Errorf("an object of type %v for %v", f.Type, f.Machine)
	}
	o := &object{}
	byIndex := make([]*section, len(f.Sections))
	for i, s := range f.Sections {
		if byIndex[i], err = allocated(data, s); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
		if byIndex[i] != nil {
			o.sections = append(o.sections, byIndex[i])
		}
	}
	if err := o.readSymbols(f, byIndex); err != nil {
		return nil, err
	}
	// The table that Symbols reads.
	table := slices.IndexFunc(f.Sections, func(s *elf.Section) bool {
		return s.Type == elf.SHT_SYMTAB
	})
	for _, s := range f.Sections {
		if s.Type != elf.SHT_RELA && s.Type != elf.SHT_REL || int(s.Info) >= len(byIndex) {
			continue
		}
		to := byIndex[s.Info]
		if to == nil {
			continue // tables for unwinding and for debuggers
		}
		if err := o.readRelocations(data, s, table, to); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	return o, nil
}

// allocated returns what memory a section has, nil for none.
func allocated(data []byte, s *elf.Section) (*section, error) {
	const unwind = 0x70000001 // SHT_X86_64_UNWIND
	if s.Flags&elf.SHF_ALLOC == 0 || s.Type == elf.SHT_NOTE || s.Type == unwind ||
		s.Name == ".eh_frame" {
		return nil, nil
	}
	if strings.HasPrefix(s.Name, ".ctors") || strings.HasPrefix(s.Name, ".dtors") {
		return nil, errors.New("functions to call before and after")
	}
	if s.Flags&(elf.SHF_TLS|elf.SHF_COMPRESSED) != 0 {
		return nil, fmt.Errorf("flags %v", s.Flags)
	}
	out := &section{size: s.Size, align: max(s.Addralign, 1), region: constants}
	if out.align&(out.align-1) != 0 || out.align > maxAlign {
		return nil, fmt.Errorf("an alignment of %d", out.align)
	}
	switch s.Flags & (elf.SHF_WRITE | elf.SHF_EXECINSTR) {
	case elf.SHF_WRITE | elf.SHF_EXECINSTR:
		return nil, errors.New("writable code")
	case elf.SHF_WRITE:
		out.region = variables
	case elf.SHF_EXECINSTR:
		out.region = text
	}
	switch s.Type {
	case elf.SHT_PROGBITS:
		var err error
		out.data, err = contents(data, s)
		return out, err
	case elf.SHT_NOBITS:
		return out, nil
	}
	return nil, fmt.Errorf("type %v", s.Type)
}

// contents returns the bytes of a section in its file.
func contents(data []byte, s *elf.Section) ([]byte, error) {
	if s.Offset > uint64(len(data)) || s.FileSize > uint64(len(data))-s.Offset {
		return nil, errors.New("beyond the end of the object")
	}
	return data[s.Offset:][:s.FileSize:s.FileSize], nil
}

// readSymbols reads the table of symbols. Entry 0 names none.
func (o *object) readSymbols(f *elf.File, byIndex []*section) error {
	list, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
	}
	o.symbols = make([]symbol, 1, len(list)+1)
	o.symbols[0] = symbol{absolute: true, local: true}
	for _, s := range list {
		out := symbol{name: s.Name, value: s.Value}
		switch bind := elf.ST_BIND(s.Info); bind {
		case elf.STB_LOCAL:
			out.local = true
		case elf.STB_WEAK:
			out.weak = true
		case elf.STB_GLOBAL:
		default:
			return fmt.Errorf("symbol %s has the binding %v", s.Name, bind)
		}
		switch kind := elf.ST_TYPE(s.Info); kind {
		case elf.STT_NOTYPE, elf.STT_OBJECT, elf.STT_FUNC, elf.STT_SECTION, elf.STT_FILE:
		default:
			return fmt.Errorf("symbol %s has the type %v", s.Name, kind)
		}
		switch at := s.Section; {
		case at == elf.SHN_UNDEF:
		case at == elf.SHN_ABS:
			out.absolute = true
		case int(at) >= len(byIndex): // common symbols among them
			return fmt.Errorf("symbol %s is in section %v", s.Name, at)
		case byIndex[at] == nil:
			out.unknown = true
		case s.Value > byIndex[at].size:
			return fmt.Errorf("symbol %s is behind its section", s.Name)
		default:
			out.section = byIndex[at]
		}
		o.symbols = append(o.symbols, out)
	}
	return nil
}

// sizes are the bytes that relocations change.
var sizes = map[elf.R_X86_64]uint64{
	elf.R_X86_64_NONE:          0,
	elf.R_X86_64_64:            8,
	elf.R_X86_64_PC64:          8,
	elf.R_X86_64_PC32:          4,
	elf.R_X86_64_PLT32:         4,
	elf.R_X86_64_32:            4,
	elf.R_X86_64_32S:           4,
	elf.R_X86_64_GOTPCREL:      4,
	elf.R_X86_64_GOTPCRELX:     4,
	elf.R_X86_64_REX_GOTPCRELX: 4,
}

// readRelocations reads those of a section, which name symbols of a table.
func (o *object) readRelocations(data []byte, s *elf.Section, table int, to *section) error {
	const entry = 24
	if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_COMPRESSED != 0 || int(s.Link) != table {
		return fmt.Errorf("type %v, flags %v, symbols of section %d", s.Type, s.Flags, s.Link)
	}
	list, err := contents(data, s)
	if err != nil {
		return err
	}
	if len(list)%entry != 0 {
		return fmt.Errorf("%d bytes of relocations", len(list))
	}
	for ; len(list) > 0; list = list[entry:] {
		info := binary.LittleEndian.Uint64(list[8:])
		r := relocation{
			offset: binary.LittleEndian.Uint64(list),
			kind:   elf.R_X86_64(info & 0xffffffff),
			symbol: int(info >> 32),
			addend: int64(binary.LittleEndian.Uint64(list[16:])),
		}
		size, known := sizes[r.kind]
		switch {
		case !known:
			return fmt.Errorf("a relocation %v", r.kind)
		case r.symbol >= len(o.symbols):
			return fmt.Errorf("a relocation for symbol %d of %d", r.symbol, len(o.symbols))
		case r.offset > uint64(len(to.data)) || size > uint64(len(to.data))-r.offset:
			return errors.New("a relocation outside of its section")
		}
		to.relocs = append(to.relocs, r)
	}
	return nil
}
