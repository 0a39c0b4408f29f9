package scalar

import (
	"strings"
	"unicode/utf8"
)

func evalLike(_ Type, args []Value) (Value, bool) {
	l, err := CompileLike(args[1].str)
	if err != nil {
		return Value{}, false
	}
	return OfBool(l.Match(args[0].str)), true
}

func evalNotLike(t Type, args []Value) (Value, bool) {
	v, ok := evalLike(t, args)
	return OfBool(!v.Bool()), ok
}

func checkLike(constants []*Value) error {
	if constants[1] == nil {
		return nil
	}
	_, err := CompileLike(constants[1].str)
	return err
}

func evalLength(_ Type, args []Value) (Value, bool) {
	return OfInt(IntType, int64(utf8.RuneCountInString(args[0].str))), true
}

func evalSubstring(_ Type, args []Value) (Value, bool) {
	return OfString(Substring(args[0].str, args[1].Int(), args[2].Int())), true
}

// Substring returns the code points of s whose index, from 0, is at least start
// and less than start+length. What lies outside of s is left out, so a start
// before the text shortens the result.
func Substring(s string, start, length int64) string {
	n := int64(len(s)) // no string has more code points than bytes
	if length <= 0 || start >= n {
		return ""
	}
	if start < 0 {
		length += start
		start = 0
	}
	if length <= 0 {
		return ""
	}
	from := skip(s, start)
	return s[from : from+skip(s[from:], min(length, n))]
}

// skip returns the number of bytes of the first n code points of s.
func skip(s string, n int64) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

func evalUpper(_ Type, args []Value) (Value, bool) {
	return OfString(strings.ToUpper(args[0].str)), true
}

func evalLower(_ Type, args []Value) (Value, bool) {
	return OfString(strings.ToLower(args[0].str)), true
}

func evalTrim(_ Type, args []Value) (Value, bool) {
	return OfString(strings.TrimSpace(args[0].str)), true
}

func evalReplace(_ Type, args []Value) (Value, bool) {
	if args[1].str == "" {
		return args[0], true
	}
	return OfString(strings.ReplaceAll(args[0].str, args[1].str, args[2].str)), true
}

func evalIndexOf(_ Type, args []Value) (Value, bool) {
	at := strings.Index(args[0].str, args[1].str)
	if at > 0 {
		at = utf8.RuneCountInString(args[0].str[:at])
	}
	return OfInt(IntType, int64(at)), true
}

func evalChr(_ Type, args []Value) (Value, bool) {
	n := args[0].Int()
	if n < 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return Value{}, false
	}
	return OfString(string(rune(n))), true
}

func evalSplit(_ Type, args []Value) (Value, bool) {
	rest, delimiter, index := args[0].str, args[1].str, args[2].Int()
	if delimiter == "" || index < 0 {
		return Value{}, false
	}
	for ; index > 0; index-- {
		var found bool
		if _, rest, found = strings.Cut(rest, delimiter); !found {
			return Value{}, false
		}
	}
	part, _, _ := strings.Cut(rest, delimiter)
	return OfString(part), true
}

func evalHash(_ Type, args []Value) (Value, bool) {
	return OfInt(IntType, int64(HashString(args[0].str))), true
}

// HashString is string:hash: the 64-bit FNV-1a hash of the UTF-8 bytes. It is
// the same on every engine, machine and day, and simple enough to run anywhere;
// it does not resist an adversary.
func HashString(s string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * prime
	}
	return h
}
