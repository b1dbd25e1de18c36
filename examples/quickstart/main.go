// Quickstart shows a failover on one machine: it builds gslbd, starts a demo
// web server for each target in the zone file beside it, and runs gslbd. Stop a
// web server with the command it prints, and watch the answer move.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "backend" {
		exit(backend(os.Args[2], os.Args[3]))
	}
	dir := flag.String("dir", "", "folder with gslbd.yaml and the zone file (default: this example's)")
	program := flag.String("gslbd", "", "gslbd to run (default: built from this module, as ./gslbd)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	exit(run(ctx, *dir, *program))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run serves until gslbd ends or ctx is done; in the second case it does not
// matter how the parts took it.
func run(ctx context.Context, dir, program string) error {
	err := serve(ctx, dir, program)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serve starts everything, and stops everything when one part fails to start
// or gslbd ends.
func serve(ctx context.Context, dir, program string) error {
	dir, program, err := prepare(ctx, dir, program)
	if err != nil {
		return err
	}
	plan, err := readPlan(dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var backends sync.WaitGroup
	defer backends.Wait()
	defer cancel()
	for _, b := range plan.backends {
		if err := b.start(ctx, &backends); err != nil {
			return err
		}
	}
	config := shown(filepath.Join(dir, "gslbd.yaml"))
	fmt.Printf("gslbd on %s: ask it with: %s\n", plan.listen, plan.dig())
	fmt.Printf("look inside with: %s status -c %s\nCtrl-C stops everything.\n\n", shown(program), config)
	if err := child(ctx, program, "serve", "-c", config).Run(); err != nil {
		return fmt.Errorf("gslbd ended: %w", err)
	}
	return nil
}

// prepare fills in the defaults of both flags and builds gslbd if need be.
func prepare(ctx context.Context, dir, program string) (string, string, error) {
	if dir != "" && program != "" {
		return dir, program, nil
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", "gslbd/examples/quickstart").Output()
	if err != nil {
		return "", "", errors.New("run this inside the repository: go run ./examples/quickstart")
	}
	root := strings.TrimSpace(string(out))
	if dir == "" {
		dir = filepath.Join(root, "examples", "quickstart")
	}
	if program == "" {
		program = filepath.Join(root, "gslbd")
		build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/gslbd")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return "", "", fmt.Errorf("building gslbd: %w\n%s", err, out)
		}
	}
	return dir, program, nil
}

// child is a command that shares our terminal and is asked to stop when ctx is
// done, then made to. Where the system can do that, it also ends when we are
// killed.
func child(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = endWithParent()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 6 * time.Second // gslbd takes at most 5 s to finish
	return cmd
}

// shown shortens a path to what one would type here.
func shown(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(here, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	if !strings.ContainsRune(rel, filepath.Separator) {
		return "." + string(filepath.Separator) + rel
	}
	return rel
}
