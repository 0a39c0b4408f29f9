// Package bitpack packs unsigned numbers in a fixed number of bits each.
//
// In: numbers, and a reference that is subtracted from them. Out: little-endian
// words of 64 bits, in which number i begins at bit i times the number of bits,
// and the numbers again. It imports nothing of the project.
package bitpack
