package normal

import "github.com/redfoxdb/redfox/frontend/ast"

// Scope holds the variables of one conjunction: of a body, or of the inside of
// a negation. A name belongs to the outermost conjunction in which it occurs
// outside further negations.
type Scope struct {
	Parent *Scope
	// Vars has the names that are written in the conjunction, with nil until a
	// variable is made.
	Vars map[string]*Var
}

// NewScope returns an empty scope inside another one, which may be nil.
func NewScope(parent *Scope) *Scope {
	return &Scope{Parent: parent, Vars: map[string]*Var{}}
}

// Note enters the names that occur in n outside negation.
func (s *Scope) Note(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Not:
			return false
		case *ast.Var:
			s.Write(n.Name)
		}
		return true
	})
}

// Write enters a name.
func (s *Scope) Write(name string) {
	if _, ok := s.Vars[name]; !ok {
		s.Vars[name] = nil
	}
}

// Owner returns the scope to which a name belongs.
func (s *Scope) Owner(name string) *Scope {
	owner := s
	for at := s; at != nil; at = at.Parent {
		if _, ok := at.Vars[name]; ok {
			owner = at
		}
	}
	return owner
}
