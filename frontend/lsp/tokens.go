package lsp

import (
	"strings"

	"github.com/redfoxdb/redfox/frontend/lsp/protocol"
	"github.com/redfoxdb/redfox/frontend/parse"
	"github.com/redfoxdb/redfox/internal/scalar"
)

// legend has the types and modifiers of semantic tokens, by their numbers.
var legend = protocol.SemanticTokensLegend{
	TokenTypes: []string{
		string(protocol.SemanticTokenTypesFunction), string(protocol.SemanticTokenTypesClass),
		string(protocol.SemanticTokenTypesType), string(protocol.SemanticTokenTypesVariable),
		string(protocol.SemanticTokenTypesMacro), string(protocol.SemanticTokenTypesKeyword),
		string(protocol.SemanticTokenTypesComment), string(protocol.SemanticTokenTypesString),
		string(protocol.SemanticTokenTypesNumber), string(protocol.SemanticTokenTypesOperator),
	},
	TokenModifiers: []string{
		string(protocol.SemanticTokenModifiersDeclaration),
		string(protocol.SemanticTokenModifiersDefinition),
		string(protocol.SemanticTokenModifiersDefaultLibrary),
	},
}

// The types of tokens, as the legend numbers them.
const (
	functionToken = iota
	classToken
	typeToken
	variableToken
	macroToken
	keywordToken
	commentToken
	stringToken
	numberToken
	operatorToken
)

// The modifiers of tokens, as the legend numbers them.
const (
	declarationModifier = 1 << iota
	definitionModifier
	libraryModifier
)

// semanticTokens classifies the tokens of a document.
func (s *Server) semanticTokens(p *protocol.SemanticTokensParams) (any, *protocol.Error) {
	d, failure := s.document(p.TextDocument.URI)
	if failure != nil {
		return nil, failure
	}
	snap := s.refreshed(d)
	f := snap.files[d.name]
	e := tokenEncoder{lines: f.lines, data: []int{}}
	if f.index == nil {
		return protocol.SemanticTokens{Data: e.data}, nil
	}
	entries := f.index.entries
	tokens := parse.Tokens(f.File)
	for i, t := range tokens {
		start, end := t.Span.Start, t.Span.End
		for len(entries) > 0 && entries[0].span.Start < start {
			entries = entries[1:]
		}
		// A token may hold several names: x:v, the argument of a refmode.
		for t.Kind == parse.Name && len(entries) > 0 && entries[0].span.Start < end {
			e.add(entries[0].span.Start, entries[0].span.End, entries[0].token())
			start, entries = end, entries[1:]
		}
		if start < end {
			e.add(start, end, classify(tokens, i))
		}
	}
	return protocol.SemanticTokens{Data: e.data}, nil
}

// classification is the type and the modifiers of a token.
type classification struct{ typ, modifiers int }

// none is the classification of tokens that are left to the grammar.
var none = classification{typ: -1}

// token classifies a name by what it means.
func (e *entry) token() classification {
	switch e.kind {
	case variable:
		return classification{typ: variableToken}
	case function, aggregate:
		return classification{functionToken, libraryModifier}
	case typeName:
		return classification{typeToken, libraryModifier}
	case directive:
		return classification{typ: macroToken}
	case blockName:
		return classification{typ: functionToken}
	}
	c := classification{typ: functionToken}
	if e.symbolKind() == protocol.SymbolKindClass {
		c.typ = classToken
	}
	switch e.role {
	case declared:
		c.modifiers = declarationModifier
	case derived, stated:
		c.modifiers = definitionModifier
	}
	return c
}

// classify classifies a token by itself and the one behind it.
func classify(tokens []parse.Token, i int) classification {
	text := tokens[i].Span.Text()
	switch tokens[i].Kind {
	case parse.Name:
		next := ""
		if i+1 < len(tokens) {
			next = tokens[i+1].Span.Text()
		}
		return classifyName(text, next)
	case parse.Number:
		return classification{typ: numberToken}
	case parse.String, parse.Datetime:
		return classification{typ: stringToken}
	case parse.Quoted:
		return classification{typ: functionToken}
	case parse.Specifier:
		return classification{typ: keywordToken}
	case parse.Comment:
		return classification{typ: commentToken}
	case parse.Operator:
		return classification{typ: operatorToken}
	}
	return none
}

// opens reports whether a token opens the arguments of a name before it.
func opens(t parse.Token) bool {
	text := t.Span.Text()
	return text == "(" || text == "["
}

// classifyName classifies a name that the index does not have: a keyword, or a
// name in a clause with a syntax error. Next is the token behind it.
func classifyName(name, next string) classification {
	hasArguments := next == "(" || next == "["
	switch {
	case name == "true", name == "false", name == "in" && next == "{",
		name == "if", name == "then", name == "else":
		return classification{typ: keywordToken}
	case name == "_":
		return none
	case !hasArguments:
		return classification{typ: variableToken}
	case scalar.IsBuiltin(name):
		return classification{functionToken, libraryModifier}
	case scalar.IsPrimitive(name):
		return classification{typeToken, libraryModifier}
	case strings.HasPrefix(name, "lang:"):
		return classification{typ: macroToken}
	}
	return classification{typ: functionToken}
}

// tokenEncoder writes tokens as the protocol has them: five numbers for each,
// its place relative to the one before.
type tokenEncoder struct {
	lines *lineTable
	last  protocol.Position
	data  []int
}

// add writes the token between two offsets, in one piece for each of its lines.
func (e *tokenEncoder) add(start, end int, c classification) {
	if c.typ < 0 {
		return
	}
	for start < end {
		from := e.lines.position(start)
		stop := end
		if from.Line+1 < len(e.lines.starts) {
			stop = min(end, e.lines.starts[from.Line+1])
		}
		text := strings.TrimRight(e.lines.text[start:stop], "\r\n")
		if to := e.lines.position(start + len(text)); to != from {
			column := from.Character
			if from.Line == e.last.Line {
				column -= e.last.Character
			}
			e.data = append(e.data, from.Line-e.last.Line, column, to.Character-from.Character,
				c.typ, c.modifiers)
			e.last = from
		}
		start = stop
	}
}
