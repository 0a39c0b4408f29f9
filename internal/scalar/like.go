package scalar

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Like is a compiled pattern of string:like: % stands for any run of
// characters, _ for one code point, and a backslash takes the next character
// literally.
//
// A pattern of whole characters without _ is a list of texts to find one after
// the other. One with _ is run as a nondeterministic automaton whose set of
// states is a bit vector (Baeza-Yates and Gonnet's shift-and), so that time is
// linear in the text.
type Like struct {
	// pieces are the literal texts between the %, the first and last anchored
	// at the ends; used when masks is nil.
	pieces   []string
	prefix   string
	literals []string // the texts between any wildcards

	masks   map[rune][]uint64      // positions of the pattern that a character passes
	anyMask []uint64               // positions that every character passes: _
	loops   []uint64               // positions in front of which a % stands
	length  int                    // positions, not counting %
	ascii   *[utf8.RuneSelf]uint64 // masks of ASCII characters, if they are of one word
}

// ErrLikeEscape is the error of a pattern that ends in a lone backslash.
var ErrLikeEscape = errors.New(`the pattern ends in a lone backslash; write \\ for a backslash`)

// CompileLike compiles a pattern.
func CompileLike(pattern string) (*Like, error) {
	l := &Like{pieces: []string{""}}
	var items []rune // the characters, with wildOne for _ and wildRun for %
	ones, text := false, ""
	end := func() {
		if text != "" {
			l.literals = append(l.literals, text)
		}
		text = ""
	}
	for i := 0; i < len(pattern); {
		r, size := decode(pattern[i:])
		from := i
		i += size
		switch r {
		case '%':
			end()
			items = append(items, wildRun)
			l.pieces = append(l.pieces, "")
			continue
		case '_':
			end()
			items = append(items, wildOne)
			ones = true
			continue
		case '\\':
			if i == len(pattern) {
				return nil, ErrLikeEscape
			}
			r, size = decode(pattern[i:])
			from = i
			i += size
		}
		items = append(items, r)
		char := pattern[from:i]
		text += char
		l.pieces[len(l.pieces)-1] += char
		if !ones && len(l.pieces) == 1 {
			l.prefix += char
		}
	}
	end()
	// A broken byte of a pattern must not match within a character of the text.
	if ones || !utf8.ValidString(pattern) {
		l.build(items)
	}
	return l, nil
}

// Runes that stand for wildcards, above all code points and broken bytes.
const (
	brokenByte = utf8.MaxRune + 1
	wildOne    = brokenByte + 0x100
	wildRun    = wildOne + 1
)

// decode is utf8.DecodeRuneInString that keeps broken bytes apart.
func decode(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return brokenByte + rune(s[0]), 1
	}
	return r, size
}

func (l *Like) build(items []rune) {
	for _, r := range items {
		if r != wildRun {
			l.length++
		}
	}
	words := l.length/64 + 1
	l.masks = map[rune][]uint64{}
	l.anyMask = make([]uint64, words)
	l.loops = make([]uint64, words)
	at := 0
	for _, r := range items {
		word, bit := at/64, uint64(1)<<(at%64)
		switch r {
		case wildRun:
			l.loops[word] |= bit
			continue
		case wildOne:
			l.anyMask[word] |= bit
		default:
			if l.masks[r] == nil {
				l.masks[r] = make([]uint64, words)
			}
			l.masks[r][word] |= bit
		}
		at++
	}
	for _, mask := range l.masks {
		for i := range mask {
			mask[i] |= l.anyMask[i]
		}
	}
	if words > 1 {
		return
	}
	l.ascii = new([utf8.RuneSelf]uint64)
	for r := range l.ascii {
		l.ascii[r] = l.maskOf(rune(r))[0]
	}
}

// maskOf returns the positions that a character passes.
func (l *Like) maskOf(r rune) []uint64 {
	if mask := l.masks[r]; mask != nil {
		return mask
	}
	return l.anyMask
}

// Prefix returns the literal text that every match starts with, unescaped: a
// sorted dictionary need only be searched between it and its successor.
func (l *Like) Prefix() string { return l.prefix }

// Literal reports whether the pattern has no wildcard, so that it matches
// Prefix only.
func (l *Like) Literal() bool { return l.masks == nil && len(l.pieces) == 1 }

// Open reports whether every text that begins with Prefix matches.
func (l *Like) Open() bool {
	return l.masks == nil && len(l.pieces) == 2 && l.pieces[1] == ""
}

// Literals returns texts that are in every match, one behind the other. Prefix,
// if there is one, is the first.
func (l *Like) Literals() []string { return l.literals }

// Match reports whether the whole of s matches the pattern.
func (l *Like) Match(s string) bool {
	switch {
	case l.ascii != nil:
		return l.matchWord(s)
	case l.masks != nil:
		return l.matchStates(s)
	}
	last := len(l.pieces) - 1
	if last == 0 {
		return s == l.pieces[0]
	}
	if !strings.HasPrefix(s, l.pieces[0]) {
		return false
	}
	s = s[len(l.pieces[0]):]
	if !strings.HasSuffix(s, l.pieces[last]) {
		return false
	}
	s = s[:len(s)-len(l.pieces[last])]
	for _, piece := range l.pieces[1:last] {
		// The earliest place leaves the most for the pieces that follow.
		at := strings.Index(s, piece)
		if at < 0 {
			return false
		}
		s = s[at+len(piece):]
	}
	return true
}

// matchStates keeps in bit i of states whether the first i positions of the
// pattern match the text read so far.
func (l *Like) matchStates(s string) bool {
	var small [4]uint64
	var states []uint64
	if len(l.loops) > len(small) {
		states = make([]uint64, len(l.loops))
	} else {
		states = small[:len(l.loops)]
	}
	states[0] = 1
	for i := 0; i < len(s); {
		r, size := decode(s[i:])
		i += size
		mask := l.maskOf(r)
		carry, alive := uint64(0), uint64(0)
		for w := range states {
			passed := states[w] & mask[w]
			stay := states[w] & l.loops[w]
			states[w] = passed<<1 | carry | stay
			carry = passed >> 63
			alive |= states[w]
		}
		if alive == 0 {
			return false
		}
	}
	return states[l.length/64]>>(l.length%64)&1 == 1
}

// matchWord is matchStates of patterns whose states fit a word.
func (l *Like) matchWord(s string) bool {
	states, loops, matched := uint64(1), l.loops[0], uint64(1)<<l.length
	for i := 0; i < len(s); {
		var mask uint64
		if c := s[i]; c < utf8.RuneSelf {
			mask = l.ascii[c]
			i++
		} else {
			r, size := decode(s[i:])
			mask = l.maskOf(r)[0]
			i += size
		}
		states = states&mask<<1 | states&loops
		switch {
		case states == 0:
			return false
		case states&loops&matched != 0:
			return true // the pattern ends in %
		}
	}
	return states&matched != 0
}
