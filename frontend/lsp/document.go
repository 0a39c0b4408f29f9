package lsp

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
)

// document is a file that is open in the editor.
type document struct {
	uri     string
	name    string // the path of the file, or the URI of one that is on no disk
	version int
	lines   *lineTable
	program *program
}

// change applies changes in order. Each one has a range in the text that the
// one before has left, or replaces the whole text.
func (d *document) change(changes []protocol.TextDocumentContentChangePartial) {
	for _, c := range changes {
		if c.Range == nil {
			d.lines = newLineTable(c.Text)
			continue
		}
		text := d.lines.text
		start := d.lines.offset(c.Range.Start)
		end := max(start, d.lines.offset(c.Range.End))
		d.lines = newLineTable(text[:start] + c.Text + text[end:])
	}
}

// fileName returns the path of a file: URI, and other URIs as they are.
func fileName(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = path[1:] // /C:/folder
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// fileURI returns the file: URI of a path, and a URI as it is.
func fileURI(name string) string {
	if !filepath.IsAbs(name) {
		return name
	}
	path := filepath.ToSlash(name)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// didOpen enters a document.
func (s *Server) didOpen(p *protocol.DidOpenTextDocumentParams) {
	item := p.TextDocument
	d := &document{uri: item.URI, name: fileName(item.URI), version: item.Version,
		lines: newLineTable(item.Text)}
	s.documents[d.name] = d
	s.assign()
	d.program.stale = true
}

// didChange edits a document.
func (s *Server) didChange(p *protocol.DidChangeTextDocumentParams) {
	d := s.documents[fileName(p.TextDocument.URI)]
	if d == nil {
		return
	}
	d.version = p.TextDocument.Version
	d.change(p.ContentChanges)
	s.textChanged(d)
}

// didClose drops a document. What is on disk counts from now on.
func (s *Server) didClose(p *protocol.DidCloseTextDocumentParams) {
	d := s.documents[fileName(p.TextDocument.URI)]
	if d == nil {
		return
	}
	delete(s.documents, d.name)
	s.textChanged(d)
	s.assign()
}

// filesChanged reads everything from disk again.
func (s *Server) filesChanged(*json.RawMessage) {
	s.assign()
	for _, p := range s.programs {
		p.stale = true
	}
}

// textChanged marks the programs that have a document. The text of a project
// file decides which program a file belongs to.
func (s *Server) textChanged(d *document) {
	d.program.stale = true
	for _, p := range s.programs {
		if p.files[d.name] != nil {
			p.stale = true
		}
	}
	if isProject(d.name) {
		s.assign()
	}
}
