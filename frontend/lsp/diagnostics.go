package lsp

import (
	"maps"
	"slices"
	"strings"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/source"
)

// publish sends the diagnostics of every file of a program, and clears those of
// files that have left it.
func (s *Server) publish(p *program) {
	byFile := map[string][]protocol.Diagnostic{}
	for name := range p.files {
		byFile[name] = []protocol.Diagnostic{}
	}
	for _, d := range p.now.found {
		if !d.Span.IsValid() {
			continue
		}
		name := d.Span.File.Name
		byFile[name] = append(byFile[name], p.now.diagnostic(d))
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		s.send(name, byFile[name])
	}
}

// send publishes the diagnostics of a file, unless there are none now and there
// were none before in a file that is not open.
func (s *Server) send(name string, found []protocol.Diagnostic) {
	params := protocol.PublishDiagnosticsParams{URI: fileURI(name), Diagnostics: found}
	if d := s.documents[name]; d != nil {
		params.URI, params.Version = d.uri, d.version
	} else if len(found) == 0 && !s.marked[name] {
		return
	}
	s.marked[name] = len(found) > 0
	s.notify("textDocument/publishDiagnostics", params)
}

// clear removes the diagnostics of files that belong to no program any more.
func (s *Server) clear() {
	for _, name := range slices.Sorted(maps.Keys(s.marked)) {
		inUse := func(p *program) bool { return p.files[name] != nil || p.root == name }
		if s.marked[name] && !slices.ContainsFunc(slices.Collect(maps.Values(s.programs)), inUse) {
			s.send(name, []protocol.Diagnostic{})
		}
		if !s.marked[name] {
			delete(s.marked, name)
		}
	}
}

// severities of the protocol. Its hints are less visible than our notes.
var severities = map[diag.Severity]protocol.DiagnosticSeverity{
	diag.Error:   protocol.DiagnosticSeverityError,
	diag.Warning: protocol.DiagnosticSeverityWarning,
	diag.Note:    protocol.DiagnosticSeverityInformation,
}

// diagnostic converts a diagnostic. Remarks, notes and advice follow the
// headline, as the command line shows them.
func (s *snapshot) diagnostic(d *diag.Diagnostic) protocol.Diagnostic {
	text := []string{d.Message}
	if d.At != "" {
		text = append(text, d.At)
	}
	for _, n := range d.Notes {
		text = append(text, "note: "+n)
	}
	for _, h := range d.Helps {
		text = append(text, "help: "+h)
	}
	out := protocol.Diagnostic{Range: s.at(d.Span), Severity: severities[d.Severity],
		Source: "redfox", Message: strings.Join(text, "\n")}
	if d.Code != nil {
		out.Code = d.Code.ID
	}
	for _, l := range d.Labels {
		if l.Span.IsValid() {
			out.RelatedInformation = append(out.RelatedInformation,
				protocol.DiagnosticRelatedInformation{Location: s.location(l.Span),
					Message: l.Message})
		}
	}
	return out
}

// at returns the range of a span.
func (s *snapshot) at(span source.Span) protocol.Range {
	return s.files[span.File.Name].lines.between(span.Start, span.End)
}

// location returns the place of a span.
func (s *snapshot) location(span source.Span) protocol.Location {
	return protocol.Location{URI: fileURI(span.File.Name), Range: s.at(span)}
}
