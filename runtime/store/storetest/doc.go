// Package storetest makes schemas for the tests of the rooms of runtime/store
// and prints relations. It imports runtime/store and must not import what reads
// or writes files.
package storetest
