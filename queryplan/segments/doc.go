// Package segments cuts a plan into parts that run one after another, on
// different engines if need be.
//
// In: a plan. Out: its pieces, which are the smallest such parts, and plans of
// successive pieces. What a piece derives is an input of the plans of later
// pieces. A loop is in one piece, and so are all commands that fill a variable
// or read a version of it. A loop can be resumed: its plan begins with what the
// loop has derived so far (resume.go). `redfox run --stats` lists the segments
// of a run that had several. It knows no engine and imports queryplan only.
package segments
