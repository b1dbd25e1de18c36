package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"

	"gslbd/dnsserver/answer"
	"gslbd/zone"
)

// stages loads one file in this process and prints: parse seconds, MiB,
// compile seconds, MiB (peak since the start of the process).
func stages(file string) error {
	start := time.Now()
	z, problems := zone.Load(zone.Source{Name: "big.test", File: file}, zone.Vocabulary{})
	if z == nil {
		return problems
	}
	parsed := time.Since(start)
	afterParse, err := peak(os.Getpid())
	if err != nil {
		return err
	}
	start = time.Now()
	if _, err := answer.CompileZone(z); err != nil {
		return err
	}
	compiled := time.Since(start)
	afterCompile, err := peak(os.Getpid())
	if err != nil {
		return err
	}
	fmt.Println(parsed.Seconds(), afterParse, compiled.Seconds(), afterCompile)
	return nil
}

// runStages does so in a process of its own, for a peak of its own.
func runStages(file string, parse, compile *series) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.Command(self, "stages", file).Output()
	if err != nil {
		return fmt.Errorf("stages: %w", err)
	}
	var p, c sample
	if _, err := fmt.Sscan(string(out), &p.seconds, &p.megabytes, &c.seconds, &c.megabytes); err != nil {
		return fmt.Errorf("stages printed %q: %w", out, err)
	}
	parse.samples = append(parse.samples, p)
	compile.samples = append(compile.samples, c)
	return nil
}
