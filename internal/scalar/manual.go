package scalar

import (
	"slices"
	"strings"
)

// Chapter is a part of the manual's list of functions.
type Chapter struct {
	Title   string
	Entries []Entry
}

// Entry describes a function to users.
type Entry struct {
	// Forms are calls with the types of the arguments and of the result. Those
	// of conversions are their names.
	Forms []string
	// Names are the other names by which programs may call the function.
	Names []string
	Doc   string
	// Examples are conditions that hold, and Without calls that have no value.
	Examples []string
	Without  []string
}

// The titles of the chapters, in order.
const (
	chapterOperators   = "Operators"
	chapterTruth       = "Truth values"
	chapterNumbers     = "Numbers"
	chapterBits        = "Bits"
	chapterStrings     = "Strings"
	chapterDates       = "Dates"
	chapterConversions = "Conversions"
)

// Manual returns what programs may call, by chapter.
func Manual() []Chapter {
	var out []Chapter
	for _, title := range []string{chapterOperators, chapterNumbers, chapterBits, chapterStrings,
		chapterDates, chapterConversions, chapterTruth} {
		c := Chapter{Title: title}
		for _, f := range table {
			if f.chapter() == title {
				c.Entries = append(c.Entries, f.entry())
			}
		}
		out = append(out, c)
	}
	return out
}

// EntryOf describes the function of a name that programs may call.
func EntryOf(name string) (Entry, bool) {
	f := Lookup(name)
	if f == nil || f.chapter() == "" || !strings.Contains(name, ":") && symbols[name] == "" {
		return Entry{}, false
	}
	return f.entry(), true
}

// chapter returns the title of the function's chapter, "" for a function that
// only the compiler calls.
func (f *Func) chapter() string {
	prefix, _, ofOneType := strings.Cut(f.Name, ":")
	switch {
	case f == funcConvert:
		return chapterConversions
	case symbols[f.Name] != "":
		return chapterOperators
	case !ofOneType && len(f.textForms) == 0:
		return ""
	case slices.Equal(f.families, []Kind{Boolean}):
		return chapterTruth
	case strings.HasPrefix(f.Name, "bit") || strings.HasPrefix(f.Name, "sh"):
		return chapterBits
	case prefix == "string":
		return chapterStrings
	case prefix == "datetime":
		return chapterDates
	}
	return chapterNumbers
}

func (f *Func) entry() Entry {
	e := Entry{Doc: f.Doc}
	if f == funcConvert {
		for _, name := range callable() {
			if _, _, ok := conversion(name); ok {
				e.Forms = append(e.Forms, name)
			}
		}
	} else {
		e.Forms, e.Names = f.signatures()
	}
	for _, example := range f.Examples {
		call, value, ok := f.written(example[0], example[1])
		operator := !strings.Contains(call, "[") && f.chapter() == chapterOperators
		switch {
		case !ok:
		case value == "":
			e.Without = append(e.Without, call)
		case operator && value == "true":
			e.Examples = append(e.Examples, call)
		case operator && value == "false":
			e.Examples = append(e.Examples, "!("+call+")")
		default:
			e.Examples = append(e.Examples, call+" = "+value)
		}
	}
	return e
}

// signatures returns the calls of the function as a user writes them first, and
// its other names.
func (f *Func) signatures() (forms, names []string) {
	shown := map[string]bool{}
	add := func(name string) {
		for form := range strings.SplitSeq(strings.TrimPrefix(f.forms(name), "it has "), " and ") {
			forms = append(forms, form+f.resultOf(name, form))
		}
		shown[name] = true
	}
	switch {
	case symbols[f.Name] != "" || len(f.textForms) == 0:
		add(f.Name)
	default:
		for _, p := range prefixes {
			if !p.sized && slices.Contains(f.families, p.Kind) {
				add(p.name + ":" + f.textForms[0])
			}
		}
	}
	for _, name := range f.Aliases() {
		if !shown[name] {
			names = append(names, name)
		}
	}
	return forms, names
}

// resultOf words the type of a call's result, if the types of the arguments in
// its form determine it.
func (f *Func) resultOf(name, form string) string {
	_, list, _ := strings.Cut(strings.TrimSuffix(form, "]"), "[")
	var args []Type
	for word := range strings.SplitSeq(list, ", ") {
		if t, ok := ParseType(word); ok {
			args = append(args, t)
		}
	}
	sig, err := Resolve(name, args)
	if err != nil {
		return ""
	}
	return " = " + sig.Result.String()
}

// written returns an example in LogiQL: the call, and the value or "" for none.
// It reports false if LogiQL has no literal for one of the values.
func (f *Func) written(call, value string) (string, string, bool) {
	name, rest, _ := strings.Cut(call, "[")
	symbol, operator := symbols[name]
	var args []string
	for rest = strings.TrimSuffix(rest, "]"); rest != ""; rest = strings.TrimPrefix(rest, ", ") {
		_, n, err := ScanLiteral(rest)
		if err != nil {
			return "", "", false
		}
		text, plain := untyped(rest[:n])
		if !plain && (operator || text == "") {
			return "", "", false
		}
		args = append(args, text)
		rest = rest[n:]
	}
	text, plain := untyped(value)
	switch {
	case value != "" && text == "", operator && !plain, operator && len(args) == 1:
		return "", "", false
	case operator:
		call = args[0] + " " + symbol + " " + args[1]
	default:
		call = name + "[" + strings.Join(args, ", ") + "]"
	}
	return call, text, true
}

// untyped returns a literal without its type, or "" if it is no literal of
// LogiQL then. It reports whether there was no type.
func untyped(literal string) (text string, plain bool) {
	if strings.HasPrefix(literal, `"`) || strings.HasPrefix(literal, "#") {
		return literal, true
	}
	text, _, typed := strings.Cut(literal, ":")
	if strings.HasSuffix(text, "nan") || strings.HasSuffix(text, "inf") {
		return "", false
	}
	return text, !typed
}
