// Package crossval measures how well a model predicts, by cross-validation: the
// measurements (or labels) are divided into folds; each fold is held out in turn,
// a model is fitted to the other folds, and its predictions are compared with the
// held-out values. Start with [Validate] for measurements and [ValidateClasses]
// for labels.
//
// # Folds
//
// Scattered folds are random nodes and answer "how well is a node predicted
// between measured nodes?". Neighbourhoods are connected regions of the graph and
// answer "how well is a region predicted in which nothing was measured?". All
// measurements of a node are in the same fold.
//
// # Scores
//
// With predicted mean m_i and standard deviation s_i (noise included) of the
// held-out value y_i, a Validation has
//
//	RMSE      √(mean of (y_i − m_i)²), and the same of baselines
//	NLPD      mean of −log N(y_i; m_i, s_i²)
//	PIT       Φ((y_i − m_i)/s_i), uniform on [0, 1] for a calibrated model
//	Coverage  share of y_i in the central credible intervals of some levels
//
// A ClassValidation has accuracy, negative log likelihood (NLL), expected
// calibration error (ECE) and the confusion matrix.
//
// # Baselines
//
// A model is useful if it beats simple rules. Baselines of measurements are their
// mean, the nearest measurement in hops, harmonic interpolation, graph ridge, least
// squares on covariates, and ridge on singular vectors; those of labels are the class
// frequencies, label spreading, and the last two with one regression per class. None
// has intervals. CompareErrors, JudgeCoverage, CompareAccuracy and JudgeCalibration
// turn scores into verdicts.
package crossval
