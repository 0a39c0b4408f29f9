package elfload

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math"
)

// maxBytes bounds an image, so that all distances in it fit 32 bits.
const maxBytes = 1 << 30

// plan says where everything of an image goes, as offsets from its beginning.
type plan struct {
	objects []*object
	defined map[string]*symbol // the global symbols
	starts  [regions + 1]uint64
	// got and stubs have the offsets of entries of the global offset table and
	// of stubs, by the symbol of an object.
	got, stubs map[*symbol]uint64
	page       uint64
}

// stubSize is the size of a stub: a jump to the address that stands behind it.
const stubSize = 16

// planOf lays out objects for pages of a size.
func planOf(files [][]byte, page uint64) (*plan, error) {
	p := &plan{defined: map[string]*symbol{}, got: map[*symbol]uint64{},
		stubs: map[*symbol]uint64{}, page: page}
	for i, f := range files {
		o, err := parse(f)
		if err == nil {
			err = p.define(o)
		}
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", i, err)
		}
		p.objects = append(p.objects, o)
	}
	return p, p.layOut()
}

// define enters the global symbols of an object.
func (p *plan) define(o *object) error {
	for i := range o.symbols {
		s := &o.symbols[i]
		if s.local || s.isUndefined() || s.unknown {
			continue
		}
		before := p.defined[s.name]
		switch {
		case before == nil || before.weak && !s.weak:
			p.defined[s.name] = s
		case !before.weak && !s.weak:
			return fmt.Errorf("symbol %s is defined twice", s.name)
		}
	}
	return nil
}

// layOut gives every section, stub and entry of the offset table its place.
func (p *plan) layOut() error {
	var sizes [regions]uint64
	room := func(region int, size, align uint64) (at uint64, ok bool) {
		at = (sizes[region] + align - 1) &^ (align - 1)
		if size > maxBytes || at > maxBytes-size {
			return 0, false
		}
		sizes[region] = at + size
		return at, true
	}
	for _, o := range p.objects {
		for _, s := range o.sections {
			var ok bool
			if s.offset, ok = room(s.region, s.size, s.align); !ok {
				return fmt.Errorf("the code takes more than %d bytes", maxBytes)
			}
		}
	}
	// The order of relocations is that of the files, so equal files have equal
	// images.
	for _, o := range p.objects {
		for _, s := range o.sections {
			for _, r := range s.relocs {
				to, region, size := p.through(o, r)
				if to == nil {
					continue
				}
				symbol := &o.symbols[r.symbol]
				if _, ok := to[symbol]; ok {
					continue
				}
				var ok bool
				if to[symbol], ok = room(region, size, size); !ok {
					return fmt.Errorf("the code takes more than %d bytes", maxBytes)
				}
			}
		}
	}
	for i, size := range sizes {
		p.starts[i+1] = p.starts[i] + (size+p.page-1)&^(p.page-1)
	}
	if p.starts[regions] > maxBytes {
		return fmt.Errorf("the code takes more than %d bytes", maxBytes)
	}
	for _, o := range p.objects {
		for _, s := range o.sections {
			s.offset += p.starts[s.region]
		}
	}
	for symbol := range p.stubs {
		p.stubs[symbol] += p.starts[text]
	}
	for symbol := range p.got {
		p.got[symbol] += p.starts[constants]
	}
	return nil
}

// through returns the entries by one of which a relocation reaches its symbol,
// nil if it does so directly, and where they lie and how large one is. A call
// of a function outside of the image goes by a stub, as it may be far.
func (p *plan) through(o *object, r relocation) (places map[*symbol]uint64,
	region int, size uint64) {
	s := &o.symbols[r.symbol]
	switch r.kind {
	case elf.R_X86_64_GOTPCREL, elf.R_X86_64_GOTPCRELX, elf.R_X86_64_REX_GOTPCRELX:
		return p.got, constants, 8
	case elf.R_X86_64_PLT32:
		if s.isUndefined() && p.defined[s.name] == nil {
			return p.stubs, text, stubSize
		}
	}
	return nil, 0, 0
}

// linking writes a plan into memory that is mapped at an address.
type linking struct {
	*plan
	memory  []byte
	base    uint64
	resolve func(name string) uintptr
	outside map[string]uint64 // addresses of symbols of the process
}

// write fills the memory, which is zero.
func (l *linking) write() error {
	for i, o := range l.objects {
		for _, s := range o.sections {
			copy(l.memory[s.offset:], s.data)
		}
		for _, s := range o.sections {
			for _, r := range s.relocs {
				if err := l.relocate(o, s, r); err != nil {
					return fmt.Errorf("object %d: %w", i, err)
				}
			}
		}
	}
	return nil
}

// address returns where a symbol is.
func (l *linking) address(s *symbol) (uint64, error) {
	// The definition may be another object's, if this one's is weak.
	if is := l.defined[s.name]; is != nil && !s.local {
		s = is
	}
	switch {
	case s.unknown:
		return 0, fmt.Errorf("symbol %s is in a section that is not loaded", s.name)
	case s.section != nil:
		return l.base + s.section.offset + s.value, nil
	case s.absolute:
		return s.value, nil
	}
	at, ok := l.outside[s.name]
	if !ok {
		at = uint64(l.resolve(s.name))
		l.outside[s.name] = at
	}
	if at == 0 && !s.weak {
		return 0, fmt.Errorf("symbol %s is not defined", s.name)
	}
	return at, nil
}

// relocate changes one place of a section.
func (l *linking) relocate(o *object, in *section, r relocation) error {
	if r.kind == elf.R_X86_64_NONE {
		return nil
	}
	s := &o.symbols[r.symbol]
	target, err := l.address(s)
	if err != nil {
		return err
	}
	if places, _, _ := l.through(o, r); places != nil {
		at := places[s]
		if r.kind == elf.R_X86_64_PLT32 {
			copy(l.memory[at:], []byte{0xff, 0x25, 0, 0, 0, 0}) // jmp [rip]
			binary.LittleEndian.PutUint64(l.memory[at+6:], target)
		} else {
			binary.LittleEndian.PutUint64(l.memory[at:], target)
		}
		target = l.base + at
	}
	at := in.offset + r.offset
	value := target + uint64(r.addend)
	fits := true
	switch r.kind {
	case elf.R_X86_64_64:
	case elf.R_X86_64_32:
		fits = value <= math.MaxUint32
	case elf.R_X86_64_32S:
		fits = int64(value) == int64(int32(value))
	default:
		value -= l.base + at
		fits = r.kind == elf.R_X86_64_PC64 || int64(value) == int64(int32(value))
	}
	if !fits {
		return fmt.Errorf("%v to %s is too far", r.kind, s.name)
	}
	if sizes[r.kind] == 8 {
		binary.LittleEndian.PutUint64(l.memory[at:], value)
	} else {
		binary.LittleEndian.PutUint32(l.memory[at:], uint32(value))
	}
	return nil
}

// addresses returns where the global symbols are.
func (l *linking) addresses() map[string]uintptr {
	out := make(map[string]uintptr, len(l.defined))
	for name, s := range l.defined {
		if s.section != nil {
			out[name] = uintptr(l.base + s.section.offset + s.value)
		}
	}
	return out
}
