package scalar

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
)

// Regular expressions have RE2's syntax, so matching takes linear time.

// maxPatterns bounds the patterns that stay compiled. A program has few; those
// that data holds may be many.
const maxPatterns = 256

// patterns has compiled patterns by text, and errors of texts that are none.
var patterns struct {
	sync.RWMutex
	known map[string]any
}

// CompilePattern compiles a regular expression, or finds it compiled.
func CompilePattern(text string) (*regexp.Regexp, error) {
	patterns.RLock()
	known := patterns.known[text]
	patterns.RUnlock()
	if known == nil {
		if re, err := regexp.Compile(text); err != nil {
			known = patternError(err)
		} else {
			known = re
		}
		patterns.Lock()
		if patterns.known == nil || len(patterns.known) >= maxPatterns {
			patterns.known = map[string]any{}
		}
		patterns.known[text] = known
		patterns.Unlock()
	}
	if err, ok := known.(error); ok {
		return nil, err
	}
	return known.(*regexp.Regexp), nil
}

// patternError words an error of package regexp.
func patternError(err error) error {
	out := &ArgumentError{Arg: 1, Message: "the pattern is no regular expression: " +
		strings.TrimPrefix(err.Error(), "error parsing regexp: ")}
	var in *syntax.Error
	if !errors.As(err, &in) {
		return out
	}
	switch at := in.Expr; {
	case strings.HasPrefix(at, "(?=") || strings.HasPrefix(at, "(?!") ||
		strings.HasPrefix(at, "(?<=") || strings.HasPrefix(at, "(?<!"):
		out.Help = "RE2 has no lookahead and no lookbehind; test several patterns instead"
	case len(at) == 2 && at[0] == '\\' && '1' <= at[1] && at[1] <= '9':
		out.Help = "RE2 has no back references; compare two parts of string:captures instead"
	case in.Code == syntax.ErrMissingRepeatArgument:
		out.Help = fmt.Sprintf("%s repeats what stands before it; .* is any run of characters", at)
	case in.Code == syntax.ErrMissingParen || in.Code == syntax.ErrUnexpectedParen ||
		in.Code == syntax.ErrMissingBracket:
		out.Help = `two backslashes in the string quote the next character, as in "\\("`
	}
	return out
}

func evalMatches(_ Type, args []Value) (Value, bool) {
	re, err := CompilePattern(args[1].str)
	if err != nil {
		return Value{}, false
	}
	return OfBool(re.MatchString(args[0].str)), true
}

func evalCaptures(_ Type, args []Value) (Value, bool) {
	re, err := CompilePattern(args[1].str)
	group := args[2].Int()
	if err != nil || group < 0 || group > int64(re.NumSubexp()) {
		return Value{}, false
	}
	at := re.FindStringSubmatchIndex(args[0].str)
	if at == nil || at[2*group] < 0 {
		return Value{}, false
	}
	return OfString(args[0].str[at[2*group]:at[2*group+1]]), true
}

func evalReplaceMatches(_ Type, args []Value) (Value, bool) {
	re, err := CompilePattern(args[1].str)
	if err != nil {
		return Value{}, false
	}
	out, ok := replaceMatches(re, args[0].str, args[2].str)
	return OfString(out), ok
}

// checkPattern checks a pattern that is a constant.
func checkPattern(constants []*Value) error {
	if constants[1] == nil {
		return nil
	}
	_, err := CompilePattern(constants[1].str)
	return err
}

// checkCaptures checks a pattern and a group that are constants.
func checkCaptures(constants []*Value) error {
	if err := checkPattern(constants); err != nil || constants[1] == nil || constants[2] == nil {
		return err
	}
	re, _ := CompilePattern(constants[1].str)
	if group, n := constants[2].Int(), re.NumSubexp(); group < 0 || group > int64(n) {
		return noPart(re, strconv.FormatInt(group, 10))
	}
	return nil
}

// noPart is the error of a part that a pattern does not have.
func noPart(re *regexp.Regexp, part string) error {
	return &ArgumentError{Arg: 2, Message: fmt.Sprintf(
		"the pattern has %s in parentheses, so there is no part %s",
		plural(re.NumSubexp(), "part"), part)}
}
