package kernels

import "testing"

const made = `// a comment; with marks {
.version 7.0
.target sm_80
.address_size 64
.func (.param .b32 func_retval0) helper
(
	.param .b32 helper_param_0
)
;
.extern .shared .align 16 .b8 room[];
.global .align 8 .b8 table[2] = {1, 2};
.global .align 8 .b8 unused[2] = {1, 2};
.visible .entry one(
	.param .b32 one_param_0
)
.maxntid 128, 1, 1
{
	call.uni (retval0), helper, (param0);
}
.visible .entry two(
	.param .b32 two_param_0
)
{
	mov.u64 %rd1, room;
}
.func (.param .b32 func_retval0) helper(
	.param .b32 helper_param_0
)
{
	mov.u64 %rd1, table;
}
`

// A kernel's text holds what it needs, and nothing else.
func TestKernel(t *testing.T) {
	x := newText([]byte(made))
	const head = ".version 7.0\n.target sm_80\n.address_size 64\n"
	for name, want := range map[string]string{
		"one": head + ".func (.param .b32 func_retval0) helper\n(\n.param .b32 helper_param_0\n)\n;\n" +
			".global .align 8 .b8 table[2] = {1, 2};\n" +
			".visible .entry one(\n.param .b32 one_param_0\n)\n.maxntid 128, 1, 1\n{\ncall.uni (retval0), helper, (param0);\n}\n" +
			".func (.param .b32 func_retval0) helper(\n.param .b32 helper_param_0\n)\n{\nmov.u64 %rd1, table;\n}\n",
		"two": head + ".extern .shared .align 16 .b8 room[];\n.visible .entry two(\n.param .b32 two_param_0\n)\n{\nmov.u64 %rd1, room;\n}\n",
	} {
		if got, err := x.Kernel(name); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	if _, err := x.Kernel("helper"); err == nil {
		t.Error("a function is no kernel")
	}
}
