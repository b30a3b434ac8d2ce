package server

import (
	"errors"
	"math"
	"net/http"
	"slices"

	"grfgp/study"
)

// band describes the best value of a random search, with the posterior means as the
// values of nodes. It begins with the first ask: nobody searched before.
type band struct {
	Low    []float64 `json:"low"`    // 10 % quantile after k nodes
	Middle []float64 `json:"middle"` // median
	High   []float64 `json:"high"`   // 90 % quantile
}

// history sends the measurements in the order told, with a random search to compare.
func (s *Server) history(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "random")
	random := q.choice("random", "no", "yes") == "yes"
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	var answer struct {
		Seq    int64                `json:"seq"`
		Goal   string               `json:"goal"`
		Points []study.HistoryPoint `json:"points"`
		Before int                  `json:"before"` // points that were there before the first ask
		Random *band                `json:"random,omitempty"`
	}
	o.View(func(st *study.State) {
		answer.Seq, answer.Goal, answer.Points = st.Seq, st.Settings.Goal.String(), st.History()
		answer.Before = st.BeforeFirstAsk()
	})
	searched := len(answer.Points) - answer.Before
	if sign, ok := seeksBest(o.Settings().Goal); ok && random && searched > 0 {
		ctx, cancel := s.waitContext(r)
		defer cancel()
		p, err := o.awaitPredictions(ctx)
		if err != nil && !errors.Is(err, study.ErrNoModel) && !errors.Is(err, study.ErrFit) {
			return err
		}
		if err == nil {
			var start *float64
			if answer.Before > 0 {
				start = answer.Points[answer.Before-1].Best
			}
			answer.Random = newBand(o.allowedNodes(), p.Mean, sign, start, searched)
		}
	}
	return respond(w, http.StatusOK, answer)
}

// newBand returns the quantiles of the best of k random nodes, for k = 1 … most:
// P(best ≤ v) = F(v)^k, with F the empirical distribution of the means. A search that starts
// with a value has at least that.
func newBand(allowed []bool, means []float64, sign float64, start *float64, most int) *band {
	var sorted []float64
	for i, v := range means {
		if allowed == nil || allowed[i] {
			sorted = append(sorted, sign*v)
		}
	}
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	best := func(q float64, k int) float64 {
		at := int(math.Ceil(math.Pow(q, 1/float64(k))*float64(len(sorted)))) - 1
		v := sorted[min(max(0, at), len(sorted)-1)]
		if start != nil {
			v = max(v, sign**start)
		}
		return sign * v
	}
	b := new(band)
	low, high := 0.1, 0.9
	if sign < 0 {
		low, high = high, low
	}
	for k := 1; k <= most; k++ {
		b.Low, b.Middle, b.High = append(b.Low, best(low, k)), append(b.Middle, best(0.5, k)), append(b.High, best(high, k))
	}
	return b
}
