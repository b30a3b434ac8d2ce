package crossval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/binomial"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/report"
)

// measured returns measurements of one kind at three quarters of the nodes of a ring: of 200, or of
// 100 in the quick suite. The quantity
// varies around the ring; counts have the given mean.
func measured(t *testing.T, values gp.Values, mean float64) (*graph.Graph, gp.Data) {
	t.Helper()
	nodes := testkit.Size(100, 200)
	g, err := graph.Ring(nodes)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rng.New(11, "held out values", uint64(values)))
	var d gp.Data
	for _, i := range random.Perm(nodes)[:nodes*3/4] {
		f := 0.8 * math.Sin(2*math.Pi*float64(i)/50)
		y, exposure := f+0.2*random.NormFloat64(), 0.5+random.Float64()
		switch values {
		case gp.Counts:
			y = 0
			for u, p := random.Float64(), math.Exp(-mean*exposure*math.Exp(f)); u > p; u *= random.Float64() {
				y++
			}
		case gp.Shares, gp.YesNo:
			exposure = 1
			if values == gp.Shares {
				exposure = float64(1 + random.IntN(20))
			}
			y = 0
			for range int(exposure) {
				if random.Float64() < values.Inverse(f) {
					y++
				}
			}
		}
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, y)
		if values == gp.Counts || values == gp.Shares {
			d.Exposure = append(d.Exposure, exposure)
		}
	}
	return g, d
}

// TestValidateValues: the coverage of new counts, positives and answers is that which
// the model expects, up to a binomial bound of 99.9 % each (three levels, four kinds),
// the probability integral transform has mean ½ ± 4/√(12·150), the error is less than
// that of the overall rate, and verdicts say whose intervals they are about.
func TestValidateValues(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		values gp.Values
		mean   float64
		says   string
	}{{gp.Counts, 0.7, "intervals of a new count contain"}, {gp.Counts, 20, "intervals of a new count contain"},
		{gp.Shares, 0, "intervals of a new number of positives contain"}, {gp.YesNo, 0, "intervals of a new answer contain"},
		{gp.Student, 0, "95 % intervals contain"}} {
		t.Run(fmt.Sprint(of.values, of.mean), func(t *testing.T) {
			t.Parallel()
			g, d := measured(t, of.values, of.mean)
			v, err := crossval.Validate(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"},
				Values: of.values.String(), Roles: "none"},
				crossval.Options{Folds: 5})
			if err != nil {
				t.Fatal(err)
			}
			n, pit := float64(len(v.HeldOut)), 0.0
			for _, h := range v.HeldOut {
				pit += h.PIT / n
				if h.PIT < 0 || h.PIT > 1 || h.SD <= 0 {
					t.Fatalf("%v: %+v", of.values, h)
				}
			}
			if math.Abs(pit-0.5) > 4/math.Sqrt(12*n) {
				t.Errorf("%v of mean %v: mean of the probability integral transform %v", of.values, of.mean, pit)
			}
			for _, c := range v.Coverage {
				sd := math.Sqrt(n * c.Expected * (1 - c.Expected))
				if math.Abs(c.Share-c.Expected)*n > 3.3*sd+1 {
					t.Errorf("%v of mean %v: %v %% intervals hold %v, expected %v", of.values, of.mean, 100*c.Level, c.Share, c.Expected)
				}
				if c.Expected < c.Level-1e-6 || c.Expected > 1+1e-9 || of.mean > 10 && c.Expected > c.Level+0.1 {
					t.Errorf("%v of mean %v: %v %% intervals are expected to hold %v", of.values, of.mean, 100*c.Level, c.Expected)
				}
			}
			if _, hi := binomial.Interval(10, 1); hi != 10 {
				t.Error("certain intervals are not judged")
			}
			if v.RMSE >= v.BaselineRMSE[crossval.Mean] && of.values != gp.YesNo {
				t.Errorf("%v: error %v, of the overall mean %v", of.values, v.RMSE, v.BaselineRMSE[crossval.Mean])
			}
			if v.NLPD <= 0 && of.values != gp.Student {
				t.Errorf("%v: mean negative log probability %v", of.values, v.NLPD)
			}
			if words := strings.Join(report.Verdicts(v), "\n"); !strings.Contains(words, of.says) ||
				strings.Contains(words, "hold") != (of.values != gp.Student) {
				t.Errorf("%v: %s", of.values, words)
			}
		})
	}
}

// TestValidateTransform: coverage on the logarithmic scale is that on the scale of the
// values, and the log density differs by the mean logarithm of the values.
func TestValidateTransform(t *testing.T) {
	t.Parallel()
	g, d := measured(t, gp.Gaussian, 0)
	logs := d.Clone()
	shift := 0.0
	for k, y := range logs.Y {
		d.Y[k] = math.Exp(y)
		shift += y / float64(d.Len())
	}
	opts := crossval.Options{Folds: 5}
	onLogs, err := crossval.Validate(t.Context(), g, logs, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"}, Roles: "none"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	v, err := crossval.Validate(t.Context(), g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion"},
		Transform: "log", Roles: "none"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range v.Coverage {
		if math.Abs(c.Share-onLogs.Coverage[k].Share) > 1e-9 {
			t.Errorf("%v %% intervals hold %v, of logarithms %v", 100*c.Level, c.Share, onLogs.Coverage[k].Share)
		}
	}
	if math.Abs(v.NLPD-onLogs.NLPD-shift) > 1e-6 {
		t.Errorf("mean negative log density %v, of logarithms %v, mean logarithm %v", v.NLPD, onLogs.NLPD, shift)
	}
}
