package report

// Terms of reports, with their meaning.
var (
	modelTerms = facts{
		{"kernel", "says how alike the values of two nodes are, by the walks that connect them"},
		{
			"representation (method)",
			"how the kernel is computed: exactly (dense, series), by random walks (grf) or by its leading part (lowrank)"},
		{"scales", "one: neighbourhoods of one size; many: also wider ones"},
		{"graph/, covariates/, time/ …", "the term of the kernel to which a hyperparameter belongs"},
		{"variance", "how much values vary between nodes, before any was measured"},
		{"beta, kappa, length", "how far likeness reaches: larger beta and length reach farther, larger kappa less far"},
	}
	valueTerms = append(append(facts{}, modelTerms...), facts{
		{"noise", "how much repeated measurements of the same node would differ (one standard deviation)"},
		{"standardized values", "measurements minus their mean, divided by their standard deviation"},
		{"log marginal likelihood", "how well a model explains all measurements; higher is better"},
		{"interval of the quantity", "lower, upper: contains the true value of the node with the stated probability"},
		{"interval of a reading", "reading_lower, reading_upper: contains one new measurement, with its noise"},
		{"held-out", "predicted without its own fold of the measurements"},
		{"RMSE (typical miss)", "root mean square of the differences between held-out measurements and their predictions"},
		{"PIT", "the predicted probability of a value below the measurement; for a right model all values from 0 to 1 are equally frequent"},
	}...)
	classTerms = append(append(facts{}, modelTerms...), facts{
		{"entropy", "0 where the class is certain, largest where all are equally probable (in nats)"},
		{"held-out", "predicted without its own fold of the labels"},
		{"NLL", "mean negative log probability of the true class; lower is better"},
		{"ECE", "expected calibration error: how far probabilities are from observed frequencies"},
	}...)
)
