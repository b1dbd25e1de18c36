//go:build !linux

package main

import "errors"

var errLinux = errors.New("needs Linux: sockets, /proc and cores as Linux has them")

func packets([]string) error { return errLinux }

func latency([]string) error { return errLinux }

func memory() error { return errLinux }
