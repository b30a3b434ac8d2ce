package gp

// A MeasurementTable is a table of measurements, such as graphio.Measurements.
type MeasurementTable interface {
	// Statistics returns the fields of [Data]. The variances of the noise follow
	// from the table's standard deviations; they are nil if it has none.
	Statistics() (nodes []int, values, noiseVar []float64, count []int, scatter []float64, err error)
	// Exposures returns Data.Exposure; nil if the values are neither counts nor shares.
	Exposures() []float64
}

// DataOf returns the measurements of a table.
func DataOf(t MeasurementTable) (Data, error) {
	nodes, values, noiseVar, count, scatter, err := t.Statistics()
	return Data{Nodes: nodes, Y: values, NoiseVar: noiseVar, Count: count, Scatter: scatter, Exposure: t.Exposures()}, err
}

// A LabelTable is a table of class labels, such as graphio.ClassLabels.
type LabelTable interface {
	// ClassNumbers returns the fields of [Labels].
	ClassNumbers() (nodes, class []int, classes int)
}

// LabelsOf returns the class labels of a table.
func LabelsOf(t LabelTable) Labels {
	nodes, class, classes := t.ClassNumbers()
	return Labels{nodes, class, classes}
}
