package rfx

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// The names of sections, and the endings of those that a target has.
const (
	manifestSection = "manifest.json"
	planSection     = "plan"
	sourcePrefix    = "source/"
	graphSuffix     = "/graph"
	abiSuffix       = "/abi"
	codeSuffix      = "/code"
)

// manifest is what a file has beside its texts.
type manifest struct {
	Redfox     string           `json:"redfox"`
	Name       string           `json:"program"`
	Disable    []string         `json:"disable,omitempty"`
	NoFuse     bool             `json:"no_fuse,omitempty"`
	KeepApart  []string         `json:"keep_apart,omitempty"`
	Facts      string           `json:"facts,omitempty"`
	Sources    int              `json:"sources"`
	Targets    []manifestTarget `json:"targets"`
	Predicates []Predicate      `json:"predicates"`
	Places     []Span           `json:"places,omitempty"`
}

// manifestTarget describes the code for a target. Entries repeat what its abi
// section has, for whoever has no parser of that.
type manifestTarget struct {
	Name     string          `json:"target"`
	Compiler string          `json:"compiler"`
	Kernels  []Origin        `json:"kernels"`
	Granted  abi.Granted     `json:"granted"`
	Entries  []manifestEntry `json:"entries"`
}

type manifestEntry struct {
	Symbol     string `json:"symbol"`
	Role       string `json:"role"`
	Of         string `json:"of"`
	Threads    int    `json:"threads"`
	Items      int    `json:"items"`
	Scratch    int    `json:"scratch_bytes"`
	Parameters int    `json:"parameters"`
}

// Write writes a compiled program. The same program is the same bytes.
func Write(w io.Writer, f *File) error {
	m := manifest{Redfox: f.Redfox, Name: f.Name, Disable: f.Disable, NoFuse: f.NoFuse,
		KeepApart: f.KeepApart, Facts: f.Facts, Sources: len(f.Sources),
		Predicates: f.Predicates, Places: f.Places}
	sections := []section{{name: manifestSection}}
	for i, s := range f.Sources {
		sections = append(sections, section{sourceSection(i, s.Name), []byte(s.Text)})
	}
	sections = append(sections, section{planSection, []byte(f.Plan)})
	seen := map[string]bool{}
	for _, c := range f.Code {
		if seen[c.Target] || c.Module.Target != c.Target {
			return fmt.Errorf("the code for %s is there twice, or is for %s", c.Target,
				c.Module.Target)
		}
		seen[c.Target] = true
		if err := abi.Verify(c.Module); err != nil {
			return fmt.Errorf("the code for %s: %w", c.Target, err)
		}
		m.Targets = append(m.Targets,
			manifestTarget{c.Target, c.Compiler, c.Origins, c.Granted, entries(c.Module)})
		sections = append(sections,
			section{c.Target + graphSuffix, []byte(c.Graph)},
			section{c.Target + abiSuffix, []byte(c.Module.String())},
			section{c.Target + codeSuffix, []byte(c.Text)})
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	sections[0].data = append(text, '\n')
	return writeSections(w, sections)
}

// sourceSection names the section of a source, with its number from 1 because
// names of sources need not differ.
func sourceSection(i int, name string) string {
	return fmt.Sprintf("%s%d:%s", sourcePrefix, i+1, strings.ToValidUTF8(name, "?"))
}

func entries(m *abi.Module) []manifestEntry {
	var out []manifestEntry
	for _, e := range m.Entries {
		out = append(out,
			manifestEntry{e.Symbol, e.Role.String(), e.Of, e.Threads, e.Items, e.Scratch,
				len(e.Params)})
	}
	return out
}
