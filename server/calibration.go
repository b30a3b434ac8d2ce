package server

import (
	"context"
	"fmt"
	"net/http"

	"grfgp/covariate"
	"grfgp/crossval"
)

// validated is the cross-validation of a model with these terms.
type validated struct {
	*crossval.Validation
	terms    []string
	warnings []string // about covariates
}

func (o *openStudy) validate(ctx context.Context) (*validated, error) {
	v, err := o.Calibration(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := o.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &validated{v, snapshot.Chosen().Terms.Names(), suspicious(snapshot.Chosen().Covariates, v)}, nil
}

// suspicious warns of covariates that nearly equal the measurements.
func suspicious(set *covariate.Set, v *crossval.Validation) []string {
	if set == nil {
		return nil
	}
	var nodes []int
	var values []float64
	for _, l := range v.HeldOut {
		nodes, values = append(nodes, l.Node), append(values, l.Value)
	}
	return set.Suspicious(values, nodes)
}

// heldOut is a measurement that was predicted from others.
type heldOut struct {
	Node  string  `json:"node"`
	Fold  int     `json:"fold"`
	Value float64 `json:"value"`
	Mean  number  `json:"mean"`
	SD    number  `json:"sd"`
	PIT   number  `json:"pit"`
}

// calibration sends the cross-validation of the model.
func (s *Server) calibration(w http.ResponseWriter, r *http.Request) error {
	o, err := s.named(r)
	if err != nil {
		return err
	}
	ctx, cancel := s.waitContext(r)
	defer cancel()
	if _, err := o.awaitEngine(ctx); err != nil {
		return err
	}
	seq := o.Seq()
	if unchanged(w, r, o.etag("calibration", seq)) {
		return nil
	}
	if o.Settings().Labels {
		return o.classCalibration(ctx, w, seq)
	}
	v, err := o.validating.await(ctx, s, func() (v *validated, err error) {
		o.reportLearning(func() { v, err = o.validate(s.ctx) })
		return v, err
	})
	if err != nil {
		return err
	}
	answer := struct {
		Seq      int64             `json:"seq"`
		Readings int               `json:"readings"`
		Terms    []string          `json:"terms"`
		Warnings []string          `json:"warnings,omitempty"`
		Scheme   crossval.Scheme   `json:"scheme"`
		Folds    int               `json:"folds"`
		RMSE     number            `json:"rmse"`
		RMSESE   number            `json:"rmse_se"`
		NLPD     number            `json:"nlpd"`
		Coverage map[string]number `json:"coverage"`
		Baseline map[string]number `json:"baseline_rmse"`
		Left     []heldOut         `json:"left"`
	}{seq, len(v.HeldOut), termsOf(v.terms), v.warnings, v.Scheme, v.Folds, number(v.RMSE), number(v.RMSESE), number(v.NLPD),
		map[string]number{}, map[string]number{}, []heldOut{}}
	for _, c := range v.Coverage {
		answer.Coverage[fmt.Sprint(c.Level)] = number(c.Share)
	}
	for rule, v := range v.BaselineRMSE {
		answer.Baseline[string(rule)] = number(v)
	}
	labels := o.net.Graph.IDs()
	for _, l := range v.HeldOut {
		answer.Left = append(answer.Left, heldOut{labels.At(l.Node), l.Fold, l.Value, number(l.Mean), number(l.SD), number(l.PIT)})
	}
	return respond(w, http.StatusOK, answer)
}
