package ir

import (
	"reflect"

	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"

	"github.com/redfoxdb/redfox/frontend/source"
)

// Instructions have the places of rules if Options.Lines asks for them. LLVM
// writes them as .loc directives; instructions of primitives that it inlines
// get those of the call. Directives alone make no debug sections, and change no
// machine instruction.

// MarkAs gives the instructions that have no place yet a place.
func (f *Function) MarkAs(place source.Span) {
	if !place.IsValid() {
		return
	}
	if f.places == nil {
		f.places = map[llvm.Instruction]source.Span{}
	}
	for _, b := range f.fn.Blocks {
		for _, inst := range b.Insts {
			if _, ok := f.places[inst]; !ok {
				f.places[inst] = place
			}
		}
	}
}

// lines is the metadata of a module whose instructions have places.
type lines struct {
	m     *llvm.Module
	unit  *metadata.DICompileUnit
	files map[*source.File]*metadata.DIFile
}

// define adds metadata, which gets its number when the module is printed.
func (l *lines) define(d metadata.Definition) {
	d.SetID(-1)
	l.m.MetadataDefs = append(l.m.MetadataDefs, d)
}

func (l *lines) file(f *source.File) *metadata.DIFile {
	out := l.files[f]
	if out == nil {
		out = &metadata.DIFile{Filename: f.Name}
		l.files[f] = out
		l.define(out)
	}
	return out
}

// begin adds the compile unit, and the flag without which LLVM drops places.
func (l *lines) begin(file *source.File) {
	l.unit = &metadata.DICompileUnit{Distinct: true, Language: enum.DwarfLangC99,
		File:         l.file(file),
		EmissionKind: enum.EmissionKindDebugDirectivesOnly}
	l.define(l.unit)
	flag := func(name string, v int) *metadata.Tuple {
		t := &metadata.Tuple{Fields: []metadata.Field{I32(2), &metadata.String{Value: name},
			I32(v)}}
		l.define(t)
		return t
	}
	l.name("llvm.dbg.cu", l.unit)
	l.name("llvm.module.flags", flag("Dwarf Version", 4), flag("Debug Info Version", 3))
}

func (l *lines) name(name string, nodes ...metadata.Node) {
	if l.m.NamedMetadataDefs == nil {
		l.m.NamedMetadataDefs = map[string]*metadata.NamedDef{}
	}
	l.m.NamedMetadataDefs[name] = &metadata.NamedDef{Name: name, Nodes: nodes}
}

// add attaches the places of a function's instructions.
func (l *lines) add(f *Function) {
	f.fn.Metadata = nil
	rule := f.Shape.Kernel.Span
	if len(f.places) == 0 || !rule.IsValid() {
		return
	}
	if l.unit == nil {
		l.begin(rule.File)
	}
	signature := &metadata.DISubroutineType{Types: &metadata.Tuple{MetadataID: -1}}
	l.define(signature.Types)
	l.define(signature)
	at := rule.Position()
	scope := &metadata.DISubprogram{Distinct: true, Name: f.fn.Name(), File: l.file(rule.File),
		Line: int64(at.Line), ScopeLine: int64(at.Line),
		Scope: l.file(rule.File), Type: signature,
		SPFlags: enum.DISPFlagDefinition | enum.DISPFlagOptimized, Unit: l.unit}
	l.define(scope)
	f.fn.Metadata = llvm.Metadata{{Name: "dbg", Node: scope}}
	scopes := map[*source.File]metadata.Field{rule.File: scope}
	made := map[source.Span]*metadata.DILocation{}
	for _, b := range f.fn.Blocks {
		for _, inst := range b.Insts {
			place, ok := f.places[inst]
			if !ok {
				continue
			}
			if made[place] == nil {
				made[place] = l.location(place, scope, scopes)
			}
			attach(inst, llvm.Metadata{{Name: "dbg", Node: made[place]}})
		}
	}
}

// location makes the location of a place. A place in another file than the
// function's rule has a scope of its own.
func (l *lines) location(place source.Span, fn *metadata.DISubprogram,
	scopes map[*source.File]metadata.Field) *metadata.DILocation {
	if scopes[place.File] == nil {
		block := &metadata.DILexicalBlockFile{Scope: fn, File: l.file(place.File)}
		l.define(block)
		scopes[place.File] = block
	}
	at := place.Position()
	out := &metadata.DILocation{Line: int64(at.Line), Column: int64(at.Column),
		Scope: scopes[place.File]}
	l.define(out)
	return out
}

// attach sets the metadata of an instruction, which each type of instruction
// has as a field of its own.
func attach(inst llvm.Instruction, to llvm.Metadata) {
	field := reflect.ValueOf(inst).Elem().FieldByName("Metadata")
	if field.IsValid() {
		field.Set(reflect.ValueOf(to))
	}
}
