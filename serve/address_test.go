package serve

import (
	"net"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	for _, c := range []struct {
		ip     string
		secure bool
		want   string
	}{
		{"127.0.0.1", false, "http://127.0.0.1:8080/"},
		{"::1", true, "https://[::1]:8080/"},
		{"0.0.0.0", false, "http://localhost:8080/"},
		{"::", false, "http://localhost:8080/"},
	} {
		if got := page(&net.TCPAddr{IP: net.ParseIP(c.ip), Port: 8080}, c.secure); got != c.want {
			t.Errorf("the page of %s is %s, not %s", c.ip, got, c.want)
		}
	}
	if got := page(nil, false); got != "none" {
		t.Errorf("the page without HTTP is %s", got)
	}
}

// An address that is taken, or is none, is named once.
func TestListenError(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, at := range []string{taken.Addr().String(), "nowhere"} {
		_, err := net.Listen("tcp", at)
		if err == nil {
			t.Fatalf("%s can be listened at", at)
		}
		got := (&ListenError{"HTTP", at, err}).Error()
		if !strings.HasPrefix(got, "cannot answer HTTP at "+at+": ") || strings.Count(got, at) != 1 || strings.Contains(got, "bind") {
			t.Errorf("%q", got)
		}
	}
}
