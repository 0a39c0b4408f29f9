// Package randvalue draws random values for tests.
//
// In: a source of random numbers and a type. It imports internal/scalar alone.
package randvalue
