package machine

import (
	"fmt"

	"github.com/redfoxdb/redfox/harmony"
	"github.com/redfoxdb/redfox/harmony/abi"
	"github.com/redfoxdb/redfox/runtime/layout"
	"github.com/redfoxdb/redfox/runtime/woven"
)

// Variable is a relation, an index or groups, as an engine stores them.
type Variable interface {
	// Word returns the word of a parameter about the variable.
	Word(p abi.Param) (int64, error)
	// Clear empties the variable. It may keep its memory.
	Clear() error
	// Release empties the variable and frees its memory.
	Release() error
}

// Variables are the variables of a run.
type Variables map[harmony.Managed]Variable

// Clear empties a variable.
func (v Variables) Clear(m harmony.Managed) error { return v[m].Clear() }

// Free empties a variable. It keeps its memory if it is filled again.
func (v Variables) Free(m harmony.Managed, again bool) error {
	if again {
		return v[m].Clear()
	}
	return v[m].Release()
}

// Param is a parameter of a function, bound to its variable.
type Param struct {
	abi.Param
	Of   Variable // nil for a parameter about no variable
	word int64    // constant during a run
}

// Bind binds the parameters of an entry. If a parameter is neither about a
// variable nor the same on every engine, constant returns its word; an engine
// ignores the word of a parameter that depends on the call.
func (v Variables) Bind(
	b *woven.Bound, e *abi.Entry, constant func(p abi.Param) (int64, error),
) ([]Param, error) {
	list := make([]Param, len(e.Params))
	for i, p := range e.Params {
		q := Param{Param: p}
		if p.Var != "" {
			if q.Of = v[b.Named[p.Var]]; q.Of == nil {
				return nil, fmt.Errorf("%s has a parameter about the unknown variable %s", e.Symbol,
					p.Var)
			}
		}
		var ok bool
		if q.word, ok = b.Constant(e, p); !ok && q.Of == nil {
			var err error
			if q.word, err = constant(p); err != nil {
				return nil, err
			}
		}
		list[i] = q
	}
	return list, nil
}

// Value returns the word of a parameter that does not depend on the call.
func (p *Param) Value() (int64, error) {
	if p.Of != nil {
		return p.Of.Word(p.Param)
	}
	return p.word, nil
}

// Target is a variable that a kernel fills, with the number of its sinks.
type Target[V any] struct {
	To    V
	Sinks int
}

// Targets returns the relations or the groups that the sinks of a kernel fill,
// each once.
func Targets[D interface {
	comparable
	harmony.Managed
}, V comparable](k *harmony.Kernel, all map[D]V) (list []Target[V]) {
sinks:
	for _, s := range k.Sinks {
		var decl harmony.Managed
		switch s := s.(type) {
		case *harmony.Store:
			decl = s.To
		case *harmony.Insert:
			decl = s.To
		case *harmony.Group:
			decl = s.To
		}
		d, ok := decl.(D)
		if !ok {
			continue
		}
		for i := range list {
			if list[i].To == all[d] {
				list[i].Sinks++
				continue sinks
			}
		}
		list = append(list, Target[V]{all[d], 1})
	}
	return list
}

// KeyWord returns the word of a parameter about a table of keys of a set, an
// index or groups: its form, its address and size, and how keys are packed. The
// size is the mask unless keys are addressed directly; where keys are numbers
// of rows, it is that of the rows.
func KeyWord(
	p abi.Param, form abi.Form, lay *layout.Key, table int64, mask uint64,
) (word int64, ok bool) {
	switch p.Kind {
	case abi.SetForm, abi.IndexForm, abi.GroupForm:
		return int64(form), true
	case abi.SetTable, abi.IndexTable, abi.GroupTable:
		return table, true
	case abi.SetSize, abi.IndexSize, abi.GroupSize:
		if (form == abi.None || form == abi.Direct) && !lay.ByRow {
			mask = lay.Size
		}
		return int64(mask), true
	}
	return lay.Word(p)
}

// ErrParam is the error of a parameter that does not belong to its variable.
func ErrParam(p abi.Param) error {
	return fmt.Errorf("%s has no parameter %v", p.Var, p.Kind)
}
