package abi

import (
	"fmt"

	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// Verify reports the first thing in a module that no code generation writes:
// functions of one name, words that stand for one thing twice, numbers of
// literals or tables that are not there, tiles without rows or with parts of
// chunks.
func Verify(m *Module) error {
	if m.Target == "" {
		return fmt.Errorf("the module has no target")
	}
	symbols := map[string]bool{}
	for _, e := range m.Entries {
		if symbols[e.Symbol] || e.Symbol == "" {
			return fmt.Errorf("entry %s is there twice, or has no name", irtext.QuoteName(e.Symbol))
		}
		symbols[e.Symbol] = true
		if err := e.verify(len(m.Tables)); err != nil {
			return fmt.Errorf("entry %s: %w", irtext.QuoteName(e.Symbol), err)
		}
	}
	return nil
}

func (e *Entry) verify(tables int) error {
	if int(e.Role) >= len(roleNames) {
		return fmt.Errorf("its role is %s", e.Role)
	}
	if e.Threads < 1 || e.Items < 1 {
		return fmt.Errorf("its tile is %d threads of %d rows", e.Threads, e.Items)
	}
	if e.Threads > 1 && e.Items%Chunk != 0 {
		return fmt.Errorf("its tile has %d rows for each of %d threads, which are not whole chunks of %d", e.Items, e.Threads, Chunk)
	}
	if e.Scratch < 0 || e.Queued < 0 || e.Expansions < 0 {
		return fmt.Errorf("it has %d bytes of scratch, holds %d rows back and has %d expansions",
			e.Scratch, e.Queued, e.Expansions)
	}
	if e.Sharing < 0 || e.Sharing > 0 && (e.Expansions > 0 || e.Threads == 1) {
		return fmt.Errorf("%d of its workers share tiles, of %d threads and with %d expansions",
			e.Sharing, e.Threads, e.Expansions)
	}
	if s := e.Loop; s.Operations < s.Kernels || s.Kernels < 0 || s.Relations < 0 ||
		(e.Role == Loop) != (s.Kernels > 0) {
		return fmt.Errorf("its role is %s, and it is for %d operations, %d kernels and %d relations",
			e.Role, s.Operations, s.Kernels, s.Relations)
	}
	if e.Dynamic < 0 || e.Dynamic > e.Scratch {
		return fmt.Errorf("%d bytes of its %d bytes of scratch are dynamic", e.Dynamic, e.Scratch)
	}
	seen := map[Param]bool{}
	for _, p := range e.Params {
		if seen[p] {
			return fmt.Errorf("it has the parameter %s twice", p)
		}
		seen[p] = true
		most := -1 // of the number, where it counts what the entry or the module has
		switch p.Kind {
		case LiteralWord, LiteralHigh, PlaceLow, PlaceHigh:
			most = len(e.Literals)
		case TableData, TableBase, TableStep, TableWidth, TablePresent:
			most = tables
		}
		if int(p.Kind) >= len(kindNames) || p.Index < 0 || most >= 0 && p.Index >= most {
			return fmt.Errorf("its parameter %s stands for nothing", p)
		}
	}
	return nil
}
