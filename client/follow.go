package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Follow opens the stream of a study's events with numbers above after, and of those that
// come: server-sent events (text/event-stream). The caller closes it.
func (c *Client) Follow(ctx context.Context, name string, after int64) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at+"/v1/studies/"+url.PathEscape(name)+"/events?after="+
		strconv.FormatInt(after, 10), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if c.opts.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.connectionError(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, c.readProblem(resp)
	}
	return resp.Body, nil
}
