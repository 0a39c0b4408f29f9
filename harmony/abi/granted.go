package abi

import (
	"fmt"

	"github.com/redfoxdb/redfox/queryplan/irtext"
)

// Granted is what code takes for granted of the facts that it was made for. It
// serves others of which the same is true. The zero Granted is that of code for
// all facts.
type Granted struct {
	Words  []GrantedWord  `json:"words,omitempty"`
	Ranges []GrantedRange `json:"ranges,omitempty"`
}

// GrantedWord is a parameter that code has as a constant.
type GrantedWord struct {
	Param Param `json:"param"`
	Word  int64 `json:"word"`
}

// GrantedRange bounds the words of the register that a stage of a kernel
// defines.
type GrantedRange struct {
	Kernel string `json:"kernel"`
	Stage  int    `json:"stage"` // of the kernel, from 0
	Lo     int64  `json:"lo"`
	Hi     int64  `json:"hi"`
}

// MarshalText returns the parameter as texts write it.
func (p Param) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a parameter as texts write it.
func (p *Param) UnmarshalText(text []byte) (err error) {
	defer irtext.Catch(&err)
	ps := &parser{irtext.NewCursor("parameter", string(text))}
	lines := ps.Lines()
	if len(lines) != 1 {
		return fmt.Errorf("%q is no parameter", text)
	}
	ps.Tokens = lines[0].Tokens
	*p = ps.param()
	ps.End()
	return nil
}
