package scalar

import (
	"regexp"
	"strconv"
	"strings"
)

// A template is what string:replacematches puts in place of a match. $1 and
// ${1} are a part of the match, ${name} is a part with a name, and $$ is a
// dollar. Package regexp reads $1x as the part with the name 1x, so templates
// are expanded here.

// piece is a literal text, or a part if it is not negative.
type piece struct {
	text string
	part int
}

// templateOf parses a template for a pattern.
func templateOf(re *regexp.Regexp, text string) ([]piece, error) {
	var out []piece
	for text != "" {
		before, after, found := strings.Cut(text, "$")
		if before != "" {
			out = append(out, piece{before, -1})
		}
		if !found {
			break
		}
		name, rest := partName(after)
		part := -1
		switch n, err := strconv.Atoi(name); {
		case name == "$":
			out = append(out, piece{"$", -1})
		case name == "":
			return nil, &ArgumentError{Arg: 2,
				Message: "a $ stands before the number of a part, or before another $",
				Help:    "write $$ for a dollar"}
		case err != nil:
			if part = re.SubexpIndex(name); part < 0 {
				return nil, noPart(re, name)
			}
		case n > re.NumSubexp():
			return nil, noPart(re, name)
		default:
			part = n
		}
		if part >= 0 {
			out = append(out, piece{part: part})
		}
		text = rest
	}
	return out, nil
}

// partName cuts what follows a dollar: $, a number, or a number or name in
// braces. The name is empty if none of them does.
func partName(s string) (name, rest string) {
	if inside, ok := strings.CutPrefix(s, "{"); ok {
		if name, rest, ok = strings.Cut(inside, "}"); ok {
			return name, rest
		}
		return "", s
	}
	if rest, ok := strings.CutPrefix(s, "$"); ok {
		return "$", rest
	}
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}

// replaceMatches expands a template for each match; not ok if the template is
// malformed.
func replaceMatches(re *regexp.Regexp, text, template string) (string, bool) {
	pieces, err := templateOf(re, template)
	if err != nil {
		return "", false
	}
	var out strings.Builder
	end := 0
	for _, at := range re.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(text[end:at[0]])
		for _, p := range pieces {
			out.WriteString(p.text)
			if p.part >= 0 && at[2*p.part] >= 0 {
				out.WriteString(text[at[2*p.part]:at[2*p.part+1]])
			}
		}
		end = at[1]
	}
	out.WriteString(text[end:])
	return out.String(), true
}

// checkReplacement checks a pattern and a template that are constants.
func checkReplacement(constants []*Value) error {
	if err := checkPattern(constants); err != nil || constants[1] == nil || constants[2] == nil {
		return err
	}
	re, _ := CompilePattern(constants[1].str)
	_, err := templateOf(re, constants[2].str)
	return err
}
