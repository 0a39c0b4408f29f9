// Package govalue converts between values of LogiQL and Go values, which facts
// may be given as and results come out as. Of redfox it imports internal/scalar
// alone.
package govalue
