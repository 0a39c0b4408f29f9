package llvm

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/redfoxdb/redfox/internal/dynlib"
)

// Module is a module of LLVM IR in a context of its own.
type Module struct {
	lib  *Library
	name string

	mu       sync.Mutex
	context  contextRef
	ref      moduleRef
	listener *listener
	lost     bool // a fatal error left objects in the context half made
	// given is the text that failures are reported with. Where it is nil that
	// is the module's own.
	given *string
}

// ParseIR parses LLVM IR as text. The name stands in LLVM's messages, before
// line and column. The module is not verified.
//
// The parser gives loads and stores whose alignment is left out that of the
// data layout at the start of the text. Without one it assumes 4 bytes for an
// i64 and code is slow; TargetMachine's ParseIR puts the layout there.
func (l *Library) ParseIR(name, ir string) (*Module, error) { return l.parseIR(name, "", ir) }

// ParseIR parses LLVM IR as text, like [Library.ParseIR], as IR for the target:
// the module has its triple and its data layout, if the text has none of its
// own.
func (t *TargetMachine) ParseIR(name, ir string) (*Module, error) {
	// On the text's first line, so that LLVM's messages have the text's line
	// numbers.
	header := fmt.Sprintf("target datalayout = %q target triple = %q ", t.layout, t.options.Triple)
	return t.lib.parseIR(name, header, ir)
}

func (l *Library) parseIR(name, header, ir string) (*Module, error) {
	return l.parse(name, ir, func(m *Module) error {
		var p *byte
		if l.fn.ParseIRInContext(m.context, l.fn.newBuffer(name, []byte(header+ir)), &m.ref,
			&p) != 0 {
			return message(l.fn.takeMessage(p))
		}
		return nil
	})
}

// ParseBitcode reads LLVM bitcode, of this version of LLVM or an older one.
func (l *Library) ParseBitcode(name string, bitcode []byte) (*Module, error) {
	return l.parse(name, "", func(m *Module) (err error) {
		m.ref, err = m.readBitcode(name, bitcode)
		return err
	})
}

// parse makes a module of what read puts into it.
func (l *Library) parse(name, ir string, read func(*Module) error) (*Module, error) {
	if err := l.Open(); err != nil {
		return nil, err
	}
	m := &Module{lib: l, name: name, context: l.fn.ContextCreate(), listener: newListener()}
	l.fn.ContextSetDiagnosticHandler(m.context, l.onDiagnostic, m.listener.id)
	err, lost := attempt(func() error { return read(m) })
	m.lost = lost
	if err = m.listener.takeErrors(err); err != nil {
		m.Close()
		return nil, &Error{Op: "parse", Module: name, Message: err.Error(), IR: ir}
	}
	return m, nil
}

// readBitcode reads bitcode into the module's context.
func (m *Module) readBitcode(name string, bitcode []byte) (ref moduleRef, err error) {
	b := m.lib.fn.newBuffer(name, bitcode)
	defer m.lib.fn.DisposeMemoryBuffer(b)
	if m.lib.fn.ParseBitcodeInContext2(m.context, b, &ref) != 0 {
		return 0, m.listener.takeErrors(message(""))
	}
	return ref, nil
}

// Name returns the name that the module was parsed under.
func (m *Module) Name() string { return m.name }

// Close frees the module and its context.
func (m *Module) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.context == 0 {
		return
	}
	if m.ref != 0 && !m.lost {
		m.lib.fn.DisposeModule(m.ref)
	}
	// A context frees the modules in it, also one that a fatal error left in
	// the middle of a change; such a context stays.
	if !m.lost {
		m.lib.fn.ContextDispose(m.context)
	}
	m.listener.close()
	m.context, m.ref = 0, 0
}

// do runs one step on the module and reports its failure with the module's
// text.
func (m *Module) do(op string, step func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ref == 0 {
		return &Error{Op: op, Module: m.name, Message: "the module is closed"}
	}
	err, lost := attempt(step)
	m.lost = m.lost || lost
	if err = m.listener.takeErrors(err); err != nil {
		failure := &Error{Op: op, Module: m.name, Message: err.Error()}
		if m.given != nil {
			failure.IR = *m.given
		} else {
			failure.IR = m.text()
		}
		return failure
	}
	return nil
}

// transform changes a copy of the module and puts it in the module's place if
// that succeeds, so that a failure leaves the module, and the text that is
// reported with it, as they were.
func (m *Module) transform(change func(moduleRef) error) error {
	return m.onCopy(func(c moduleRef) (bool, error) { return true, change(c) })
}

// onCopy runs a step on a copy of the module, which may take the module's
// place.
func (m *Module) onCopy(step func(moduleRef) (replace bool, err error)) error {
	c := m.lib.fn.CloneModule(m.ref)
	replace, err := step(c)
	if err = m.listener.takeErrors(err); err == nil && replace {
		c, m.ref = m.ref, c
	}
	m.lib.fn.DisposeModule(c)
	return err
}

// text prints the module.
func (m *Module) text() string {
	return m.lib.fn.takeMessage(m.lib.fn.PrintModuleToString(m.ref))
}

// String returns the module as LLVM IR, "" once it is closed.
func (m *Module) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ref == 0 {
		return ""
	}
	return m.text()
}

// Warnings returns what LLVM warned of while it worked on the module, such as a
// linked module of another data layout.
func (m *Module) Warnings() []string {
	m.listener.mu.Lock()
	defer m.listener.mu.Unlock()
	return slices.Clone(m.listener.warnings)
}

