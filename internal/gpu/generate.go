package gpu

//go:generate go -C _ptx run .
