package lsp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
)

// requests has the methods that have answers.
var requests = map[string]func(*Server, json.RawMessage) (any, *protocol.Error){
	"initialize":                       request((*Server).initialize),
	"shutdown":                         request((*Server).shutdown),
	"textDocument/formatting":          request((*Server).formatting),
	"textDocument/hover":               request((*Server).hover),
	"textDocument/definition":          request((*Server).definition),
	"textDocument/declaration":         request((*Server).declaration),
	"textDocument/references":          request((*Server).references),
	"textDocument/documentHighlight":   request((*Server).highlight),
	"textDocument/documentSymbol":      request((*Server).documentSymbol),
	"workspace/symbol":                 request((*Server).workspaceSymbol),
	"textDocument/prepareRename":       request((*Server).prepareRename),
	"textDocument/rename":              request((*Server).rename),
	"textDocument/codeAction":          request((*Server).codeAction),
	"textDocument/completion":          request((*Server).completion),
	"textDocument/semanticTokens/full": request((*Server).semanticTokens),
}

// notifications has the methods without answers.
var notifications = map[string]func(*Server, json.RawMessage){
	"initialized":                     notification((*Server).initialized),
	"textDocument/didOpen":            notification((*Server).didOpen),
	"textDocument/didChange":          notification((*Server).didChange),
	"textDocument/didClose":           notification((*Server).didClose),
	"textDocument/didSave":            notification((*Server).filesChanged),
	"workspace/didChangeWatchedFiles": notification((*Server).filesChanged),
}

// request makes a handler of a method that takes parameters of one type.
func request[P any](
	handle func(*Server, *P) (any, *protocol.Error),
) func(*Server, json.RawMessage) (any, *protocol.Error) {
	return func(s *Server, params json.RawMessage) (any, *protocol.Error) {
		p := new(P)
		if len(params) > 0 {
			if err := json.Unmarshal(params, p); err != nil {
				return nil, &protocol.Error{Code: int(protocol.ErrorCodesInvalidParams),
					Message: err.Error()}
			}
		}
		return handle(s, p)
	}
}

// notification makes a handler of a method without an answer. Parameters that
// are wrong are dropped, as there is nobody to tell.
func notification[P any](handle func(*Server, *P)) func(*Server, json.RawMessage) {
	return func(s *Server, params json.RawMessage) {
		p := new(P)
		if len(params) == 0 || json.Unmarshal(params, p) == nil {
			handle(s, p)
		}
	}
}

// request answers a request.
func (s *Server) request(m *protocol.Message) (any, *protocol.Error) {
	handle := requests[m.Method]
	switch {
	case handle == nil:
		return nil, &protocol.Error{Code: int(protocol.ErrorCodesMethodNotFound),
			Message: fmt.Sprintf("there is no method %s", m.Method)}
	case s.state == starting && m.Method != "initialize":
		return nil, &protocol.Error{Code: int(protocol.ErrorCodesServerNotInitialized),
			Message: "the first request must be initialize"}
	case s.state == running && m.Method == "initialize", s.state == stopping:
		return nil, &protocol.Error{Code: int(protocol.ErrorCodesInvalidRequest),
			Message: "this is not the time for " + m.Method}
	}
	return handle(s, m.Params)
}

// notification handles a notification.
func (s *Server) notification(m *protocol.Message) {
	handle := notifications[m.Method]
	switch {
	case m.Method == "exit":
		if s.state != stopping {
			s.written(ErrNoShutdown)
		}
		s.state = ended
	case handle != nil && s.state == running:
		handle(s, m.Params)
	}
}

// initialize begins the conversation: it says what the server can do.
func (s *Server) initialize(p *protocol.InitializeParams) (any, *protocol.Error) {
	for _, f := range p.WorkspaceFolders {
		s.folders = append(s.folders, fileName(f.URI))
	}
	if len(s.folders) == 0 && p.RootURI != "" {
		s.folders = append(s.folders, fileName(p.RootURI))
	}
	if w := p.Capabilities.Workspace; w != nil && w.DidChangeWatchedFiles != nil {
		s.watches = w.DidChangeWatchedFiles.DynamicRegistration
	}
	if t := p.Capabilities.TextDocument; t != nil && t.Completion != nil &&
		t.Completion.CompletionItem != nil {
		s.snippets = t.Completion.CompletionItem.SnippetSupport
	}
	s.state = running
	return protocol.InitializeResult{
		Capabilities: protocol.ServerCapabilities{
			PositionEncoding: protocol.PositionEncodingKindUtf16,
			TextDocumentSync: &protocol.TextDocumentSyncOptions{OpenClose: true,
				Change: protocol.TextDocumentSyncKindIncremental, Save: true},
			DocumentFormattingProvider: true,
			HoverProvider:              true,
			DefinitionProvider:         true,
			DeclarationProvider:        true,
			ReferencesProvider:         true,
			DocumentHighlightProvider:  true,
			DocumentSymbolProvider:     true,
			WorkspaceSymbolProvider:    true,
			RenameProvider:             &protocol.RenameOptions{PrepareProvider: true},
			CodeActionProvider: &protocol.CodeActionOptions{
				CodeActionKinds: []protocol.CodeActionKind{protocol.CodeActionKindQuickFix}},
			CompletionProvider: &protocol.CompletionOptions{
				TriggerCharacters: []string{"`", ":"}},
			SemanticTokensProvider: &protocol.SemanticTokensOptions{Legend: legend, Full: true},
		},
		ServerInfo: &protocol.ServerInfo{Name: "redfox", Version: s.version},
	}, nil
}

// initialized asks the editor to report files that change on disk.
func (s *Server) initialized(*json.RawMessage) {
	if !s.watches {
		return
	}
	options, err := json.Marshal(protocol.DidChangeWatchedFilesRegistrationOptions{
		Watchers: []protocol.FileSystemWatcher{{GlobPattern: "**/*.{logic,project,import}"}}})
	if err != nil {
		return
	}
	s.written(s.conn.Call("watch", "client/registerCapability", protocol.RegistrationParams{
		Registrations: []protocol.Registration{{ID: "watch",
			Method: "workspace/didChangeWatchedFiles", RegisterOptions: options}}}))
}

// shutdown ends the conversation, but for the notification exit.
func (s *Server) shutdown(*json.RawMessage) (any, *protocol.Error) {
	s.state = stopping
	return nil, nil
}

// document returns an open document.
func (s *Server) document(uri string) (*document, *protocol.Error) {
	if d := s.documents[fileName(uri)]; d != nil {
		return d, nil
	}
	return nil, &protocol.Error{Code: int(protocol.ErrorCodesInvalidParams),
		Message: uri + " is not open"}
}

// sortedPrograms returns the programs by their roots.
func (s *Server) sortedPrograms() []*program {
	var out []*program
	for _, root := range slices.Sorted(maps.Keys(s.programs)) {
		out = append(out, s.programs[root])
	}
	return out
}