// Bitcode returns the module as LLVM bitcode.
func (m *Module) Bitcode() (bitcode []byte, err error) {
	err = m.do("write bitcode of", func() error {
		bitcode = m.lib.fn.takeBuffer(m.lib.fn.WriteBitcodeToMemoryBuffer(m.ref))
		return nil
	})
	return bitcode, err
}

// Verify checks that the module is well-formed.
func (m *Module) Verify() error {
	return m.do("verify", func() error {
		var p *byte
		bad := m.lib.fn.VerifyModule(m.ref, returnStatus, &p)
		if said := m.lib.fn.takeMessage(p); bad != 0 {
			return message(said)
		}
		return nil
	})
}

// Link copies the definitions of another module, which stays as it is, into
// this one.
func (m *Module) Link(other *Module) error {
	bitcode, err := other.Bitcode()
	if err != nil {
		return err
	}
	return m.LinkBitcode(other.name, bitcode)
}

// LinkBitcode copies the definitions of a module of bitcode into this one. The
// name stands in LLVM's messages.
func (m *Module) LinkBitcode(name string, bitcode []byte) error {
	return m.do("link "+name+" into", func() error {
		return m.transform(func(c moduleRef) error { return m.link(c, name, bitcode) })
	})
}

// link copies definitions into a module of the context. Of functions that it
// takes only if they are called, it reads no more than it takes.
func (m *Module) link(into moduleRef, name string, bitcode []byte) error {
	fn := &m.lib.fn
	b := fn.newBuffer(name, bitcode)
	var other moduleRef
	if fn.GetBitcodeModuleInContext2(m.context, b, &other) != 0 {
		fn.DisposeMemoryBuffer(b) // only a success consumes it
		return m.listener.takeErrors(message(""))
	}
	if fn.LinkModules2(into, other) != 0 {
		return message("")
	}
	return nil
}

// Internalize makes every definition private to the module, except those named
// in keep. The optimiser may then inline definitions and drop unused ones.
func (m *Module) Internalize(keep ...string) error {
	return m.do("internalize", func() error {
		m.internalize(keep)
		return nil
	})
}

func (m *Module) internalize(keep []string) {
	for _, v := range append(m.values(m.lib.fn.GetFirstFunction, m.lib.fn.GetNextFunction),
		m.values(m.lib.fn.GetFirstGlobal, m.lib.fn.GetNextGlobal)...) {
		if m.lib.fn.IsDeclaration(v) != 0 || slices.Contains(keep, m.nameOf(v)) {
			continue
		}
		switch m.lib.fn.GetLinkage(v) {
		case availableExternallyLinkage, appendingLinkage, internalLinkage, privateLinkage:
		default:
			m.lib.fn.SetComdat(v, 0)
			m.lib.fn.SetLinkage(v, internalLinkage)
		}
	}
}

// inlineAll marks all functions that the module defines, except what is named
// and what is marked as not to be inlined, as always to be inlined.
func (m *Module) inlineAll(except []string) {
	fn := &m.lib.fn
	kind := func(name string) uint32 {
		return fn.GetEnumAttributeKindForName(name, uintptr(len(name)))
	}
	inline, never := fn.CreateEnumAttribute(m.context, kind("alwaysinline"), 0), kind("noinline")
	for _, v := range m.values(fn.GetFirstFunction, fn.GetNextFunction) {
		if fn.IsDeclaration(v) == 0 && !slices.Contains(except, m.nameOf(v)) &&
			fn.GetEnumAttributeAtIndex(v, functionIndex, never) == 0 {
			fn.AddAttributeAtIndex(v, functionIndex, inline)
		}
	}
}

// Functions returns the names of the functions that the module defines, in its
// order.
func (m *Module) Functions() []string { return m.functions(false) }

// Declarations returns the names of the functions that the module calls and
// does not define, in its order, without LLVM's intrinsics.
func (m *Module) Declarations() []string { return m.functions(true) }

func (m *Module) functions(declared bool) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ref == 0 {
		return nil
	}
	var out []string
	for _, v := range m.values(m.lib.fn.GetFirstFunction, m.lib.fn.GetNextFunction) {
		name := m.nameOf(v)
		if (m.lib.fn.IsDeclaration(v) != 0) == declared && !strings.HasPrefix(name, "llvm.") {
			out = append(out, name)
		}
	}
	return out
}

// values walks a list of the module.
func (m *Module) values(first func(moduleRef) valueRef, next func(valueRef) valueRef) []valueRef {
	var out []valueRef
	for v := first(m.ref); v != 0; v = next(v) {
		out = append(out, v)
	}
	return out
}

func (m *Module) nameOf(v valueRef) string {
	var n uintptr
	p := m.lib.fn.GetValueName2(v, &n)
	return string(unsafe.Slice(p, n))
}

// Triple returns the triple of the target that the module is for, "" if it does
// not say.
func (m *Module) Triple() string { return m.describe(m.lib.fn.GetTarget) }

// DataLayout returns the module's data layout, "" if it does not say.
func (m *Module) DataLayout() string { return m.describe(m.lib.fn.GetDataLayoutStr) }

func (m *Module) describe(get func(moduleRef) *byte) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ref == 0 {
		return ""
	}
	return dynlib.Text(get(m.ref))
}

// SetTarget makes the module one for a target machine: it sets the triple and
// the data layout. Optimize and the emitting methods do the same.
func (m *Module) SetTarget(machine *TargetMachine) error {
	return m.do("set the target of", func() error {
		machine.describe(m.ref)
		return nil
	})
}
