package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"grfgp/graphio"
	"grfgp/study"
)

// remoteStudy implements [Study] on a server.
type remoteStudy struct {
	*Client
	path     string
	settings study.Settings
}

func (s *remoteStudy) Settings() study.Settings { return s.settings }

func (s *remoteStudy) view(ctx context.Context) (v view, err error) {
	_, err = s.do(ctx, call{method: http.MethodGet, path: s.path}, &v)
	return v, err
}

func (s *remoteStudy) post(ctx context.Context, path string, body, v any) error {
	_, err := s.do(ctx, call{method: http.MethodPost, path: s.path + path, body: body}, v)
	return err
}

func (s *remoteStudy) Ask(ctx context.Context, r study.AskRequest) (a study.Ask, err error) {
	body := map[string]any{"count": r.Count, "holder": r.Holder}
	if r.Nodes != nil {
		body["nodes"], body["count"] = r.Nodes, len(r.Nodes)
	}
	if r.Lease > 0 {
		body["lease"] = study.Duration(r.Lease)
	}
	req := call{method: http.MethodPost, path: s.path + "/asks", body: body, key: idempotencyKey(r.Key)}
	if r.Count > manyNodes && r.Nodes == nil {
		req.prefer = "respond-async"
		return s.askMany(ctx, req)
	}
	_, err = s.do(ctx, req, &a)
	return a, err
}

func (s *remoteStudy) trial(number int, what string) string {
	return "/trials/" + strconv.Itoa(number) + "/" + what
}

func (s *remoteStudy) Tell(ctx context.Context, trial int, o study.Outcome, by string) (t study.Trial, err error) {
	body := map[string]any{"note": o.Note, "by": by}
	switch {
	case o.Failed:
		body["failed"] = true
	case o.Class != "":
		body["class"] = o.Class
	default:
		body["value"] = o.Value
		if o.Exposure != 0 {
			body["exposure"] = o.Exposure
		}
	}
	_, err = s.do(ctx, call{method: http.MethodPut, path: s.path + s.trial(trial, "result"), body: body}, &t)
	return t, err
}

func (s *remoteStudy) Observe(ctx context.Context, key string, measurements []study.Measurement, note, by string) ([]study.Record, error) {
	var answer struct {
		Observations []study.Record `json:"observations"`
	}
	body := map[string]any{"observations": measurements, "note": note, "by": by}
	_, err := s.do(ctx, call{method: http.MethodPost, path: s.path + "/observations", body: body, key: idempotencyKey(key)}, &answer)
	return answer.Observations, err
}

func (s *remoteStudy) Renew(ctx context.Context, trial int, lease time.Duration, by string) (t study.Trial, err error) {
	body := map[string]any{"by": by}
	if lease != 0 {
		body["lease"] = study.Duration(lease)
	}
	err = s.post(ctx, s.trial(trial, "lease"), body, &t)
	return t, err
}

// remark is the body of commands that need no other.
func remark(note, by string) map[string]string { return map[string]string{"note": note, "by": by} }

func (s *remoteStudy) Release(ctx context.Context, trial int, by string) (t study.Trial, err error) {
	err = s.post(ctx, s.trial(trial, "release"), remark("", by), &t)
	return t, err
}

func (s *remoteStudy) Abandon(ctx context.Context, trial int, note, by string) (t study.Trial, err error) {
	err = s.post(ctx, s.trial(trial, "abandon"), remark(note, by), &t)
	return t, err
}

func (s *remoteStudy) Reopen(ctx context.Context, trial int, note, by string) (t study.Trial, err error) {
	err = s.post(ctx, s.trial(trial, "reopen"), remark(note, by), &t)
	return t, err
}

func (s *remoteStudy) Reinstate(ctx context.Context, observation int, by string) (v study.Record, err error) {
	err = s.post(ctx, "/observations/"+strconv.Itoa(observation)+"/reinstate", remark("", by), &v)
	return v, err
}

func (s *remoteStudy) Retract(ctx context.Context, observation int, note, by string) (v study.Record, err error) {
	q := url.Values{"note": {note}, "by": {by}}
	_, err = s.do(ctx, call{method: http.MethodDelete, path: s.path + "/observations/" + strconv.Itoa(observation), query: q}, &v)
	return v, err
}

func (s *remoteStudy) Pause(ctx context.Context, note, by string) error {
	return s.post(ctx, "/pause", remark(note, by), nil)
}

func (s *remoteStudy) Resume(ctx context.Context, by string) error {
	return s.post(ctx, "/resume", remark("", by), nil)
}

func (s *remoteStudy) Retry(ctx context.Context, by string) error {
	return s.post(ctx, "/retry", remark("", by), nil)
}

func (s *remoteStudy) Archive(ctx context.Context, note, by string) error {
	return s.post(ctx, "/archive", remark(note, by), nil)
}

func (s *remoteStudy) Restore(ctx context.Context, by string) error {
	return s.post(ctx, "/restore", remark("", by), nil)
}

