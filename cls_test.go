package grfgp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"grfgp"
	"grfgp/covariate"
	"grfgp/gp"
	paperdata "grfgp/internal/paper/dataset"
	"grfgp/internal/rng"
)

func TestClsProf(t *testing.T) {
	if os.Getenv("SHARE") == "" {
		t.Skip()
	}
	share := 0.8
	fmt.Sscan(os.Getenv("SHARE"), &share)
	k, err := paperdata.Default().Known(t.Context(), "cora-words")
	if err != nil {
		t.Fatal(err)
	}
	old := k.Graph
	g := old.Ordered()
	n := g.Len()
	byID := map[string]int{}
	for i := range n {
		byID[g.IDs().At(i)] = i
	}
	of, back := make([]int, n), make([]int, n)
	for i := range n {
		of[i] = byID[old.IDs().At(i)]
		back[of[i]] = i
	}
	var cols []covariate.Column
	for _, c := range k.Columns {
		cols = append(cols, c.Pick(back))
	}
	set, err := covariate.Encode(cols, n, covariate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seeds := 1
	fmt.Sscan(os.Getenv("SEEDS"), &seeds)
	for seed := 1; seed <= seeds; seed++ {
		order := rand.New(rng.New(uint64(seed), "rivals")).Perm(n)
		train := int(math.Round(share * float64(n)))
		l := gp.Labels{Classes: k.Classes}
		for _, i := range order[:train] {
			l.Nodes, l.Class = append(l.Nodes, of[i]), append(l.Class, k.Class[i])
		}
		spec := grfgp.Spec{Seed: 1, Covariates: set, Roles: os.Getenv("ROLES")}
		start := time.Now()
		m, err := grfgp.Classify(t.Context(), g, l, spec, gp.Dirichlet)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.Choice().Candidates {
			fmt.Printf("%-60s score %.3f acc %.3f\n", c.Family, c.Score, c.Accuracy)
		}
		fmt.Println(m.Choice().Fit.Names, m.Choice().Fit.Theta, m.Choice().Fit.Calibration)
		var te []int
		for _, i := range order[train:] {
			te = append(te, of[i])
		}
		p, err := m.Probabilities(t.Context(), te)
		if err != nil {
			t.Fatal(err)
		}
		ok := 0.0
		for r, i := range te {
			best := 0
			for c, v := range p.RawRowView(r) {
				if v > p.At(r, best) {
					best = c
				}
			}
			if best == k.Class[back[i]] {
				ok += 1 / float64(len(te))
			}
		}
		fmt.Printf("seed %d time %v accuracy %.4f\n", seed, time.Since(start), ok)
	}
}
