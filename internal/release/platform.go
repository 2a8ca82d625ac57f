package main

// A platform is what one program runs on.
type platform struct {
	name   string // in the names of archives
	os     string // as Go calls it
	arch   string
	static bool   // without the C library, so without NVIDIA's cards
	wheel  string // the platform tag of Python's wheels
	debian string // the architecture of the Debian package; "": none
	image  bool   // runs in the image
}

// The programs take no versioned symbol of a C library, so any glibc or musl serves. Go 1.26 needs
// macOS 12.
var platforms = []platform{
	{name: "linux-amd64", os: "linux", arch: "amd64", wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64", debian: "amd64"},
	{name: "linux-arm64", os: "linux", arch: "arm64", wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64", debian: "arm64"},
	{name: "linux-amd64-static", os: "linux", arch: "amd64", static: true, wheel: "musllinux_1_1_x86_64", image: true},
	{name: "linux-arm64-static", os: "linux", arch: "arm64", static: true, wheel: "musllinux_1_1_aarch64", image: true},
	{name: "macos-amd64", os: "darwin", arch: "amd64", wheel: "macosx_12_0_x86_64"},
	{name: "macos-arm64", os: "darwin", arch: "arm64", wheel: "macosx_12_0_arm64"},
	{name: "windows-amd64", os: "windows", arch: "amd64", wheel: "win_amd64"},
	{name: "windows-arm64", os: "windows", arch: "arm64", wheel: "win_arm64"},
}

// binary is the name of the program's file.
func (p platform) binary() string {
	if p.os == "windows" {
		return "utvi.exe"
	}
	return "utvi"
}
