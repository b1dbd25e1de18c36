package config

import (
	"crypto/tls"
	"crypto/x509"
	"path/filepath"

	"gslbd/health/probe"
)

// resolve gives a path as the process opens it: relative ones are relative to
// the configuration file.
func (r *reader) resolve(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.dir, path)
}

// credentials opens the files that a check names, so that a bad one is found
// now and not by its first probe.
func (r *reader) credentials(h *probe.HTTP, given map[string]field) {
	r.authorities(h.CAFile, given)
	if at, ok := given["password_file"]; ok {
		r.content(at, h.PasswordFile)
	}
	at, hasCert := given["cert_file"]
	keyAt, hasKey := given["key_file"]
	if !hasCert || !hasKey {
		return
	}
	cert, certOK := r.content(at, h.CertFile)
	key, keyOK := r.content(keyAt, h.KeyFile)
	if certOK && keyOK {
		if _, err := tls.X509KeyPair(cert, key); err != nil {
			r.fail(at, "cert_file and key_file are PEM files that belong together", "%v", err)
		}
	}
}

// authorities opens the file of a ca_file key.
func (r *reader) authorities(file string, given map[string]field) {
	at, ok := given["ca_file"]
	if !ok {
		return
	}
	if data, ok := r.content(at, file); ok && !x509.NewCertPool().AppendCertsFromPEM(data) {
		r.fail(at, "a PEM file that begins with -----BEGIN CERTIFICATE-----", "%s holds no certificate", file)
	}
}

// content reads a file, or says why it cannot be used.
func (r *reader) content(f field, path string) ([]byte, bool) {
	if path == "" {
		return nil, false // reported where it was read
	}
	data, err := readFile(path)
	if err != nil {
		r.fail(f, "relative paths start at the directory of the configuration file", "%s: %s", path, reason(err))
		return nil, false
	}
	return data, true
}
