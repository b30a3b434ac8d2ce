// Package report writes what a model found as one self-contained HTML file, and
// states the results of a validation in words.
//
// [Regression] is the input of a report on predicted values and [Classes] that of
// a report on predicted classes; Write draws the maps and figures and writes the
// page. The page loads nothing and runs no script, and the same input gives the
// same bytes.
//
// [CompareErrors], [JudgeCoverage], [CompareAccuracy] and [JudgeCalibration] are the
// statistics behind the sentences of a report: they take numbers and return typed
// verdicts, whose String methods are the only place where verdicts become words.
// [Verdicts], [ClassVerdicts] and [LimitNotes] collect the sentences for a whole
// validation, and [PolicyVerdict] is the sentence for a replay.
//
// [DescribeGraph], [DescribeMeasurements] and [DescribeFile] summarize the input.
package report
