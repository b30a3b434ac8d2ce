package chol

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"grfgp/internal/machine"
	"grfgp/internal/testkit"
)

// TestCHOLMOD: fill is at most 1.3 of CHOLMOD's on the same grid, and what both take is logged, in CPU seconds of one thread.
// It needs a C compiler and Debian's libsuitesparse-dev.
func TestCHOLMOD(t *testing.T) {
	testkit.Unraced(t)
	program := filepath.Join(t.TempDir(), "cholmod")
	if out, err := exec.Command("gcc", "-O2", "-o", program, "testdata/cholmod.c", "-lcholmod").CombinedOutput(); err != nil {
		t.Skipf("CHOLMOD is not here: %v: %.100s", err, out)
	}
	side := testkit.Size(300, 1000)
	cmd := exec.Command(program, fmt.Sprint(side), fmt.Sprint(side), "0.01")
	cmd.Env = append(os.Environ(), "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var entries int
	var order, factor, solve float64
	if _, err := fmt.Sscan(string(out), &entries, &order, &factor, &solve); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("CHOLMOD: %.1f M entries; CPU seconds: order %.2f, factor %.2f, solve %.2f", float64(entries)/1e6, order, factor, solve)

	q := matrix(side*side, gridEdges(side, side), 0.01, 1)
	at := []time.Duration{used()}
	a := must(Analyze(q))
	at = append(at, used())
	f := must(a.Factor(t.Context(), q))
	at = append(at, used())
	x := block(side*side, 1, 1)
	f.Solve(x, x)
	at = append(at, used())
	t.Logf("chol:    %.1f M entries; CPU seconds: order %.2f, factor %.2f, solve %.2f", float64(a.Entries())/1e6,
		(at[1] - at[0]).Seconds(), (at[2] - at[1]).Seconds(), (at[3] - at[2]).Seconds())
	if float64(a.Entries()) > 1.3*float64(entries) {
		t.Errorf("%d entries, CHOLMOD has %d", a.Entries(), entries)
	}
}

// used is the CPU time of this process.
func used() time.Duration {
	p, _ := machine.OfProcess()
	return p.CPU
}
