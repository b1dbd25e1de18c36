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
	if at, ok := given["ca_file"]; ok {
		if data, ok := r.content(at, h.CAFile); ok && !x509.NewCertPool().AppendCertsFromPEM(data) {
			r.fail(at, "a PEM file that begins with -----BEGIN CERTIFICATE-----", "%s holds no certificate", h.CAFile)
		}
	}
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
