package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	memoryNames = 500_000 // with two records each
	steadyFor   = 10 * time.Second
	steadyAtAll = 2 * time.Minute
)

// memory measures what a record takes in gslbd, Knot and NSD.
func memory() error {
	dir, err := os.MkdirTemp("", "gslbd-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gslbd, err := build(dir)
	if err != nil {
		return err
	}
	small, big := filepath.Join(dir, "small.zone"), filepath.Join(dir, "big.zone")
	if err := writeZone(small, 1); err != nil {
		return err
	}
	if err := writeZone(big, memoryNames); err != nil {
		return err
	}
	fmt.Printf("resident memory with %d records, after it has not grown or shrunk by more than 1 %% for %v\n", 2*memoryNames+3, steadyFor)
	fmt.Printf("  %-8s %12s %12s %12s %14s\n", "", "processes", "RSS MiB", "PSS MiB", "bytes/record")
	for _, r := range append([]rival{ours(gslbd)}, rivals()...) {
		if r.name != "gslbd" && r.name != "Knot" && r.name != "NSD" {
			continue
		}
		if _, err := exec.LookPath(r.program); err != nil {
			fmt.Printf("  %s is not installed (Debian: %s), and left out\n", r.name, r.debian)
			continue
		}
		empty, _, err := r.resident(dir, small)
		if err != nil {
			return err
		}
		full, processes, err := r.resident(dir, big)
		if err != nil {
			return err
		}
		fmt.Printf("  %-8s %12d %12.0f %12.0f %14.0f\n", r.name, processes, full.rss/1024, full.pss/1024, (full.pss-empty.pss)*1024/(2*memoryNames))
	}
	return nil
}

// pages is memory in KiB: the sum of what each process has in memory, and the same with each shared page counted once.
type pages struct{ rss, pss float64 }

// resident starts a server with a zone, and waits until its memory is steady.
func (r rival) resident(dir, zone string) (p pages, processes int, err error) {
	d, err := r.start(dir, -1, "big.test.", zone)
	if err != nil {
		return p, 0, err
	}
	defer d.stop()
	began := time.Now()
	for steady := began; time.Since(steady) < steadyFor && time.Since(began) < steadyAtAll; time.Sleep(time.Second) {
		pids, err := d.processes()
		if err != nil {
			return p, 0, err
		}
		now, err := residentNow(pids)
		if err != nil {
			return p, 0, err
		}
		if now.pss > 1.01*p.pss || now.pss < .99*p.pss {
			steady, p = time.Now(), now
		}
		processes = len(pids)
	}
	return p, processes, nil
}

func residentNow(pids []int) (p pages, err error) {
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			return p, err
		}
		for line := range strings.Lines(string(text)) {
			var key string
			var value float64
			if n, _ := fmt.Sscan(line, &key, &value); n < 2 {
				continue
			}
			switch key {
			case "Rss:":
				p.rss += value
			case "Pss:":
				p.pss += value
			}
		}
	}
	return p, nil
}
