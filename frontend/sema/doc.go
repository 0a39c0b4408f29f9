// Package sema gives a syntax tree its meaning: it finds what every name is,
// declares predicates, infers types, brings rules into normal form, proves them
// safe, and orders them in strata.
//
// In: syntax trees of package ast. Out: a program of package core, and
// diagnostics. It must not import anything below the front end but
// internal/scalar. `redfox compile --emit core` prints what it makes.
//
// Not done yet: what the language has beyond its core (entities, constructors,
// default values, delta rules, blocks, series and lists, generative built-ins)
// is recognised and refused by name in unsupported.go.
package sema
