package machine

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/redfoxdb/redfox/frontend/diag"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/internal/failure"
	"github.com/redfoxdb/redfox/weaver/assemble"
)

// The numbers of rows below which Auto does not begin on an engine: making
// code, and copying the facts to a GPU, usually takes longer than such a run.
// Loops that take longer change over to it.
const (
	FewFacts    = 1 << 15 // for native code
	FewGPUFacts = 1 << 20
	// FewPerCommand is for native code of a plan of many commands: each has
	// code of its own, and most of them see a small part of the facts.
	FewPerCommand = 256
)

// CheckEngine returns an error if no engine has that name.
func CheckEngine(name string) error {
	if name == "" || slices.Contains(Names(), name) {
		return nil
	}
	return &failure.Environment{Message: fmt.Sprintf("no engine is called %q", name),
		Help: diag.DidYouMean(name, Names())}
}

// EngineFor returns the engine that a name and a device mean: naming a device
// implies GPU.
func EngineFor(engine, device string) string {
	if device != "" && isAuto(engine) {
		return GPU
	}
	return engine
}

func isAuto(engine string) bool { return engine == "" || engine == Auto }

// MayUseGPU reports whether runs with an engine may use a GPU.
func MayUseGPU(engine string) bool {
	return isAuto(engine) || engine == GPU || engine == Mixed
}

// Want is what the user asks for.
type Want struct {
	Engine string // a name; "" is Auto
	Device string // number or UUID of a GPU; "" is the first that can be used
	Memory int64  // bound in bytes on the memory of the GPU; 0 for none
}

// settle resolves the name of the engine. It refuses names that no engine has,
// and wishes for a GPU beside an engine that uses none.
func (w Want) settle() (Want, error) {
	if err := CheckEngine(w.Engine); err != nil {
		return w, err
	}
	w.Engine = cmp.Or(EngineFor(w.Engine, w.Device), Auto)
	given := ""
	switch {
	case MayUseGPU(w.Engine):
		return w, nil
	case w.Device != "":
		given = fmt.Sprintf("GPU %s is named", w.Device)
	case w.Memory != 0:
		given = "the memory of a GPU is bounded"
	default:
		return w, nil
	}
	return w, &failure.Environment{
		Message: fmt.Sprintf("%s, and engine %s uses none", given, w.Engine),
		Help:    "take engine gpu, mixed or auto, or say nothing of a GPU",
	}
}

// Selection resolves a Want. It looks for a GPU once.
type Selection struct {
	machine *Machine
	want    Want
	card    func() (driver.Device, error)
}

// Select returns the selection for a Want. The machine keeps it, so opening an
// engine early, loading and running agree on one GPU.
func (m *Machine) Select(want Want) (*Selection, error) {
	want, err := want.settle()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.selections[want]; s != nil {
		return s, nil
	}
	s := &Selection{m, want, sync.OnceValues(func() (driver.Device, error) {
		found, err := m.CUDA()
		if err != nil {
			return nil, unavailable(GPU, err).missing()
		}
		return pick(found.Devices(), want.Device)
	})}
	if m.selections == nil {
		m.selections = map[Want]*Selection{}
	}
	m.selections[want] = s
	return s, nil
}

// cardFor returns the GPU for a program with these codes; nil stands for any
// program.
func (s *Selection) cardFor(codes *assemble.Codes) (driver.Device, error) {
	card, err := s.card()
	if err == nil && codes != nil {
		err = s.machine.checkCode(codes, card)
	}
	return card, err
}

// IsGPU reports whether runs take the gpu engine whatever the facts are.
func (s *Selection) IsGPU() bool { return s.want.Engine == GPU }

// MayBeGPU reports whether runs over some facts take the gpu engine. The mixed
// engine is another one.
func (s *Selection) MayBeGPU() bool { return isAuto(s.want.Engine) || s.IsGPU() }

// Choice is an engine that was chosen for a run.
type Choice struct {
	Info
	Card   driver.Device // of the gpu and the mixed engine
	Memory int64         // bound on the memory of the card that it may take; 0 for none
	Passed []Info        // that Auto would have taken had they been available
	// Adaptive says that Auto chose the cpu engine, whose runs may begin on the
	// go engine, or the go engine, whose runs may go on as native code.
	Adaptive bool
	// Later, if set, returns the choice of the gpu engine, to which loops of an
	// adaptive run may change over. It opens the driver of the GPU, so it is
	// called once a loop has taken long.
	Later func() (Choice, error)
	// Instead is the choice for a run whose GPU fails, if the user has not
	// asked for a GPU; else nil.
	Instead *Choice
}

// Target returns the name of the target of the engine's kernels; "" if it runs
// plans.
func (c Choice) Target() string {
	switch {
	case c.Card != nil:
		return targetName(c.Card)
	case c.Name == CPU:
		return DefaultCPU
	}
	return ""
}

