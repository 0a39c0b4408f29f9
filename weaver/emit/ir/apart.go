package ir

import (
	"slices"

	llvm "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"github.com/redfoxdb/redfox/weaver/expr"
)

// isLong reports whether a primitive is so long, and so rarely asked for more
// than a few rows, that a GPU's code calls it. All others are inlined, once for
// each item.
func isLong(primitive string) bool {
	switch primitive {
	// 200 instructions and more each
	case "rf_i128_quotient", "rf_i128_divide_round", "rf_i128_mean":
		return true
	}
	return false
}

// callApart calls a primitive in a function of its own. The words behind the
// primitive's pointers pass in registers, so that nothing needs an address.
func (f *Function) callApart(callee *llvm.Func, args []value.Value) value.Value {
	f.calls(callee)
	fn := f.apart(callee)
	words := make([]value.Value, len(args))
	for i, a := range args {
		if words[i] = a; isPtr(callee, i) {
			words[i] = f.Load(types.I64, a)
		}
	}
	out := f.callFunc(fn, words...)
	field := uint64(0)
	next := func() value.Value {
		field++
		return f.Cur.NewExtractValue(out, field-1)
	}
	for i, a := range args {
		if isPtr(callee, i) {
			f.Store(next(), a)
		}
	}
	if callee.Sig.RetType.Equal(types.Void) {
		return nil
	}
	return next()
}

func isPtr(callee *llvm.Func, i int) bool { return !callee.Params[i].Typ.Equal(types.I64) }

// apart returns a function that is not inlined and calls a primitive of words
// and pointers to words. It takes words, and returns those behind the pointers
// and then the primitive's result, if there is one. The functions of an entry
// are its own, as its shared memory is: entries that are compiled by themselves
// end up in one text.
func (f *Function) apart(callee *llvm.Func) *llvm.Func {
	for _, a := range f.aparts {
		if a.primitive == callee {
			return a.fn
		}
	}
	var fields []types.Type
	for i := range callee.Params {
		if isPtr(callee, i) {
			fields = append(fields, types.I64)
		}
	}
	result := callee.Sig.RetType
	if !result.Equal(types.Void) {
		fields = append(fields, result)
	}
	all := types.NewStruct(fields...)
	fn := llvm.NewFunc("", all)
	fn.Linkage = enum.LinkageInternal
	fn.FuncAttrs = []llvm.FuncAttribute{enum.FuncAttrNoInline, enum.FuncAttrNoUnwind}
	body := fn.NewBlock("entry")
	args := make([]value.Value, len(callee.Params))
	var places []value.Value
	for i := range callee.Params {
		p := llvm.NewParam("", types.I64)
		fn.Params = append(fn.Params, p)
		fn.Sig.Params = append(fn.Sig.Params, types.I64)
		args[i] = p
		if isPtr(callee, i) {
			a := &llvm.InstAlloca{ElemType: types.I64}
			args[i] = expr.AsPtr(a)
			places = append(places, args[i])
			body.Insts = append(body.Insts, a, &llvm.InstStore{Src: p, Dst: args[i]})
		}
	}
	call := &llvm.InstCall{Callee: callee, Args: args, Typ: result}
	body.Insts = append(body.Insts, call)
	var values []value.Value
	for _, p := range places {
		l := &llvm.InstLoad{ElemType: types.I64, Src: p}
		body.Insts = append(body.Insts, l)
		values = append(values, l)
	}
	if !result.Equal(types.Void) {
		values = append(values, call)
	}
	out := value.Value(constant.NewUndef(all))
	for i, v := range values {
		out = body.NewInsertValue(out, v, uint64(i))
	}
	body.NewRet(out)
	f.addApart(callee, fn)
	return fn
}

// CallRarely calls a primitive without a result, on a GPU in a function of its
// own: what it needs of registers is no part of what the threads have.
func (f *Function) CallRarely(name string, args ...value.Value) {
	if !f.Target.GPU {
		f.Call(name, args...)
		return
	}
	callee := f.Module.primitive(name)
	f.calls(callee)
	at := slices.IndexFunc(f.aparts, func(a apart) bool { return a.primitive == callee })
	if at < 0 {
		fn := llvm.NewFunc("", types.Void)
		fn.Linkage = enum.LinkageInternal
		fn.FuncAttrs = []llvm.FuncAttribute{enum.FuncAttrNoInline, enum.FuncAttrNoUnwind}
		body := fn.NewBlock("entry")
		passed := make([]value.Value, len(callee.Params))
		for i, p := range callee.Params {
			param := llvm.NewParam("", p.Typ)
			fn.Params, fn.Sig.Params = append(fn.Params, param), append(fn.Sig.Params, p.Typ)
			passed[i] = param
		}
		body.Insts = append(body.Insts,
			&llvm.InstCall{Callee: callee, Args: passed, Typ: types.Void})
		body.NewRet(nil)
		at = len(f.aparts)
		f.addApart(callee, fn)
	}
	f.callFunc(f.aparts[at].fn, args...)
}

// addApart adds a function that calls a primitive.
func (f *Function) addApart(callee, fn *llvm.Func) {
	a := apart{callee, fn}
	a.rename(f.Entry.Symbol)
	f.aparts = append(f.aparts, a)
}

// apart is a function of an entry that calls a primitive.
type apart struct{ primitive, fn *llvm.Func }

func (a apart) rename(symbol string) { a.fn.SetName(symbol + "." + a.primitive.Name()) }
