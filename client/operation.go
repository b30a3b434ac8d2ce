package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"grfgp/study"
)

// manyNodes is the number of nodes from which on an ask is an operation of the server, which
// goes on if the connection breaks.
const manyNodes = 50

// operation is an ask that the server works on.
type operation struct {
	Operation int        `json:"operation"`
	State     string     `json:"state"`
	Count     int        `json:"count"`
	Reserved  int        `json:"reserved"`
	Problem   *problem   `json:"problem"`
	Answer    *study.Ask `json:"answer"`
}

// problem is the problem of an operation.
type problem struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// askMany asks for many nodes, and waits for them. If the server forgets the operation,
// because it is started again, the ask is repeated: its key makes it go on where it was.
func (s *remoteStudy) askMany(ctx context.Context, req call) (a study.Ask, err error) {
	for {
		var raw json.RawMessage
		status, err := s.do(ctx, req, &raw)
		if err != nil {
			return a, err
		}
		if status != http.StatusAccepted { // the wish was ignored: this is the answer
			return a, json.Unmarshal(raw, &a)
		}
		var op operation
		if err := json.Unmarshal(raw, &op); err != nil {
			return a, err
		}
		err = s.watch(ctx, &op)
		var p *Problem
		switch {
		case errors.As(err, &p) && p.Kind == KindNotFound:
			continue
		case err != nil:
			return a, err
		case op.Problem != nil:
			return a, &Problem{Kind: kindOf(op.Problem.Type), Status: op.Problem.Status, Detail: op.Problem.Detail, RetryAfter: time.Second}
		case op.State == "cancelled":
			return a, &Problem{Kind: KindConflict, Status: http.StatusConflict,
				Detail: "somebody has cancelled the ask; the nodes that were reserved by then stay reserved", RetryAfter: time.Second}
		}
		return *op.Answer, nil
	}
}

// watch waits until an operation has ended.
func (s *remoteStudy) watch(ctx context.Context, op *operation) error {
	get := call{method: http.MethodGet, path: s.path + "/operations/" + strconv.Itoa(op.Operation), query: map[string][]string{"wait": {"5s"}}}
	for op.State == "running" {
		if s.opts.Progress.Asked != nil {
			s.opts.Progress.Asked(op.Reserved, op.Count)
		}
		now := operation{}
		if _, err := s.do(ctx, get, &now); err != nil {
			return err
		}
		*op = now
	}
	return nil
}
