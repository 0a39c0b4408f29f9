package primitives

import (
	"embed"
	"regexp"
	"strings"
	"sync"
)

// Primitive describes one function of the library.
type Primitive struct {
	Name string
	File string // the header in src that defines it

	// Doc says what the function does, in sentences.
	Doc string
	// Signature is the function's prototype in C, without a semicolon, its
	// types int32_t, int64_t, uint8_t, uint32_t, uint64_t, void and pointers to
	// them.
	Signature string
	// Phases are the function's steps in order, where it has several.
	Phases string
	// Collective says that all threads of a block call it together.
	Collective bool
	// Barriers says how many of the block's barriers a collective function
	// passes, and what it asks of the number of threads.
	Barriers string
	// Cost says what a call costs beside its barriers.
	Cost string
	// ScratchFormula is Scratch as a formula of threads, items, warps (of 32
	// threads, rounded up) and tile (threads * items); empty for none.
	ScratchFormula string
}

// Prototype returns the signature in LLVM's names of types: the result, void
// for none, and the parameters.
func (p *Primitive) Prototype() (result string, params []string) {
	head, list, _ := strings.Cut(strings.TrimSuffix(p.Signature, ")"), "(")
	result = llvmType(strings.TrimSuffix(head, p.Name))
	for param := range strings.SplitSeq(list, ",") {
		if t := llvmType(param); t != "void" {
			params = append(params, t)
		}
	}
	return result, params
}

// llvmType reads a C type, with or without the name of what has it.
func llvmType(c string) string {
	if strings.Contains(c, "*") {
		return "ptr"
	}
	for _, word := range strings.Fields(c) {
		switch word {
		case "int64_t", "uint64_t":
			return "i64"
		case "int32_t", "uint32_t":
			return "i32"
		case "uint8_t":
			return "i8"
		}
	}
	return "void"
}

// CallPrefix stands before the name of a primitive of whole tiles that code for
// a CPU calls instead of inlining it: a call costs nothing beside a tile of
// rows, and code is compiled in a fraction of the time. Package
// weaver/assemble/hostcode has what is called.
const CallPrefix = "call_"

// WholeTile says that one call works on all items of a tile, or of the block.
func (p *Primitive) WholeTile() bool {
	return p.Collective || p.OfItems() || strings.Contains(p.Name, "_tile_")
}

// OfItems says that a call has loops over a thread's items.
func (p *Primitive) OfItems() bool { return strings.HasSuffix(p.Signature, "int32_t items)") }

// Scratch returns the bytes of shared memory that a call needs.
func (p *Primitive) Scratch(threads, items int) int {
	size := scratch[p.Name]
	if size == nil {
		return 0
	}
	return size(shape{threads: threads, warps: (threads + 31) / 32, tile: threads * items})
}

// shape is a tile's, as scratch depends on it.
type shape struct{ threads, warps, tile int }

func wordPerWarp(s shape) int { return 8 * s.warps }
func oneWord(shape) int       { return 8 }
func wordPerRow(s shape) int  { return 8 * s.tile }

// scratch holds the sizes of all primitives that need any. The headers state
// them as formulas.
var scratch = map[string]func(shape) int{
	"rf_block_scan_u32":     func(s shape) int { return 4 * s.warps },
	"rf_block_scan_i64":     wordPerWarp,
	"rf_block_scan_max_i64": wordPerWarp,
	"rf_block_sum_i64":      wordPerWarp,
	"rf_block_min_i64":      wordPerWarp,
	"rf_block_max_i64":      wordPerWarp,
	"rf_block_sum_i128":     wordPerWarp,
	"rf_block_rank":         wordPerWarp,
	"rf_block_compact":      wordPerRow,
	"rf_block_reserve":      oneWord,
	"rf_block_ticket":       oneWord,
	"rf_block_lookback":     oneWord,
	"rf_tile_share":         wordPerRow,
	"rf_expand_begin":       wordPerWarp,
	"rf_block_merge":        func(s shape) int { return 16 + 8*s.tile },
	"rf_block_heads":        func(s shape) int { return 2 * s.tile },
	"rf_block_segment_sums": func(s shape) int { return 16 * s.warps },
}

//go:embed src/*.h
var sources embed.FS

// headers are the files with primitives, in the catalogue's order: that of
// src/all.h.
var headers = sync.OnceValue(func() []string {
	var names []string
	for _, m := range regexp.MustCompile(`#include "(\w+\.h)"`).FindAllStringSubmatch(readSource("all.h"), -1) {
		names = append(names, m[1])
	}
	return names
})

// readSource returns the text of a file that is embedded.
func readSource(name string) string {
	text, err := sources.ReadFile("src/" + name)
	if err != nil {
		panic("primitives: the embedded sources lack " + name)
	}
	return string(text)
}

var catalogue = sync.OnceValue(func() []Primitive {
	// A comment block, then the head of a function up to its body.
	definition := regexp.MustCompile(`(?m)((?:^//.*\n)+)RF_PRIMITIVE ([^{]+?)\s*\{`)
	var out []Primitive
	for _, name := range headers() {
		for _, m := range definition.FindAllStringSubmatch(readSource(name), -1) {
			out = append(out, describe(name, m[1], m[2]))
		}
	}
	return out
})

// describe reads one function's comment and head.
func describe(file, comment, head string) Primitive {
	p := Primitive{File: file, Signature: strings.Join(strings.Fields(head), " ")}
	p.Name = regexp.MustCompile(`rf_\w+`).FindString(p.Signature)
	fields := map[string]*string{
		"Phases": &p.Phases, "Barriers": &p.Barriers, "Scratch": &p.ScratchFormula, "Cost": &p.Cost,
	}
	var doc []string
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "//"))
		label, text, _ := strings.Cut(line, ": ")
		if field := fields[label]; field != nil {
			*field = text
			continue
		}
		doc = append(doc, line)
	}
	p.Doc = strings.TrimSpace(strings.Join(doc, " "))
	// The text after the first comma is an explanation.
	p.ScratchFormula, _, _ = strings.Cut(p.ScratchFormula, ",")
	p.Collective = p.Barriers != ""
	return p
}

// Catalogue returns all primitives, grouped by subject.
func Catalogue() []Primitive { return append([]Primitive(nil), catalogue()...) }

// Lookup returns the primitive of a name.
func Lookup(name string) (Primitive, bool) {
	for _, p := range catalogue() {
		if p.Name == name {
			return p, true
		}
	}
	return Primitive{}, false
}
