package schema

import "testing"

// A cell that is no time is answered with the order of day, month and year in words.
func TestNotATime(t *testing.T) {
	for _, c := range []struct{ a, b, cell, want string }{
		{"1/2/2023", "2/28/2023", "13/02/2023", `"13/02/2023" is not month/day/year such as 1/31/2023`},
		{"13/2/2023", "1/2/2023", "1/13/2023", `"1/13/2023" is not day/month/year such as 31/1/2023`},
		{"1.2.2023", "28.2.2023", "1.13.2023", `"1.13.2023" is not day.month.year such as 31.1.2023`},
		{"2023-01-02", "2023-02-28", "soon", `"soon" is not year-month-day such as 2023-01-31`},
		{"2023-01-02 10:00", "2023-02-28 11:00", "soon", `"soon" is not year-month-day hour:minute such as 2023-01-31 14:30`},
		{"1/2/2023 1:00 PM", "1/3/2023 2:00 AM", "soon", `"soon" is not month/day/year hour:minute PM such as 1/31/2023 2:30 PM`},
		{"2 Jan 2023", "3 Feb 2023", "soon", `"soon" is not day month year such as 31 Jan 2023`},
		{"10:30", "11:30", "soon", `"soon" is not hour:minute such as 14:30`},
		{"20230102,0\n20230104", "20230103", "soon", `"soon" is not a time such as 20230131`},
		{"2023-01-02T10:00:00Z", "2023-01-03T10:00:00Z", "soon", `"soon" is not a time such as 2023-01-31T14:30:00Z`},
	} {
		s := infer(t, "c,y\n"+c.a+",1\n"+c.b+",2\n"+c.a+",3\n", Spec{Targets: []string{"y"}})
		_, err := s.Encode(load(t, "c,y\n"+c.cell+",1\n").Rows(nil))
		wantError(t, c.a, err, "a.csv line 2, column c: "+c.want+", which the model was trained with")
	}
}
