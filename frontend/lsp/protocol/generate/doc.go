// Command generate writes the Go types of the Language Server Protocol.
//
// In: model.json, the part of the protocol's meta-model that the server uses,
// in the form of the meta-model. Its names are those of version 3.18, which
// names the literal types of 3.17; all of it is in 3.17. Out: types.go of
// package protocol. To use another type, add its entry of the meta-model, with
// the properties that matter, and run go generate. It imports no package of
// redfox.
package main
