//go:build !linux && !darwin

package prometheus

// system registers no metrics of processes on other systems.
func (r *Registry) system() {}