// Size is that of facts, and of the plan of the program that runs over them;
// the zero value stands for facts that are not known yet.
type Size struct {
	Rows     int
	Bytes    int64
	Commands int // of the plan, before it is optimised
}

// Choose returns the engine of a run over facts, of a program with these codes;
// nil stands for any program. The error is that with which the run would fail.
func (s *Selection) Choose(facts Size, codes *assemble.Codes) (Choice, error) {
	switch s.want.Engine {
	case Auto:
		return s.best(facts, codes), nil
	case GPU:
		card, err := s.cardFor(codes)
		if err != nil {
			return Choice{}, err
		}
		return s.onCard(card), nil
	case Mixed:
		info := s.machine.Engine(Mixed)
		if !info.Available {
			return Choice{}, info.missing()
		}
		card, err := s.card()
		if err != nil {
			return Choice{}, err
		}
		return Choice{Info: info, Card: card, Memory: s.want.Memory}, nil
	}
	info := s.machine.Engine(s.want.Engine)
	if !info.Available {
		return Choice{}, info.missing()
	}
	return Choice{Info: info}, nil
}

// OnGPU returns the choice of the gpu engine, if runs over facts of a size or
// more take it.
func (s *Selection) OnGPU(facts Size, codes *assemble.Codes) (c Choice, ok bool) {
	if !s.MayBeGPU() || !s.IsGPU() && facts.Rows < FewGPUFacts {
		return c, false
	}
	return s.AtOnce(facts, codes)
}

// AtOnce returns the choice of the gpu engine for a run whose work is known to
// be worth it, if there is a GPU that can run it.
func (s *Selection) AtOnce(facts Size, codes *assemble.Codes) (c Choice, ok bool) {
	card, err := s.cardFor(codes)
	if err != nil || !s.IsGPU() && !s.Holds(card, facts) {
		return c, false
	}
	return s.onCard(card), true
}

// later returns the choice of the gpu engine for loops, whose code is in no
// compiled program.
func (s *Selection) later() (Choice, error) {
	card, err := s.card()
	if err == nil {
		_, err = s.machine.Tools.LLVM()
	}
	if err != nil {
		return Choice{}, err
	}
	return s.onCard(card), nil
}

func (s *Selection) onCard(card driver.Device) Choice {
	return Choice{Info: Info{Name: GPU, Available: true, Detail: CardText(card)}, Card: card,
		Memory: s.want.Memory}
}

// best is the choice of Auto.
func (s *Selection) best(facts Size, codes *assemble.Codes) Choice {
	var passed []Info
	later := s.later
	if facts.Rows >= FewGPUFacts {
		later = nil // the GPU that there may be has not been chosen
		card, err := s.cardFor(codes)
		switch {
		case err != nil && s.machine.hasGPUProblem():
			passed = append(passed, unavailable(GPU, err))
		case err != nil:
		case !s.Holds(card, facts):
			passed = append(passed, Info{Name: GPU,
				Detail: fmt.Sprintf("the facts take %d MB, and the GPU's memory is too small "+
					"for them", facts.Bytes>>20)})
		default:
			return s.onCard(card)
		}
	}
	if facts.Rows >= max(FewFacts, FewPerCommand*facts.Commands) {
		if s.machine.Tools.HasLLVM() { // opened when there is code to make
			return Choice{Info: Info{Name: CPU, Available: true, Detail: "native code for this machine"},
				Passed: passed, Adaptive: true, Memory: s.want.Memory, Later: later}
		}
		passed = append(passed, s.machine.Engine(CPU))
	}
	return Choice{Info: s.machine.Engine(Go), Passed: passed, Adaptive: true,
		Memory: s.want.Memory, Later: later}
}

// Holds reports whether a GPU has room for facts and as much again, which is
// the least that most runs need.
func (s *Selection) Holds(card driver.Device, facts Size) bool {
	room := int64(card.Info().Memory)
	if s.want.Memory > 0 {
		room = min(room, s.want.Memory)
	}
	return facts.Bytes <= room/2
}

// Best resolves the name of an engine for any program over many facts. Of the
// gpu engine it looks at the first GPU that can be used.
func (m *Machine) Best(name string) (chosen Info, passed []Info, err error) {
	if err := CheckEngine(name); err != nil {
		return Info{}, nil, err
	}
	if !isAuto(name) {
		if chosen = m.Engine(name); !chosen.Available {
			return chosen, nil, chosen.missing()
		}
		return chosen, nil, nil
	}
	for _, k := range Kinds {
		if chosen = m.Engine(k.Name); chosen.Available {
			break
		}
		if k.Name != GPU || m.hasGPUProblem() {
			passed = append(passed, chosen)
		}
	}
	return chosen, passed, nil
}
