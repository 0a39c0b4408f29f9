package redfox

import (
	"context"

	"github.com/redfoxdb/redfox/internal/driver"
)

// The names of engines, for RunOptions.Engine and SessionOptions.Engine.
// EngineAuto is the best for the facts; its runs begin on the go engine, unless
// there is much work, and their loops change over to a GPU or to native code
// where that is worth it. EngineGo needs
// nothing of the machine, EngineCPU needs libLLVM, and EngineGPU needs NVIDIA's
// driver as well.
const (
	EngineAuto = "auto"
	EngineGo   = "go"
	EngineCPU  = "cpu"
	EngineGPU  = "gpu"
	// EngineMixed runs the rows whose columns are on a GPU there, and the
	// others as native code at the same time.
	EngineMixed = "mixed"
)

// RunOptions are the options of a run. The zero value runs the best engine of
// the machine on all cores, without bounds, and returns what the program
// exports.
type RunOptions struct {
	// Engine is the name of an engine; "" is EngineAuto. A session has its own
	// engine and GPU, and takes no notice of the first three fields.
	Engine string
	// Device is the number or the UUID of a GPU, as Devices lists them; "" is
	// the first that can be used. Naming a device implies engine gpu, and the
	// run fails if that GPU cannot be used. With another engine it is an error.
	Device string
	// DeviceMemory bounds, in bytes, what runs and facts take of the GPU's
	// memory; 0 means all of it. Runs with the same bound share it. EngineMixed
	// keeps columns in half of it. With an engine that uses no GPU it is an
	// error.
	DeviceMemory int64
	Threads      int // 0 means all cores
	// Memory bounds facts, relations and indexes, in bytes. 0 means no bound;
	// for a program that RF0604 warns about, it means half of the available
	// memory.
	Memory int64
	// Spill is a folder. A run that does not fit Memory goes on with a file
	// there, which has no name and is gone with the process; "" lets it fail.
	Spill string
	// Outputs names the predicates of the result. Other predicates are computed
	// only as far as these need them. Nil stands for every exported predicate
	// and query.
	Outputs []string
	// Resident leaves the tuples of the result on the GPU that computed them
	// until they are asked for; see Result.Fetch.
	Resident bool
	// KeepGoing returns the result also if constraints do not hold, beside the
	// *ProgramError that says so.
	KeepGoing bool
	// MaxRounds bounds the rounds of each recursion that RF0604 warns about. 0
	// means a million or, if there are more, the number of facts; -1 means no
	// bound. At the bound the run fails with RF1005.
	MaxRounds int64
	// Progress, if set, is called now and then from one goroutine at a time.
	Progress func(Progress)
	// Load are the options with which Program.Run reads facts, and workspaces
	// read those of predicates that they have not seen before.
	Load LoadOptions
}

// LoadOptions are the options of reading facts.
type LoadOptions struct {
	Header bool // text files name their columns in the first line
	// SkipMalformed skips malformed rows and counts them in the report, instead
	// of refusing the file.
	SkipMalformed bool
	// MissingEmpty takes a file that the program names, and that is not there,
	// as empty, instead of failing.
	MissingEmpty bool
	// NoHeader says that text files have no header. Otherwise their first line
	// has the names of the columns if it cannot be a fact and the second can.
	NoHeader bool
	// Delimiter separates the fields of text files that no FactFile gives
	// another. 0 is a comma in .csv files and a tab in others, or the character
	// that the file shows.
	Delimiter byte
	// Null is the text of a field, in text files, that stands for a missing
	// value. Nil is the empty field.
	Null *string
	// Spill is a folder. Facts that do not fit the memory of the session or of
	// the run lie in a file there, which has no name; "" lets the load fail.
	// Program.Run takes that of RunOptions. Dictionaries of strings stay in
	// memory.
	Spill string
	// Predicates are read even if no rule uses them. Program.Run adds the
	// outputs of the run.
	Predicates []string
}

func (o LoadOptions) driver() driver.LoadOptions {
	return driver.LoadOptions{Header: o.Header, SkipMalformed: o.SkipMalformed,
		MissingEmpty: o.MissingEmpty, Null: o.Null, NoHeader: o.NoHeader, Delimiter: o.Delimiter,
		Spill: o.Spill, Predicates: o.Predicates}
}

func (o RunOptions) driver() driver.RunOptions {
	out := driver.RunOptions{Engine: o.Engine, Device: o.Device, DeviceMemory: o.DeviceMemory,
		Threads: o.Threads, Memory: o.Memory, Spill: o.Spill, Outputs: o.Outputs,
		Resident: o.Resident, KeepGoing: o.KeepGoing, MaxRounds: o.MaxRounds, Load: o.Load.driver()}
	if o.Progress != nil {
		out.Progress = func(p driver.RunProgress) {
			o.Progress(Progress{Predicates: p.Vars, Rounds: p.Iteration, New: p.New,
				Total: p.Total})
		}
	}
	return out
}

// Progress is how far a run is in one recursion.
type Progress struct {
	Predicates []string // that are computed together
	Rounds     int      // so far
	New        int64    // tuples of the last round
	Total      int64    // tuples of the predicates so far
}

// Run loads the facts and runs the program over them. It returns a whole answer
// or an error: *ProgramError when the data is wrong or a constraint does not
// hold, *EnvironmentError, *InternalError, or the cause of ctx.
//
// Run is for facts that are used once. A Session loads facts for many runs.
func (p *Program) Run(ctx context.Context, facts *Facts, opts RunOptions) (*Result, error) {
	res, err := p.program.Run(ctx, facts.driver(), opts.driver())
	return newResult(res, p.program), public(err)
}
