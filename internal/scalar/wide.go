package scalar

// JoinedRow returns a row with one value for the two words of each wide
// decimal.
func JoinedRow(row []Value) []Value { return AppendJoined(make([]Value, 0, len(row)), row) }

// AppendJoined appends JoinedRow(row) to dst.
func AppendJoined(dst, row []Value) []Value {
	for i, v := range row {
		switch v.Type.Word {
		case Whole:
			dst = append(dst, v)
		case High:
			dst = append(dst, JoinWords(v.Type.Scale, v.Int(), row[i+1].Int()))
		}
	}
	return dst
}

// SplitRow is the inverse of JoinedRow.
func SplitRow(row []Value) []Value {
	out := make([]Value, 0, len(row))
	for _, v := range row {
		if !v.Type.IsWide() {
			out = append(out, v)
			continue
		}
		high, low := v.Words()
		out = append(out, high, low)
	}
	return out
}

// wideForm types the joining of two words.
func wideForm(args []Type) ([]Type, Type, error) {
	if args[0].Word != High || args[1] != args[0].WordOf(Low) {
		return nil, Type{}, errNoForm
	}
	return args, args[0].Joined(), nil
}

// wordForm types the functions that take a word of a wide decimal.
func wordForm(w Word) func([]Type) ([]Type, Type, error) {
	return func(args []Type) ([]Type, Type, error) {
		if !args[0].IsWide() {
			return nil, Type{}, errNoForm
		}
		return args, args[0].WordOf(w), nil
	}
}

// evalHigh leaves a number of more than 38 digits as it is, which is too large
// for a word: whoever stores it then finds that it does not fit.
func evalHigh(result Type, args []Value) (Value, bool) {
	n := args[0].Int128()
	if !n.hasDigits(MaxWideScale) {
		return OfInt128(result, n), true
	}
	return OfBits(result, uint64(n.Hi)), true
}
