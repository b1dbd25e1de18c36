package probe

import (
	"fmt"
	"io"
)

const (
	maxPassword = 4096    // bytes of a password file
	maxPEM      = 8 << 20 // bytes of a file of certificates or keys
)

// readFile reads a regular file of at most limit bytes. It never waits for
// a writer, as opening a named pipe would: nothing could cancel that.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return data, err
}
