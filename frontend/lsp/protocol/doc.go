// Package protocol has the messages of the Language Server Protocol: the types
// that the server uses, generated from the protocol's meta-model, and the
// framing of JSON-RPC over a pair of streams.
//
// In: bytes from an editor. Out: requests and notifications, and back. It must
// not import any package of redfox.
package protocol

//go:generate go run ./generate
