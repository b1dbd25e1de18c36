// Bench measures how long gslbd and Knot take to load the same large zone and
// how much memory that takes; `bench packets`, `bench latency`, `bench memory`
// and `bench probes` measure other things, each in its own file.
// README.md beside it tells the method.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each is measured")
	names := flag.Int("names", 500_000, "owner names, each with an A and an AAAA record")
	flag.Parse()
	var err error
	switch flag.Arg(0) {
	case "stages":
		err = stages(flag.Arg(1))
	case "targets":
		err = targets(flag.Arg(1))
	case "packets":
		err = packets(flag.Args()[1:])
	case "latency":
		err = latency(flag.Args()[1:])
	case "memory":
		err = memory()
	case "probes":
		if flag.NArg() == 1 {
			err = measureProbes()
		} else {
			err = measureLoad(flag.Arg(1))
		}
	default:
		err = bench(*rounds, *names)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(rounds, names int) error {
	dir, err := os.MkdirTemp("", "gslbd-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	zone := filepath.Join(dir, "big.zone")
	if err := writeZone(zone, names); err != nil {
		return err
	}
	gslbd, err := build(dir)
	if err != nil {
		return err
	}
	query := fmt.Sprintf("host%d.big.test.", names-1)

	runs := []*series{{name: "gslbd serve", run: func() (sample, error) { return serveGslbd(dir, gslbd, query) }}}
	if knotd, err := exec.LookPath("knotd"); err != nil {
		fmt.Println("knotd is not installed (Debian package knot): measuring gslbd alone")
	} else {
		runs = append(runs, &series{name: "knotd", run: func() (sample, error) { return serveKnot(dir, knotd, query) }})
	}
	runs = append(runs, &series{name: "parse"}, &series{name: "compile"})
	stage := runs[len(runs)-2:]
	for range rounds {
		for _, s := range runs {
			if s.run == nil {
				continue
			}
			one, err := s.run()
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			s.samples = append(s.samples, one)
		}
		if err := runStages(zone, stage[0], stage[1]); err != nil {
			return err
		}
	}
	fmt.Printf("%d records, %d CPUs, %s, %d rounds, medians (fastest–slowest)\n", 2*names+3, runtime.NumCPU(), runtime.Version(), rounds)
	for _, s := range runs {
		fmt.Println(s)
	}
	if runs[1].name == "knotd" {
		ours, theirs := runs[0].median(), runs[1].median()
		fmt.Printf("gslbd / knotd: time %.2f, memory %.2f\n", ours.seconds/theirs.seconds, ours.megabytes/theirs.megabytes)
	}
	return nil
}

// build makes the program that is measured; $GSLBD names one that is made already.
func build(dir string) (string, error) {
	if made := os.Getenv("GSLBD"); made != "" {
		return made, nil
	}
	gslbd := filepath.Join(dir, "bin-gslbd")
	if out, err := exec.Command("go", "build", "-o", gslbd, "./cmd/gslbd").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building gslbd: %w\n%s", err, out)
	}
	return gslbd, nil
}

// writeZone makes the same file every time.
func writeZone(name string, names int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprint(w, "$ORIGIN big.test.\n$TTL 60\n@ IN SOA ns1 host 1 3600 600 86400 60\n@ IN NS ns1\nns1 IN A 127.0.0.1\n")
	for i := range names {
		fmt.Fprintf(w, "host%d IN A 10.%d.%d.%d\n", i, i>>16&255, i>>8&255, i&255)
		fmt.Fprintf(w, "host%d IN AAAA 2001:db8::%x:%x\n", i, i>>16, i&0xffff)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
