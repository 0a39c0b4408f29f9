package llvm

import "time"

// Compilation is the way of one text of IR to code, with nothing kept in
// between.
type Compilation struct {
	Name string // stands in LLVM's messages
	IR   string
	// Bitcode has definitions to link, nil for none; Library is its name in
	// LLVM's messages.
	Library string
	Bitcode []byte
	Keep    []string // see Module.Internalize
	// Passes are pipelines, see Module.Optimize. From the second on, they find
	// all functions but those in Keep marked as always to be inlined.
	Passes []string
	Object bool // an object file is wanted, not assembly
}

// Times says how long the steps of a compilation took.
type Times struct{ Parse, Link, Optimize, Emit time.Duration }

// Compile does what ParseIR, LinkBitcode, Internalize, Optimize and
// EmitAssembly or EmitObject do one after the other, in less time: as nothing
// is left of a module that fails, no step works on a copy. The IR of an error
// is that which was given.
func (t *TargetMachine) Compile(c Compilation) (code []byte, times Times, err error) {
	start := time.Now()
	lap := func(d *time.Duration) {
		now := time.Now()
		*d, start = *d+now.Sub(start), now
	}
	m, err := t.ParseIR(c.Name, c.IR)
	lap(&times.Parse)
	if err != nil {
		return nil, times, err
	}
	defer m.Close()
	m.given = &c.IR
	step := func(op string, d *time.Duration, f func() error) {
		if err == nil {
			err = t.use(op, m, f)
			lap(d)
		}
	}
	if c.Bitcode != nil {
		step("link "+c.Library+" into", &times.Link, func() error {
			return m.link(m.ref, c.Library, c.Bitcode)
		})
	}
	step("optimize", &times.Optimize, func() error {
		m.internalize(c.Keep)
		for i, passes := range c.Passes {
			if i > 0 {
				m.inlineAll(c.Keep)
			}
			if err := t.optimize(m.ref, passes, OptimizeOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
	op, kind := "emit assembly of", int32(assemblyFile)
	if c.Object {
		op, kind = "emit an object of", objectFile
	}
	step(op, &times.Emit, func() error {
		code, err = t.write(m.ref, kind)
		return err
	})
	return code, times, err
}
