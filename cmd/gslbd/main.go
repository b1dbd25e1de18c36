// Command gslbd is an authoritative DNS server that steers traffic by health checks.
package main

import (
	"os"

	"gslbd/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
