package rfx

import "github.com/redfoxdb/redfox/harmony/abi"

// File is a compiled program.
type File struct {
	Redfox string // the version of redfox that compiled it
	Name   string // of the program
	// Disable are the passes of the optimiser that the program was compiled
	// without; NoFuse says that kernels were left as they were lowered, and
	// KeepApart which pairs of them.
	Disable   []string
	NoFuse    bool
	KeepApart []string
	// Facts is the fingerprint of the facts' tables and statistics that kernel
	// graphs are made for; "" if they are for all facts.
	Facts      string
	Sources    []Source
	Predicates []Predicate
	Plan       string
	// Places are those of the plan's variables and then of the commands and
	// unbounded branches, in the order of its text; none if it has no source.
	Places []Span
	Code   []Code // at most one of a target

	// Sections and Sum are set by Read: what the file consists of, and its
	// checksum in hexadecimal digits.
	Sections []Section
	Sum      string
}

// Source is a file of the program.
type Source struct{ Name, Text string }

// Span is a range of bytes of a source. The zero Span is nowhere.
type Span struct {
	Source int `json:"source,omitempty"` // 1 for the first
	Start  int `json:"start,omitempty"`
	End    int `json:"end,omitempty"`
}

// Predicate is what a run must know of a predicate beside the plan.
type Predicate struct {
	Name     string   `json:"name"`
	Columns  []Column `json:"columns"`
	Keys     int      `json:"keys"`
	Derived  bool     `json:"derived,omitempty"`
	Query    bool     `json:"query,omitempty"`
	Exported bool     `json:"exported,omitempty"`
	Hidden   bool     `json:"hidden,omitempty"`  // made by the compiler
	Clauses  []Span   `json:"clauses,omitempty"` // that derive it
	Binding  *Binding `json:"file,omitempty"`
	Makes    *Maker   `json:"makes,omitempty"`
}

// Maker says that a predicate numbers its keys: the numbers Start, Start + Step
// and so on stand for entities of a family.
type Maker struct {
	Name    string `json:"name"` // in terms
	Family  string `json:"family"`
	Start   int64  `json:"start,omitempty"`
	Step    int64  `json:"step"`
	Refmode bool   `json:"refmode,omitempty"`
}

// Column is a named and typed argument; the type is as LogiQL writes it.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Family is set if the numbers in the column stand for entities.
	Family string `json:"family,omitempty"`
}

// Binding is the file that directives of the program tie to a predicate.
type Binding struct {
	Path      string   `json:"path"`
	Place     Span     `json:"place"` // of the directive that names the path
	Export    bool     `json:"export,omitempty"`
	Delimiter string   `json:"delimiter,omitempty"`
	Header    *bool    `json:"header,omitempty"`
	Columns   []string `json:"columns,omitempty"`
	Offset    bool     `json:"offset,omitempty"`
}

// Code is what is compiled for one target.
type Code struct {
	Target   string // "cpu", "gpu:sm_90"
	Compiler string // what made the text of it: "LLVM 15"
	Graph    string
	Origins  []Origin // of the graph's kernels, in order
	Module   *abi.Module
	Granted  abi.Granted // what the text takes for granted of facts
	Text     string      // PTX or LLVM IR
}

// Origin says where a kernel comes from, for people.
type Origin struct {
	Ops  []string `json:"operators,omitempty"` // of the plan, which it carries out
	Span Span     `json:"place"`
}

// Section is a part of a file that was read.
type Section struct {
	Name string
	Size int64
	Sum  string // its SHA-256, in hexadecimal digits
}
