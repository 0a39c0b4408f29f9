// Command generate writes the Go types of the Language Server Protocol.
//
// In: model.json, the part of the protocol's meta-model that the server uses,
// in the form of the meta-model. Out: types.go of package protocol. To use
// another type, copy its entry from the meta-model and run go generate. It
// imports no package of redfox.
package main
