// Package graphgen makes the edges of random graphs, and relations to join.
//
// In: sizes and a seed. Out: edges, which are pairs of numbers from 0, in
// memory or as files. Equal arguments give equal edges, on any number of
// threads. Package main of bench measures redfox on them. This package must not
// import any phase.
package graphgen
