package experiment

// ringCost is a row of the paper's Tables 2 and 3.
type ringCost struct {
	nodes                           float64
	memory                          float64 // MB
	initialise, training, inference float64 // seconds
	rmse                            float64 // at test nodes, from the authors' result files
}

// paperDense is Table 2.
var paperDense = []ringCost{
	{32, 0.024, 0.115, 1.726, 0.019, 0.2435},
	{64, 0.094, 0.205, 1.430, 0.018, 0.1754},
	{128, 0.375, 0.421, 1.403, 0.017, 0.2094},
	{256, 1.5, 0.840, 1.371, 0.016, 0.2865},
	{512, 6, 1.800, 1.370, 0.021, 0.2838},
	{1024, 24, 4.189, 2.465, 0.045, 0.2478},
	{2048, 96, 10.546, 7.680, 0.173, 0.2709},
	{4096, 384, 31.749, 40.376, 1.043, 0.2821},
	{8192, 1536, 104.839, 307.188, 7.572, 0.2962},
}

// paperSparse is Table 3.
var paperSparse = []ringCost{
	{32, 0.004, 0.160, 4.103, 0.066, 0.8339},
	{64, 0.008, 0.168, 3.823, 0.061, 0.5944},
	{128, 0.015, 0.202, 4.036, 0.066, 0.5023},
	{256, 0.030, 0.271, 4.369, 0.079, 0.6572},
	{512, 0.059, 0.379, 4.395, 0.077, 0.5992},
	{1024, 0.118, 0.552, 4.549, 0.082, 0.5833},
	{2048, 0.235, 0.973, 4.416, 0.082, 0.5854},
	{4096, 0.470, 1.790, 4.185, 0.078, 0.5888},
	{8192, 0.938, 3.481, 4.247, 0.076, 0.6929},
	{16384, 1.876, 6.764, 5.117, 0.100, 0.6338},
	{32768, 3.751, 13.297, 6.623, 0.129, 0.6445},
	{65536, 7.501, 26.569, 12.566, 0.254, 0.6386},
	{131072, 15.001, 53.012, 31.534, 0.651, 0.6204},
	{262144, 30, 105.901, 60.488, 1.216, 0.6406},
	{524288, 60, 212.671, 111.672, 2.068, 0.7086},
	{1048576, 120, 426.074, 245.060, 4.947, 0.6229},
}

// of returns the paper's number for one of our columns.
func (c ringCost) of(column string) float64 {
	switch column {
	case "stored_mb":
		return c.memory
	case "init_seconds":
		return c.initialise
	case "training_seconds":
		return c.training
	case "inference_seconds":
		return c.inference
	}
	return c.rmse
}
