package main

import "testing"

func TestInFlags(t *testing.T) {
	for from, to := range map[string]string{
		`"2,056" is read as 2056; if it means 2.056, set decimal to comma`:             `"2,056" is read as 2056; if it means 2.056, use --decimal comma`,
		`correct it or leave the cell empty, or name column y as categorical`:          `correct it or leave the cell empty, or name column y with --categorical`,
		`the scores are too good (name ts as the time to hold out the latest rows)`:    `the scores are too good (--time ts holds out the latest rows)`,
		`ignore column as, or name it as categorical; was read as data: set header to`: `ignore column as, or name it with --categorical; was read as data: set header to`,
	} {
		if got := inFlags(from); got != to {
			t.Errorf("%q becomes %q, want %q", from, got, to)
		}
	}
}
