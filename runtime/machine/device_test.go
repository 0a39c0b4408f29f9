package machine

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redfoxdb/redfox/internal/cuda"
	"github.com/redfoxdb/redfox/internal/cuda/driver"
	"github.com/redfoxdb/redfox/runtime/gpu/emulated"
)

// TestCards chooses among several GPUs.
func TestCards(t *testing.T) {
	cards := emulated.New(emulated.Options{Devices: 3}).Devices()
	old := *cards[0].Info()
	old.Attributes.Major, old.Attributes.Minor, old.Name = 7, 5, "Old GPU"
	all := []driver.Device{described{cards[0], &old}, cards[1], cards[2]}
	for _, tt := range []struct{ name, want, fails string }{
		{"", "1", ""},
		{"1", "1", ""},
		{cards[2].Info().UUID, "2", ""},
		{"0", "0",
			"GPU 0, Old GPU (sm_75) is too old: redfox needs compute capability 8.0, and it has 7.5; use --engine cpu"},
		{"3", "",
			`there is no GPU "3"; there are 0: Old GPU (sm_75), 1: Emulated GPU (sm_90), 2: Emulated GPU (sm_90)`},
	} {
		card, err := pick(all, tt.name)
		switch {
		case tt.fails != "":
			if err == nil || err.Error() != tt.fails {
				t.Errorf("%q: %v", tt.name, err)
			}
		case err != nil:
			t.Errorf("%q: %v", tt.name, err)
		case fmt.Sprint(card.Info().Index) != tt.want:
			t.Errorf("%q is GPU %d", tt.name, card.Info().Index)
		}
	}
	if _, err := pick(all[:1], ""); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("only an old GPU: %v", err)
	}
	if describe(all[0], 12040, nil).Usable {
		t.Error("an old GPU is usable")
	}
	if d := describe(all[1], 12040, errors.New("no LLVM")); !strings.Contains(d.Detail,
		"compiled programs with code for gpu:sm_90") || d.Driver != "12.4" {
		t.Errorf("without LLVM: %+v", d)
	}
}

// described is a device that says other things of itself.
type described struct {
	driver.Device
	info *cuda.DeviceInfo
}

func (d described) Info() *cuda.DeviceInfo { return d.info }

// TestPTXOfDrivers holds the version of PTX that a driver reads.
func TestPTXOfDrivers(t *testing.T) {
	for version, want := range map[cuda.Version]int{11040: 74, 11080: 78, 12000: 80, 12040: 84} {
		if got := ptxOf(version); got != want {
			t.Errorf("a driver for CUDA %v reads PTX %d, not %d", version, got, want)
		}
	}
}
