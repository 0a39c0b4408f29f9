package driver

import (
	"fmt"
	"strings"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// CompiledInfo describes the file of a compiled program.
type CompiledInfo struct {
	Program  string // its name
	Redfox   string // the version that compiled it
	Size     int64  // of the file, in bytes
	Checksum string // of the file, in hexadecimal digits
	// Facts is the fingerprint of what the kernels take for granted of the
	// facts; "" if that is nothing.
	Facts    string
	Sections []CompiledSection
	Targets  []CompiledTarget
}

// CompiledSection is a part of the file.
type CompiledSection struct {
	Name     string
	Size     int64
	Checksum string // its SHA-256, in hexadecimal digits
}

// CompiledTarget describes the code for a target.
type CompiledTarget struct {
	Name      string
	Compiler  string // what made it of the IR; "" for code that is IR
	Functions []CompiledFunction
}

// CompiledFunction describes a function of the code: a kernel, or a part of the
// making of an index.
type CompiledFunction struct {
	Symbol        string
	Does          string   // "runs kernel k0", "fills index i0"
	Place         string   // of the rule that a kernel serves: "reach.logic:4:1"; or ""
	Operators     []string // of the plan, which a kernel carries out
	Threads, Rows int      // of a tile: threads, and rows a thread
	Scratch       int      // bytes of memory that a block of threads shares
	Parameters    int      // words
}

// Info returns what the file consists of.
func (c *Compiled) Info() CompiledInfo {
	info := CompiledInfo{Program: c.file.Name, Redfox: c.file.Redfox, Size: c.size,
		Checksum: c.file.Sum, Facts: c.file.Facts}
	for _, s := range c.file.Sections {
		info.Sections = append(info.Sections, CompiledSection{s.Name, s.Size, s.Sum})
	}
	for i, code := range c.file.Code {
		t := CompiledTarget{Name: code.Target, Compiler: code.Compiler}
		kernels := map[string]int{}
		for at, k := range c.graphs[i].Kernels() {
			kernels[k.Name] = at
		}
		for _, e := range code.Module.Entries {
			f := CompiledFunction{Symbol: e.Symbol, Does: roleWords[e.Role] + e.Of,
				Threads: e.Threads, Rows: e.Items,
				Scratch: e.Scratch, Parameters: len(e.Params)}
			if at, ok := kernels[e.Of]; ok && e.Role == abi.Kernel {
				origin := code.Origins[at]
				f.Operators = origin.Ops
				if span := c.files.fromFile(origin.Span); span.IsValid() {
					pos := span.Position()
					f.Place = fmt.Sprintf("%s:%d:%d", pos.File, pos.Line, pos.Column)
				}
			}
			t.Functions = append(t.Functions, f)
		}
		info.Targets = append(info.Targets, t)
	}
	return info
}

var roleWords = map[abi.Role]string{
	abi.Kernel:      "runs kernel ",
	abi.BuildInsert: "makes index ",
	abi.BuildCount:  "counts rows for index ",
	abi.BuildFill:   "fills index ",
}

// CompiledPart names a text that the file of a compiled program holds.
type CompiledPart string

// The parts of a compiled program. All but the first two are a target's.
const (
	PartSource  CompiledPart = "source"
	PartPlan    CompiledPart = "plan"    // before it is optimised
	PartHarmony CompiledPart = "harmony" // the fused kernel graph
	PartABI     CompiledPart = "abi"     // the functions and their parameters
	PartPTX     CompiledPart = "ptx"
	PartLLVM    CompiledPart = "llvm"
)

// Text returns a part of the file; of parts of a target, those of the one that
// is named or, with "", of the first one that has them.
func (c *Compiled) Text(part CompiledPart, target string) (string, error) {
	switch part {
	case PartPlan:
		return c.file.Plan, nil
	case PartSource:
		var b strings.Builder
		for _, s := range c.file.Sources {
			if len(c.file.Sources) > 1 {
				fmt.Fprintf(&b, "// %s\n", s.Name)
			}
			b.WriteString(s.Text)
		}
		return b.String(), nil
	}
	var have []string
	for _, code := range c.file.Code {
		have = append(have, code.Target)
		isPTX := strings.HasPrefix(code.Target, "gpu:")
		if target != "" && code.Target != target ||
			part == PartPTX && !isPTX || part == PartLLVM && isPTX {
			continue
		}
		switch part {
		case PartHarmony:
			return code.Graph, nil
		case PartABI:
			return code.Module.String(), nil
		case PartPTX, PartLLVM:
			return code.Text, nil
		}
	}
	wanted := ""
	if target != "" {
		wanted = " for " + target
	}
	help := "it has code for " + strings.Join(have, ", ")
	if len(have) == 0 {
		help = "it has no code; name targets with redfox compile --target"
	}
	message := fmt.Sprintf("%s has no %s%s", c.name, part, wanted)
	return "", &EnvironmentError{Message: message, Help: help}
}
