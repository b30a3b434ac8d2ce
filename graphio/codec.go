package graphio

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"grfgp/covariate"
	"grfgp/graph"
	"grfgp/sparse"
)

// An encoded network is a line with the format and its version, a line of JSON that
// lists the arrays, and the arrays of little-endian numbers, with nodes in the order
// of their file. The same network always gives the same bytes. Networks with covariates
// say so by the number.
const (
	codecKind       = "grfgp-network 1\n"
	codecCovariates = "grfgp-network 2\n"
)

// codecHead lists the arrays that follow.
type codecHead struct {
	Nodes   int    `json:"nodes"`
	Entries int    `json:"entries"`           // of the symmetric matrix of weights
	Ones    bool   `json:"ones,omitempty"`    // all weights are 1, and left out
	Columns []Role `json:"columns,omitempty"` // of the node table

	// With covariates.
	Names      map[Role]string `json:"names,omitempty"` // of these columns in their file
	Covariates []codedColumn   `json:"covariates,omitempty"`
}

// codedColumn describes a covariate, whose arrays follow those of the other columns.
type codedColumn struct {
	Name     string         `json:"name"`
	Kind     covariate.Kind `json:"kind"`
	Levels   int            `json:"levels,omitempty"`
	Items    int            `json:"items,omitempty"`
	Distinct int            `json:"distinct,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
}

// codedRoles are the columns that a node table may have, in their order.
var codedRoles = []Role{RoleLabel, RoleGroup, RoleShape, RoleAllowed, RoleLat, RoleLon, RoleX, RoleY, RoleCost}

// Encode returns a network, without its report, as bytes. Decode returns the same
// network, with weights equal to the last bit.
func Encode(net *Network) ([]byte, error) {
	order := net.Graph.InputOrder()
	g, err := net.Graph.Permute(order)
	if err != nil {
		return nil, fmt.Errorf("encoding a network: %w", err)
	}
	rowPtr, col, val := g.Adjacency().Raw()
	head := codecHead{Nodes: g.Len(), Entries: len(col), Ones: !slices.ContainsFunc(val, func(v float64) bool { return v != 1 })}
	head.describe(net.Nodes)
	kind := codecKind
	if len(head.Covariates) > 0 || len(head.Names) > 0 {
		kind = codecCovariates
	}
	line, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("encoding a network: %w", err)
	}
	p := encoder(append(append([]byte(kind), line...), '\n'))
	for i := range g.Len() {
		p.count(rowPtr[i+1] - rowPtr[i])
	}
	for _, j := range col {
		p = binary.LittleEndian.AppendUint32(p, j)
	}
	if !head.Ones {
		p.numbers(val)
	}
	p.texts(g.Len(), g.IDs().Bytes)
	p.table(net.Nodes, head.Columns, order)
	return p, nil
}

// describe lists the columns of a node table, which may be nil.
func (h *codecHead) describe(nodes *NodeTable) {
	if nodes == nil {
		return
	}
	for _, role := range codedRoles {
		if nodes.has(role) {
			h.Columns = append(h.Columns, role)
		}
	}
	h.Names = nodes.names
	for _, c := range nodes.Columns {
		h.Covariates = append(h.Covariates, codedColumn{c.Name, c.Kind, len(c.Levels), len(c.Items), c.Distinct, c.Notes})
	}
}

// encoder appends arrays.
type encoder []byte

func (p *encoder) count(n int) { *p = binary.LittleEndian.AppendUint32(*p, uint32(n)) }

func (p *encoder) numbers(values []float64) {
	for _, v := range values {
		*p = binary.LittleEndian.AppendUint64(*p, math.Float64bits(v))
	}
}

// table appends the columns of a node table, its rows in the given order.
func (p *encoder) table(nodes *NodeTable, columns []Role, order []int) {
	for _, role := range columns {
		switch role {
		case RoleLabel, RoleGroup, RoleShape:
			column := *nodes.text(role)
			p.texts(len(order), func(k int) []byte { return []byte(column[order[k]]) })
		case RoleAllowed:
			for _, i := range order {
				*p = append(*p, map[bool]byte{true: 1}[nodes.Allowed[i]])
			}
		default:
			column := make([]float64, len(order))
			for k, i := range order {
				column[k] = (*nodes.numbers(role))[i]
			}
			p.numbers(column)
		}
	}
	if nodes != nil {
		for _, c := range nodes.Columns {
			p.covariate(c.Pick(order))
		}
	}
}

func (p *encoder) texts(n int, at func(i int) []byte) {
	for i := range n {
		p.count(len(at(i)))
	}
	for i := range n {
		*p = append(*p, at(i)...)
	}
}

// covariate appends the arrays of a column.
func (p *encoder) covariate(c covariate.Column) {
	p.texts(len(c.Levels), func(k int) []byte { return []byte(c.Levels[k]) })
	p.numbers(c.Numbers)
	p.codes(c.Codes)
	for i := range max(0, len(c.Start)-1) {
		p.count(c.Start[i+1] - c.Start[i])
	}
	p.codes(c.Items)
}

func (p *encoder) codes(codes []uint32) {
	for _, k := range codes {
		*p = binary.LittleEndian.AppendUint32(*p, k)
	}
}

// Decode reads a network that Encode has written, checks it like any other input, and
// puts the graph into locality order. Errors wrap ErrData.
func Decode(encoded []byte) (*Network, error) {
	bad := func(err error) error {
		return &Error{Code: CodeDamaged, File: "encoded network", What: "cannot be used: " + err.Error(),
			Remedies: []Remedy{do("was it cut off, or written by a newer program?")}, Err: err}
	}
	rest, ok := bytes.CutPrefix(encoded, []byte(codecKind))
	if !ok {
		rest, ok = bytes.CutPrefix(encoded, []byte(codecCovariates))
	}
	line, rest, cut := bytes.Cut(rest, []byte("\n"))
	var head codecHead
	if !ok || !cut {
		return nil, bad(fmt.Errorf("it does not begin with %q or %q", codecKind, codecCovariates))
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, bad(err)
	}
	if head.Nodes < 0 || head.Entries < 0 || head.Nodes > len(rest) || head.Entries > len(rest) {
		return nil, bad(fmt.Errorf("%d nodes and %d entries in %d bytes", head.Nodes, head.Entries, len(rest)))
	}
	u := &decoder{rest: rest}
	net, err := u.network(head)
	if err != nil {
		return nil, bad(err)
	}
	return net, nil
}

// decoder reads arrays until one is too short.
type decoder struct {
	rest  []byte
	short bool
}

func (u *decoder) take(n int) []byte {
	if u.short || n < 0 || n > len(u.rest) {
		u.short = true
		return nil
	}
	out := u.rest[:n:n]
	u.rest = u.rest[n:]
	return out
}

func (u *decoder) counts(n int) []int {
	raw := u.take(4 * n)
	out := make([]int, len(raw)/4)
	for i := range out {
		out[i] = int(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

func (u *decoder) numbers(n int) []float64 {
	raw := u.take(8 * n)
	out := make([]float64, len(raw)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return out
}

func (u *decoder) texts(n int) []string {
	out := make([]string, 0, n)
	for _, size := range u.counts(n) {
		out = append(out, string(u.take(size)))
	}
	return out
}

func (u *decoder) network(head codecHead) (*Network, error) {
	n := head.Nodes
	rowPtr := make([]int, n+1)
	for i, size := range u.counts(n) {
		rowPtr[i+1] = rowPtr[i] + size
	}
	col := make([]uint32, 0, head.Entries)
	for _, j := range u.counts(head.Entries) {
		col = append(col, uint32(j))
	}
	val := make([]float64, head.Entries)
	for p := range val {
		val[p] = 1
	}
	if !head.Ones {
		val = u.numbers(head.Entries)
	}
	ids := u.texts(n)
	if u.short {
		return nil, fmt.Errorf("it is too short for %d nodes and %d entries", n, head.Entries)
	}
	labels, distinct := graph.IDsOf(ids)
	if !distinct {
		return nil, fmt.Errorf("an id of a node repeats")
	}
	w, err := sparse.NewCSR(n, n, rowPtr, col, val)
	if err != nil {
		return nil, err
	}
	g, err := graph.New(w, labels)
	if err != nil {
		return nil, err
	}
	nodes, err := u.table(head, labels)
	if err != nil {
		return nil, err
	}
	return NewNetwork(g, nodes, nil), nil
}

// table reads a node table of all the nodes; nil if there is none.
func (u *decoder) table(head codecHead, ids *graph.IDs) (*NodeTable, error) {
	n := ids.Len()
	var nodes *NodeTable
	if head.Columns != nil || head.Covariates != nil {
		nodes = &NodeTable{IDs: ids, names: head.Names}
	}
	for k, role := range head.Columns {
		if !slices.Contains(codedRoles, role) || slices.Contains(head.Columns[:k], role) {
			return nil, fmt.Errorf("a column %q", role)
		}
		u.column(nodes, role, n)
	}
	for k, coded := range head.Covariates {
		if coded.Levels < 0 || coded.Items < 0 || coded.Levels > len(u.rest) || coded.Items > len(u.rest) ||
			slices.ContainsFunc(head.Covariates[:k], func(c codedColumn) bool { return c.Name == coded.Name }) {
			return nil, fmt.Errorf("a covariate %q", coded.Name)
		}
		c := u.covariate(coded, n)
		if u.short {
			break
		}
		if err := c.Check(n); err != nil {
			return nil, err
		}
		nodes.Columns = append(nodes.Columns, c)
	}
	if u.short || len(u.rest) > 0 {
		return nil, fmt.Errorf("its node table is too short or too long")
	}
	return nodes, nodes.checkDecoded()
}

func (u *decoder) column(to *NodeTable, role Role, n int) {
	switch role {
	case RoleLabel, RoleGroup, RoleShape:
		*to.text(role) = u.texts(n)
	case RoleAllowed:
		to.Allowed = make([]bool, 0, n)
		for _, b := range u.take(n) {
			to.Allowed = append(to.Allowed, b != 0)
		}
	default:
		*to.numbers(role) = u.numbers(n)
	}
}

// covariate reads the arrays of a column of n nodes.
func (u *decoder) covariate(coded codedColumn, n int) covariate.Column {
	c := covariate.Column{Name: coded.Name, Kind: coded.Kind, Distinct: coded.Distinct, Notes: coded.Notes}
	if coded.Levels > 0 {
		c.Levels = u.texts(coded.Levels)
	}
	switch coded.Kind {
	case covariate.Number, covariate.Date:
		c.Numbers = u.numbers(n)
	case covariate.Category:
		c.Codes = u.codes(n)
	case covariate.Words:
		c.Start = make([]int, 1, n+1)
		for i, size := range u.counts(n) {
			c.Start = append(c.Start, c.Start[i]+size)
		}
		c.Items = u.codes(coded.Items)
	}
	return c
}

func (u *decoder) codes(n int) []uint32 {
	raw := u.take(4 * n)
	out := make([]uint32, len(raw)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return out
}

// checkDecoded refuses numbers that no reader accepts.
func (n *NodeTable) checkDecoded() error {
	if n == nil {
		return nil
	}
	for _, role := range codedRoles[4:] {
		for i, v := range *n.numbers(role) {
			if math.IsInf(v, 0) || role == RoleCost && v < 0 {
				return fmt.Errorf("node %q has %s %v", n.IDs.At(i), role, v)
			}
		}
	}
	return nil
}
