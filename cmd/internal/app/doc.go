// Package app puts the parts of gslbd together and runs them: New reads
// everything that can be wrong in files, Start binds and probes, Reload swaps
// what changed, Stop undoes what Start did. What the commands need without a
// running server (Check, Explain, Probe) is here too.
package app
