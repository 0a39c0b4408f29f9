// Package lsp is the language server: it answers an editor's questions about
// LogiQL programs, over the Language Server Protocol.
//
// In: messages of package protocol, and files of programs. Out: diagnostics,
// and what the front end knows about the names in a program. A file belongs to
// the project that lists it, in its folder or one above, or is a program of its
// own. Open documents override the files on disk. After each edit, the whole
// program is checked again.
//
// It imports the front end, and must not import any later phase.
package lsp
