package config

import "testing"

func TestSize(t *testing.T) {
	const unit = "\n  hint: bytes, or a number with KiB, MiB or GiB such as 8MiB; 4KiB to 512MiB"
	const limits = "\n  hint: 4KiB to 512MiB"
	for _, test := range []struct {
		value string
		want  int
		fault string
	}{
		{value: "4096", want: 4096},
		{value: "0x2000", want: 8192},
		{value: "4KiB", want: 4096},
		{value: "8MiB", want: 8 << 20},
		{value: "8 MiB", want: 8 << 20},
		{value: `"512MiB"`, want: 512 << 20},
		{value: `"8388608"`, want: 8 << 20},
		{value: "536870912", want: 512 << 20},
		{value: "4095", fault: "4095 is out of range\n  hint: 4096 to 536870912"},
		{value: "0", fault: "0 is out of range\n  hint: 4096 to 536870912"},
		{value: "-1", fault: "-1 is out of range\n  hint: 4096 to 536870912"},
		{value: "99999999999", fault: "99999999999 is out of range\n  hint: 4096 to 536870912"},
		{value: "3KiB", fault: "3KiB is out of range" + limits},
		{value: "513MiB", fault: "513MiB is out of range" + limits},
		{value: "1GiB", fault: "1GiB is out of range" + limits},
		{value: "99999999999999999999KiB", fault: "99999999999999999999KiB is out of range" + limits},
		{value: "08MiB", fault: "08MiB would be read as octal by some" + limits + ", without leading zeros"},
		{value: "4MB", fault: `"4MB" is not a size` + unit},
		{value: "4M", fault: `"4M" is not a size` + unit},
		{value: "4mib", fault: `"4mib" is not a size` + unit},
		{value: "1.5MiB", fault: `"1.5MiB" is not a size` + unit},
		{value: "-4KiB", fault: `"-4KiB" is not a size` + unit},
		{value: "MiB", fault: `"MiB" is not a size` + unit},
		{value: "KiBKiB", fault: `"KiBKiB" is not a size` + unit},
		{value: "big", fault: `"big" is not a size` + unit},
		{value: "1e6", fault: `"1e6" is not a size` + unit},
		{value: `""`, fault: `"" is not a size` + unit},
		{value: "~", fault: "nothing is not a whole number\n  hint: 4096 to 536870912"},
		{value: "[ 4096 ]", fault: "a list is not a whole number\n  hint: 4096 to 536870912"},
		{value: "{ a: 1 }", fault: "a map is not a whole number\n  hint: 4096 to 536870912"},
	} {
		got := 0
		if fault := apply(t, test.value, size(&got, 4<<10, 512<<20)); got != test.want || fault != test.fault {
			t.Errorf("%s: got %d, %q, want %d, %q", test.value, got, fault, test.want, test.fault)
		}
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int]string{0: "0", 1: "1", 1023: "1023", 1024: "1KiB", 1025: "1025", 1536 << 10: "1536KiB", 4 << 20: "4MiB", 1 << 30: "1GiB"} {
		if got := sizeText(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

// TestUDP: the section and its variables, and what its absence means.
func TestUDP(t *testing.T) {
	for text, want := range map[string]UDP{
		"": {},
		"udp: { workers: 0, receive_buffer: 8MiB }":                        {ReceiveBuffer: 8 << 20},
		"udp: { workers: 256, receive_buffer: 4096, send_buffer: 512 KiB}": {256, 4096, 512 << 10},
	} {
		if got := mustLoad(t, oneZone+text+"\n").UDP; got != want {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
	t.Setenv("GSLBD_UDP_WORKERS", "3")
	t.Setenv("GSLBD_UDP_RECEIVE_BUFFER", "16MiB")
	t.Setenv("GSLBD_UDP_SEND_BUFFER", "65536")
	if got, want := mustLoad(t, oneZone+"udp: { workers: 2, receive_buffer: 1MiB }\n").UDP, (UDP{3, 16 << 20, 64 << 10}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
