// Package project reads project files, which list the blocks of a program.
//
// In: the text of NAME.project, a line `name, kind` for each block, module or
// library. Out: the files of the program, and which of them are inactive, so
// that they are checked and not run. Paths are relative to the project file.
// Lines about web services, and kinds that redfox does not know, get a note. It
// imports diagnostics only.
package project
