package server

import (
	"context"
	"net/http"
	"strconv"

	"grfgp"
	"grfgp/crossval"
	"grfgp/study"
)

// classView is what is predicted of a node in a study of classes, and what happened there.
type classView struct {
	Number        int      `json:"number"`
	Node          string   `json:"node"`
	Class         string   `json:"class"` // the most probable
	Probability   number   `json:"probability"`
	Probabilities []number `json:"probabilities"` // of all classes, in their order
	Measured      bool     `json:"measured"`
	Told          string   `json:"told,omitempty"` // class that it was found to be of, the last one
	N             int      `json:"n"`
	Pending       bool     `json:"pending,omitempty"`
	Abandoned     bool     `json:"abandoned,omitempty"`
	Nearest       *nearest `json:"nearest,omitempty"` // of nodes that were asked for by id
	whereabouts
}

// classView returns the prediction and state of a node.
func (b nodeStates) classView(net *network, p *study.Predictions, i int) classView {
	id := net.Graph.IDs().At(i)
	v := classView{
		Number: net.number[i], Node: id, Class: p.Classes[p.Class[i]], Probability: number(p.Mean[i]),
		Told: b.class[id], N: b.measured[id].n, Measured: b.measured[id].n > 0, Pending: b.pending[id], Abandoned: b.abandoned[id],
		whereabouts: net.whereabouts(i),
	}
	for _, one := range p.Probabilities.RawRowView(i) {
		v.Probabilities = append(v.Probabilities, number(one))
	}
	return v
}

// chance is the probability of a class.
type chance struct {
	Class       string `json:"class"`
	Probability number `json:"probability"`
}

// chancesOf returns the probabilities of the classes at a node, in the order of the classes.
func chancesOf(p *study.Predictions, i int) []chance {
	all := make([]chance, len(p.Classes))
	for c, v := range p.Probabilities.RawRowView(i) {
		all[c] = chance{p.Classes[c], number(v)}
	}
	return all
}

// classPredictions is predictions of a study of classes. named says that the nodes were asked for
// by id.
func classPredictions(w http.ResponseWriter, o *openStudy, p *study.Predictions, format, order string, nodes []int, named bool) error {
	switch format {
	case "csv":
		return classTable(w, o, p, o.net.sorted(p, nil, order))
	case "columns":
		var c columns
		class := make([]byte, len(p.Class))
		for k, i := range o.net.order {
			class[k] = byte(p.Class[i])
		}
		c.bytes("class", class)
		c.floats("probability", len(p.Mean), func(k int) float64 { return p.Mean[o.net.order[k]] })
		return c.send(w, map[string]any{"kind": "predictions", "seq": p.Seq, "readings": p.Measurements, "classes": p.Classes,
			"terms": termsOf(p.Spec.Terms.Names())})
	}
	answer := struct {
		Seq      int64       `json:"seq"`
		Readings int         `json:"readings"`
		Classes  []string    `json:"classes"`
		Spec     grfgp.Spec  `json:"spec"`
		Terms    []string    `json:"terms"`
		Total    int         `json:"total"`
		Nodes    []classView `json:"nodes"`
		Next     *int        `json:"next,omitempty"`
	}{p.Seq, p.Measurements, p.Classes, p.Spec, termsOf(p.Spec.Terms.Names()), o.net.Graph.Len(), []classView{}, nil}
	if last := len(nodes) - 1; !named && order == "" && last >= 0 && o.net.number[nodes[last]]+1 < answer.Total {
		answer.Next = &o.net.number[nodes[last]]
	}
	b := o.nodeStates()
	for _, i := range nodes {
		v := b.classView(o.net, p, i)
		if named {
			v.Nearest = o.surroundings(o.net).nearest(i)
		}
		answer.Nodes = append(answer.Nodes, v)
	}
	return respond(w, http.StatusOK, answer)
}

func classTable(w http.ResponseWriter, o *openStudy, p *study.Predictions, nodes []int) error {
	head := []string{"node", "class", "probability", "measured", "told", "n"}
	for _, class := range p.Classes {
		head = append(head, cell("p_"+class))
	}
	b := o.nodeStates()
	return table(w, o.name+"-predictions", head, func(row func(...string)) {
		for _, i := range nodes {
			v := b.classView(o.net, p, i)
			cells := []string{cell(v.Node), cell(v.Class), figure(float64(v.Probability)), strconv.FormatBool(v.Measured), cell(v.Told),
				strconv.Itoa(v.N)}
			for _, one := range v.Probabilities {
				cells = append(cells, figure(float64(one)))
			}
			row(cells...)
		}
	})
}

// leftClass is a label that was predicted from the others.
type leftClass struct {
	Node      string `json:"node"`
	Class     string `json:"class"` // told
	Predicted string `json:"predicted"`
	// Probability is that of the predicted class, and Chance that of the one told.
	Probability number `json:"probability"`
	Chance      number `json:"chance"`
}

// classScore is how well classes are predicted.
type classScore struct {
	Accuracy   number `json:"accuracy"` // share predicted rightly
	AccuracySE number `json:"accuracy_se"`
	NLL        number `json:"nll"`
	ECE        number `json:"ece"`
}

func newClassScore(s crossval.ClassScore) classScore {
	return classScore{number(s.Accuracy), number(s.AccuracySE), number(s.NLL), number(s.ECE)}
}

// classCalibration is calibration of a study of classes.
func (o *openStudy) classCalibration(ctx context.Context, w http.ResponseWriter, seq int64) error {
	v, err := o.judging.await(ctx, o.server, func() (v *study.ClassCalibration, err error) {
		o.reportLearning(func() { v, err = o.ClassCalibration(o.server.ctx) })
		return v, err
	})
	if err != nil {
		return err
	}
	answer := struct {
		Seq      int64           `json:"seq"`
		Readings int             `json:"readings"`
		Classes  []string        `json:"classes"`
		Scheme   crossval.Scheme `json:"scheme"`
		classScore
		Baselines   map[string]classScore     `json:"baselines"`
		Confusion   [][]int                   `json:"confusion"` // counts, by class told and class predicted
		Reliability []crossval.ReliabilityBin `json:"reliability"`
		Left        []leftClass               `json:"left"`
	}{seq, len(v.HeldOut), v.Classes, v.Scheme, newClassScore(v.ClassScore), map[string]classScore{}, v.Confusion, v.Reliability,
		[]leftClass{}}
	for rule, score := range v.Baselines {
		answer.Baselines[string(rule)] = newClassScore(score)
	}
	ids := o.net.Graph.IDs()
	for _, l := range v.HeldOut {
		answer.Left = append(answer.Left, leftClass{ids.At(l.Node), v.Classes[l.Class], v.Classes[l.Predicted],
			number(l.Probabilities[l.Predicted]), number(l.Probabilities[l.Class])})
	}
	return respond(w, http.StatusOK, answer)
}
