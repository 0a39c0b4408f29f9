// Package runtime is the vocabulary of running plans: what an engine is asked,
// what it answers, and how it fails. The engines are the packages below it.
//
// In: a plan and a database of facts. Out: relations. It must not import the
// front end, other than source, nor a compiler pass.
package runtime
