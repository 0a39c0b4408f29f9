package rfx

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/redfoxdb/redfox/harmony/abi"
)

// Read reads a compiled program to the end of r. It returns a *ForeignError for
// a file of another kind, a *VersionError for another format, and a
// *DamageError for a damaged file; any other error is r's. Plans, kernel graphs
// and code are not checked.
func Read(r io.Reader) (*File, error) {
	sections, sum, err := readSections(r)
	if err != nil {
		return nil, err
	}
	p := parts{left: map[string][]byte{}}
	f := &File{Sum: sum}
	for _, s := range sections {
		p.left[s.name] = s.data
		digest := sha256.Sum256(s.data)
		f.Sections = append(f.Sections,
			Section{s.name, int64(len(s.data)), hex.EncodeToString(digest[:])})
	}
	if err := p.file(f, sections); err != nil {
		return nil, err
	}
	for _, s := range sections {
		if _, ok := p.left[s.name]; ok {
			return nil, &DamageError{s.name, "is none that a compiled program has"}
		}
	}
	return f, nil
}

// parts are the sections that are not read yet.
type parts struct{ left map[string][]byte }

// text takes a section that has to be there.
func (p *parts) text(name string) (string, error) {
	data, ok := p.left[name]
	switch {
	case !ok:
		return "", &DamageError{name, "is missing"}
	case !utf8.Valid(data):
		return "", &DamageError{name, "is no UTF-8 text"}
	}
	delete(p.left, name)
	return string(data), nil
}

// file fills f from the sections.
func (p *parts) file(f *File, sections []section) error {
	text, err := p.text(manifestSection)
	if err != nil {
		return err
	}
	var m manifest
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&m); err != nil {
		return &DamageError{manifestSection, "does not parse: " + err.Error()}
	}
	if _, err := decoder.Token(); err != io.EOF {
		return &DamageError{manifestSection, "goes on after its end"}
	}
	f.Redfox, f.Name, f.Disable, f.NoFuse, f.KeepApart, f.Facts = m.Redfox, m.Name, m.Disable,
		m.NoFuse, m.KeepApart, m.Facts
	f.Predicates, f.Places = m.Predicates, m.Places
	for _, s := range sections {
		prefix := sourceSection(len(f.Sources), "")
		if name, ok := strings.CutPrefix(s.name, prefix); ok {
			text, err := p.text(s.name)
			if err != nil {
				return err
			}
			f.Sources = append(f.Sources, Source{name, text})
		}
	}
	if len(f.Sources) != m.Sources {
		return &DamageError{manifestSection,
			fmt.Sprintf("counts %d sources; %d are there", m.Sources, len(f.Sources))}
	}
	if f.Plan, err = p.text(planSection); err != nil {
		return err
	}
	for _, t := range m.Targets {
		c := Code{Target: t.Name, Compiler: t.Compiler, Origins: t.Kernels, Granted: t.Granted}
		if c.Graph, err = p.text(t.Name + graphSuffix); err != nil {
			return err
		}
		module, err := p.text(t.Name + abiSuffix)
		if err != nil {
			return err
		}
		if c.Module, err = abi.Parse(t.Name+abiSuffix, module); err == nil {
			err = abi.Verify(c.Module)
		}
		if err == nil && c.Module.Target != t.Name {
			err = fmt.Errorf("it is of target %s", c.Module.Target)
		}
		if err != nil {
			return &DamageError{t.Name + abiSuffix, "does not parse: " + err.Error()}
		}
		if c.Text, err = p.text(t.Name + codeSuffix); err != nil {
			return err
		}
		f.Code = append(f.Code, c)
	}
	return f.verify()
}

// verify checks that what the manifest says of the texts can be true of them.
func (f *File) verify() error {
	spans := slices.Clone(f.Places)
	for _, p := range f.Predicates {
		if p.Keys < 0 || p.Keys > len(p.Columns) {
			return &DamageError{manifestSection,
				fmt.Sprintf("gives predicate %s %d keys of %d columns", p.Name, p.Keys,
					len(p.Columns))}
		}
		spans = append(spans, p.Clauses...)
		if p.Binding != nil {
			spans = append(spans, p.Binding.Place)
		}
	}
	for _, c := range f.Code {
		for _, o := range c.Origins {
			spans = append(spans, o.Span)
		}
	}
	for _, s := range spans {
		if s == (Span{}) {
			continue
		}
		if s.Source < 1 || s.Source > len(f.Sources) || s.Start < 0 || s.Start > s.End ||
			s.End > len(f.Sources[s.Source-1].Text) {
			return &DamageError{manifestSection,
				fmt.Sprintf("has the place %d:%d-%d, which is nowhere", s.Source, s.Start, s.End)}
		}
	}
	return nil
}
