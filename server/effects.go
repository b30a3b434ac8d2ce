package server

import (
	"context"
	"net/http"

	"grfgp"
)

// explained is what explains the predictions of a model with these terms.
type explained struct {
	*grfgp.Effects
	terms []string
}

func (o *openStudy) explain(ctx context.Context) (*explained, error) {
	e, err := o.Effects(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := o.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &explained{e, snapshot.Chosen().Terms.Names()}, nil
}

// effects sends the effects of covariates and the shares of the parts of the model.
func (s *Server) effects(w http.ResponseWriter, r *http.Request) error {
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
	if unchanged(w, r, o.etag("effects", seq)) {
		return nil
	}
	e, err := o.explaining.await(ctx, s, func() (e *explained, err error) {
		o.reportLearning(func() { e, err = o.explain(s.ctx) })
		return e, err
	})
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, struct {
		Seq   int64    `json:"seq"`
		Terms []string `json:"terms"`
		*grfgp.Effects
		Words []string `json:"words"`
	}{seq, termsOf(e.terms), e.Effects, append([]string{}, e.Words("")...)})
}
