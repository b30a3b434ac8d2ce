package experiment

import (
	"math"
	"testing"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/walk"
)

// On the first draw of each graph, the default features are within 5 % of the exact
// kernel, and equal weights are worse than importance weights.
func TestAblationQuickly(t *testing.T) {
	testkit.Full(t)
	r, s := quickly(t, ablation(), nil)
	rmse := func(arm string) float64 { return r.Rows.Where("graph", "mesh").Where("arm", arm).Over("rmse").Mean }
	if exact := rmse("exact"); math.Abs(rmse("clean-grf")-exact) > 0.05*exact || rmse("clean-ad-hoc") < 1.02*rmse("walks-grf") ||
		!(exact > 0) {
		t.Errorf("RMSE: exact %v, clean %v, walks %v, ad hoc %v", exact, rmse("clean-grf"), rmse("walks-grf"), rmse("clean-ad-hoc"))
	}
	if len(s.Tables[1].Rows) != len(meshArms) {
		t.Errorf("%d arms of %d", len(s.Tables[1].Rows), len(meshArms))
	}
	for _, a := range meshArms {
		if meshNames[a.name] == "" {
			t.Errorf("%s has no name", a.name)
		}
	}
}

func TestJudgeField(t *testing.T) {
	row := scoreField([]float64{5, 1, 2, 3}, []float64{0, 1, 2, 0}, []float64{0, 1, 2, 1}, []int{0})
	density := (3*math.Log(2*math.Pi) + math.Log(4) + 9) / 2 / 3 // errors 0, 0 and 3 at s.d. 1, 2 and 1
	if math.Abs(row.Num("rmse")-math.Sqrt(3)) > 1e-12 || math.Abs(row.Num("nlpd")-density) > 1e-12 ||
		math.Abs(row.Num("coverage")-2.0/3) > 1e-12 {
		t.Errorf("%v, want RMSE √3, NLPD %v and coverage 2/3", row, density)
	}
}

func TestLess(t *testing.T) {
	rows := Rows{
		{"arm": "a", "seed": 1, "x": 3.0}, {"arm": "b", "seed": 1, "x": 1.0},
		{"arm": "a", "seed": 2, "x": 8.0}, {"arm": "b", "seed": 2, "x": 7.0}, {"arm": "b", "seed": 3, "x": 100.0},
	}
	if d := pairedDifference(rows.Where("arm", "a"), rows.Where("arm", "b"), "seed", "x"); d.N != 2 || d.Mean != 1.5 {
		t.Errorf("%+v", d)
	}
}

// Lifted coefficients and their derivatives are those of diffusion times a power.
func TestLifted(t *testing.T) {
	theta, plain, got := []float64{2, 3}, make([]float64, 4), make([]float64, 4)
	kernel.Diffusion{}.Coeffs(plain, theta)
	lifted{by: 2}.Coeffs(got, theta)
	grads := [][]float64{make([]float64, 4), make([]float64, 4)}
	lifted{by: 2}.CoeffsGrad(grads, theta)
	for l, f := range plain {
		if math.Abs(got[l]-f*math.Exp2(float64(l))) > 1e-15 {
			t.Errorf("f_%d = %v", l, got[l])
		}
	}
	for j := range theta {
		const h = 1e-6
		up, down, at := make([]float64, 4), make([]float64, 4), []float64{theta[0], theta[1]}
		at[j] += h
		lifted{by: 2}.Coeffs(up, at)
		at[j] -= 2 * h
		lifted{by: 2}.Coeffs(down, at)
		for l := range up {
			if d := (up[l] - down[l]) / (2 * h); math.Abs(d-grads[j][l]) > 1e-8 {
				t.Errorf("∂f_%d/∂θ_%d is %v, want %v", l, j, grads[j][l], d)
			}
		}
	}
}

func TestFreeStarts(t *testing.T) {
	weighted := freeStarts(2, meshArm{matrix: graph.NormalizedLaplacian, sampler: walk.Independent})
	if f := weighted[1]; f[0] != 1 || f[1] != -1 || f[2] != 0.5 {
		t.Errorf("exp(−L̃) begins %v", f)
	}
	if f := freeStarts(2, meshArm{matrix: graph.NormalizedLaplacian, sampler: walk.AdHoc})[1]; f[1] != 1 {
		t.Errorf("ad hoc begins %v", f)
	}
}
