package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBadZoneFiles: each is refused by serve and by check, with what is wrong,
// where, and how to mend it, and nothing is left half-started.
func TestBadZoneFiles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		make    func(t *testing.T, file string)
		message string
	}{
		{"empty", text(""), "gslb.zone: file is empty"},
		{"binary", text("\x7fELF\x00\x01\x02\x00\xff\xfe"), "gslb.zone"},
		{"a directory", func(t *testing.T, file string) {
			if err := os.Mkdir(file, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "gslb.zone: "},
		{"missing", func(*testing.T, string) {}, "gslb.zone: "},
		{"includes itself", text(zoneText(1, "$INCLUDE gslb.zone")), "gslb.zone:5: "},
		{"BOM", text("\ufeff" + zoneText(1, "")), "gslb.zone:1: file begins with a byte order mark"},
		{"broken twice", text(zoneText(1, "a A 1.2.3\nb A 1.2.3")), "gslb.zone:6: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			port := freePort(t)
			dir := site(t, fmt.Sprintf("listen: [ \"127.0.0.1:%d\" ]", port), "")
			if err := os.Remove(filepath.Join(dir, "gslb.zone")); err != nil {
				t.Fatal(err)
			}
			tt.make(t, filepath.Join(dir, "gslb.zone"))
			refused(t, run(t, dir, "serve"), tt.message)
			nothingLeft(t, dir, fmt.Sprintf("127.0.0.1:%d", port))
			if got := run(t, dir, "check"); got.code != 1 || !strings.Contains(got.stdout, tt.message) {
				t.Errorf("check: got %+v", got)
			}
		})
	}
}

func text(s string) func(*testing.T, string) {
	return func(t *testing.T, file string) { write(t, file, s) }
}

// refused checks that a command failed with the message and a hint.
func refused(t *testing.T, got result, message string) {
	t.Helper()
	if got.code != 1 || got.stdout != "" || !strings.Contains(got.stderr, message) || !strings.Contains(got.stderr, "hint: ") {
		t.Errorf("got %d %q\n%s\nwant %s and a hint", got.code, got.stdout, got.stderr, message)
	}
}

// TestOddZoneFiles: these are well.
func TestOddZoneFiles(t *testing.T) {
	t.Parallel()
	plain := zoneText(1, steady)
	tests := []struct{ name, text string }{
		{"no final newline", strings.TrimRight(plain+"end A 127.0.0.9 ; @primary check=none", "\n")},
		{"CRLF", strings.ReplaceAll(plain, "\n", "\r\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := site(t, "", "")
			write(t, filepath.Join(dir, "gslb.zone"), tt.text)
			got := run(t, dir, "explain", www, "--down", "127.0.0.70")
			if got.code != 0 || !strings.Contains(got.stdout, "NOERROR 127.0.0.71") {
				t.Errorf("got %+v", got)
			}
			if got := serve(t, dir).dig(www, "A").String(); got != "NOERROR 127.0.0.70" {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestUnreadable: a file that the server's user may not read.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir := site(t, "", steady)
	if err := os.Chmod(filepath.Join(dir, "gslb.zone"), 0); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, dir, "serve")
	if os.Geteuid() == 0 { // root reads everything
		const nobody = 65534
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Path = copyProgram(t, cmd.Path)
	}
	refused(t, finish(t, cmd), "gslb.zone: ")
	if _, err := os.Lstat(filepath.Join(dir, "gslbd.sock")); err == nil {
		t.Error("a socket was left behind")
	}
}

// copyProgram puts the program where every user may run it.
func copyProgram(t *testing.T, path string) string {
	t.Helper()
	dir := shortDir(t)
	copied := filepath.Join(dir, "gslbd")
	syscall.ForkLock.RLock() // whom another test starts meanwhile would have the file open for writing: "text file busy"
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(copied, []byte(read(t, path)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return copied
}

// TestBadConfigurations: as for zone files.
func TestBadConfigurations(t *testing.T) {
	t.Parallel()
	const zones = "zones: [ { name: gslb.example.com, file: gslb.zone } ]\n"
	tests := []struct{ name, text, message string }{
		{"empty", "", "gslbd.yaml"},
		{"no zones", "watch: true\n", "gslbd.yaml: zones: no zones"},
		{"port 0", zones + "checks: { web: { type: http, port: 0 } }\n", "gslbd.yaml:2: checks.web.port: 0 is out of range"},
		{"port 70000", zones + "checks: { web: { type: tcp, port: 70000 } }\n", "gslbd.yaml:2: checks.web.port: 70000 is out of range"},
		{"listen nonsense", zones + "listen: [ here ]\n", "here"},
		{"listen on a port beyond", zones + "listen: [ \"127.0.0.1:70000\" ]\n", "70000"},
		{"an address of another machine", zones + "listen: [ \"192.0.2.99:0\" ]\n", "192.0.2.99:0"},
		{"a socket in no directory", zones + "listen: [ \"127.0.0.1:0\" ]\nadmin: { socket: no/such/dir/s }\n", "admin socket no/such/dir/s: no such file or directory"},
		{"tabs", zones + "checks:\n\tweb: 1\n", "gslbd.yaml:3: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := site(t, "", steady)
			write(t, filepath.Join(dir, "gslbd.yaml"), tt.text)
			refused(t, run(t, dir, "serve"), tt.message)
			if _, err := os.Lstat(filepath.Join(dir, "gslbd.sock")); err == nil {
				t.Error("a socket was left behind")
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		refused(t, run(t, shortDir(t), "serve"), "no configuration file")
	})
}

// TestEveryProblem: a start tells the problems of all zones at once.
func TestEveryProblem(t *testing.T) {
	t.Parallel()
	dir := site(t, "", steady)
	write(t, filepath.Join(dir, "gslbd.yaml"), "zones:\n  - { name: a.example, file: a.zone }\n  - { name: b.example, file: b.zone }\n")
	write(t, filepath.Join(dir, "a.zone"), "@ A bad\n")
	write(t, filepath.Join(dir, "b.zone"), "@ NS\n")
	got := run(t, dir, "serve")
	refused(t, got, "a.zone:1: ")
	refused(t, got, "b.zone:1: ")
}