func (s *remoteStudy) Change(ctx context.Context, patch []byte, note, by string) (study.Settings, error) {
	if !json.Valid(patch) {
		return s.settings, fmt.Errorf("%w: a change of settings is JSON", study.ErrInvalid)
	}
	var v view
	body := map[string]any{"settings": json.RawMessage(patch), "note": note, "by": by}
	_, err := s.do(ctx, call{method: http.MethodPatch, path: s.path, body: body}, &v)
	if err == nil {
		s.settings = v.Settings
	}
	return s.settings, err
}

func (s *remoteStudy) Queue(ctx context.Context, nodes []string, note, by string) ([]study.QueuedNode, error) {
	req := call{method: http.MethodGet, path: s.path + "/queue"}
	if len(nodes) > 0 {
		req.method, req.body = http.MethodPost, map[string]any{"nodes": nodes, "note": note, "by": by}
	}
	return s.queue(ctx, req)
}

func (s *remoteStudy) Unqueue(ctx context.Context, nodes []string, by string) ([]study.QueuedNode, error) {
	return s.queue(ctx, call{method: http.MethodDelete, path: s.path + "/queue", query: url.Values{"node": nodes, "by": {by}}})
}

func (s *remoteStudy) queue(ctx context.Context, req call) ([]study.QueuedNode, error) {
	var answer struct {
		Queue []study.QueuedNode `json:"queue"`
	}
	_, err := s.do(ctx, req, &answer)
	return answer.Queue, err
}

func (s *remoteStudy) Close(ctx context.Context, note, by string) error {
	return s.post(ctx, "/close", remark(note, by), nil)
}

func (s *remoteStudy) Show(ctx context.Context) (*Overview, error) {
	view, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	shown := &Overview{Version: 1, Summary: view.summary(), Settings: view.Settings}
	if shown.AllTrials, err = pages[study.Trial](ctx, s, "trials"); err != nil {
		return nil, err
	}
	shown.Observations, err = pages[study.Record](ctx, s, "observations")
	return shown, err
}

// pages reads a whole list, page by page.
func pages[T any](ctx context.Context, s *remoteStudy, name string) ([]T, error) {
	all := []T{}
	for after := 0; ; {
		page := struct {
			Trials       []T `json:"trials"`
			Observations []T `json:"observations"`
			Next         int `json:"next"`
		}{}
		q := url.Values{"after": {strconv.Itoa(after)}}
		if _, err := s.do(ctx, call{method: http.MethodGet, path: s.path + "/" + name, query: q}, &page); err != nil {
			return nil, err
		}
		all = append(append(all, page.Trials...), page.Observations...)
		if page.Next == 0 {
			return all, nil
		}
		after = page.Next
	}
}

func (s *remoteStudy) Events(ctx context.Context, after int64) iter.Seq2[study.Event, error] {
	return func(yield func(study.Event, error) bool) {
		for {
			var page struct {
				Events []study.Event `json:"events"`
				Next   int64         `json:"next"`
			}
			q := url.Values{"after": {strconv.FormatInt(after, 10)}}
			if _, err := s.do(ctx, call{method: http.MethodGet, path: s.path + "/events", query: q}, &page); err != nil {
				yield(study.Event{}, err)
				return
			}
			for _, e := range page.Events {
				if !yield(e, nil) {
					return
				}
			}
			if after = page.Next; after == 0 {
				return
			}
		}
	}
}

func (s *remoteStudy) Network(ctx context.Context) (*graphio.Network, error) {
	loaded := s.opts.Progress.Loading()
	var packed []byte
	_, err := s.once(ctx, call{method: http.MethodGet, path: "/v1/graphs/" + s.settings.Graph}, func(resp *http.Response) (err error) {
		packed, err = io.ReadAll(resp.Body)
		return err
	})
	if err != nil {
		return nil, err
	}
	net, err := graphio.Decode(packed)
	if err == nil {
		loaded(net)
	}
	return net, err
}

func (s *remoteStudy) Export(ctx context.Context, w io.Writer, withGraph bool) error {
	c := call{method: http.MethodGet, path: s.path + "/export"}
	if !withGraph {
		c.query = url.Values{"graph": {"no"}}
	}
	return s.download(ctx, c, w)
}

// download copies an answer to w.
func (c *Client) download(ctx context.Context, req call, w io.Writer) error {
	var written error
	_, err := c.once(ctx, req, func(resp *http.Response) error {
		_, err := io.Copy(writer{w, &written}, resp.Body)
		return err
	})
	if written != nil {
		return written
	}
	return err
}

// Backup implements [Studies].
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	return c.download(ctx, call{method: http.MethodPost, path: "/v1/backup"}, w)
}

// writer keeps errors of writing, so that they are not taken for those of the
// connection.
type writer struct {
	io.Writer
	err *error
}

func (w writer) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	*w.err = err
	return n, err
}

func (s *remoteStudy) Verify(ctx context.Context, suggestions bool, progress func(done, total int64)) (study.Verification, error) {
	net, err := s.Network(ctx)
	if err != nil {
		return study.Verification{}, err
	}
	checks := study.ChecksOn(net.Graph, net.Nodes, suggestions, s.opts.Device)
	checks.Progress = func(done int64) {
		if progress != nil {
			progress(done, 0)
		}
	}
	return study.Verify(ctx, s.Events(ctx, 0), checks)
}
