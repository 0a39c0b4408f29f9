package parse

import "github.com/alecthomas/participle/v2/lexer"

// The kinds of token. Each operator is a kind of its own, so that the parser
// compares small integers. The text of a token is always as written, even where
// the scanner has read `==` as `=`.
const (
	tokEOF lexer.TokenType = lexer.EOF

	tokIdent lexer.TokenType = iota // a name, a variable, `_`, or a contextual keyword
	tokInt
	tokDecimal
	tokFloat
	tokString   // with its quotes
	tokDatetime // #...#
	tokQuoted   // `name
	tokRaw      // the text between << and >> that is not LogiQL
	tokP2P      // agg, seq and their kin, before <<

	tokDot         // .
	tokComma       // ,
	tokSemicolon   // ;
	tokNot         // !
	tokEq          // =
	tokNe          // !=
	tokLt          // <
	tokLe          // <=
	tokGt          // >
	tokGe          // >=
	tokPlus        // +
	tokMinus       // -
	tokStar        // *
	tokSlash       // /
	tokCaret       // ^
	tokAt          // @
	tokColon       // :
	tokPlusEq      // +=
	tokLArrow      // <-
	tokRArrow      // ->
	tokLLArrow     // <--
	tokRRArrow     // -->
	tokLShift      // <<
	tokRShift      // >>
	tokLParen      // (
	tokRParen      // )
	tokLBracket    // [
	tokRBracket    // ]
	tokLBrace      // {
	tokRBrace      // }
	tokQuotedBrace // `{
	tokBad         // what the scanner has reported; it has no meaning

	tokFormula // a run of tokens, in the grammar of specifiers only
)

// token is one token of the scanner: bytes [start, end) of the file.
type token struct {
	kind       lexer.TokenType
	start, end int
}
