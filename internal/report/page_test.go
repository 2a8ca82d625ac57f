package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

func samplePage() Page {
	figures := gallery()
	pic := func(name, label, title, caption, paper, ours string) Picture {
		return Picture{Figure: figures[name], Label: label, Title: title, Caption: caption, Paper: paper, Ours: ours, Note: "Also as " + name + ".svg and " + name + ".png."}
	}
	return Page{
		Title:      "Variational inference by the unscented transform, reproduced",
		Subtitle:   "Every experiment of arXiv 2405.02063, redone by one command, and claim by claim whether it holds.",
		Provenance: []Fact{{"Commit", "2fb37b0"}, {"Machine", "2 cores, AVX2 and FMA"}, {"Date", "15 November 2026"}, {"Wall time", "2 h 41 min"}, {"Preset", "paper"}},
		ClaimsNote: "Scaled down: 3 replicates in place of 10, 2,000 steps in place of 8,000.",
		Claims: []Claim{
			{"UT matches the closed form", "The unscented transform matches the closed form.", "The means of the best NLL differ by 0.0002 nats; both are within 0.005 of the true model's.", "", "0.0002 nats", Holds, false},
			{"UT trains better", "UT reaches a lower validation NLL than SMP in the same epochs.", "Paired over seeds, no difference is seen.", "The interval contains 0.", "−0.0001 ± 0.0006", Undecided, false},
			{"Three samples explode", "With three samples the gradients explode.", "Position NLL: UT < MC10 < MC3; 4 of 10 runs of MC3 diverged.", "", "1.83, 4.9, 27", Exceeds, false},
			{"Physics helps", "Physics-informed outputs help when data are scarce.", "Lower NLL at every size but 2⁹.", "", "4 of 5 sizes", Fails, false},
			{"Three points hide variance", "", "σ propagated / σ drawn is 0.09.", "", "0.09", Holds, true},
		},
		Sections: []Section{
			{"One-dimensional regression", []Part{
				Prose("Three ways to carry moments through a leaky ReLU are trained on the same data from the same starts. The noise depends on x; outside of ±0.5 there are no data, and an honest network says so by a wider band."),
				pic("fig1", "", "UT outperforms MC and matches SMP.", "Predictions by (a) the closed form, (b) three samples and (c) three sigma points, averaged over 10 networks; (d) validation score per epoch, with the range over the networks.", "UT matches SMP and outperforms MC with 3 samples.", "So it is: 0.0045 ± 0.0021 against 0.0047 ± 0.0024 nats above the true model's NLL."),
				pic("figS1", "Figure S1", "A single network.", "As Figure 1, for the first seed.", "", ""),
				pic("epochs", "", "Validation score per epoch.", "Bands show the range over 10 networks.", "", ""),
				Table{"Best NLL above the true model's, mean ± sd over 10 networks.", []string{"Method", "NLL (nats)", "± sd", "Time (s)", "Roughness", "Points", "Remark"}, [][]string{{"SMP, closed form", "0.0047", "0.0024", "12.1", "0.0012", "–", "reference"}, {"UT, 3 sigma points", "0.0045", "0.0021", "12.8", "0.0011", "3", "κ = 2"}, {"MC, 3 samples", "0.0083", "0.0009", "14.0", "0.0312", "3", "noisy"}}},
			}},
			{"How many samples", []Part{pic("fig2", "", "What sampling costs.", "(a) Best score, ± 1 sd over 10 networks; (b) time of a forward pass of 1,024 rows relative to SMP; (c) standard error of a prediction.", "UT is 10 times faster than MC of similar performance.", "The crossing lies at n = 64.")}},
			{"Localization", []Part{
				Warning("Scaled down: 2,000 steps in place of 30,000; the corners have not converged."),
				pic("examples", "", "Simulated emitters.", "Dots are the true positions.", "", ""),
				pic("fig3", "", "Predicted variance.", "Each map has its own scale.", "The predictive variance of UT follows the bound.", "Correlation of the logarithms 0.994."),
				pic("fig3-shared", "", "The same on one scale.", "", "", ""), pic("figS3", "Figure S3", "Few data.", "± 1 sd over 10 networks.", "", ""),
			}},
			{"Beyond the paper", []Part{pic("forest", "", "Rules compared.", "± 1 sd.", "", "")}},
			{"A table fitted", []Part{pic("fit", "", "Held-out rows.", "", "", ""), pic("pdp", "", "Partial dependence.", "Mean ± sd.", "", ""), pic("confusion", "", "Confusion.", "", "", ""), pic("reliability", "", "Reliability.", "", "", "")}},
			{"Settings", []Part{Table{"A wide table.", []string{"set", "rows", "columns", "log-likelihood", "RMSE", "MAE", "CRPS", "coverage 50 %", "coverage 90 %", "coverage 95 %", "width 90 %"}, [][]string{{"yacht", "308", "6", "−0.31 ± 0.05", "0.52", "0.31", "0.22", "51 %", "91 %", "95 %", "1.9"}, {"protein structure", "45,730", "9", "−2.84 ± 0.01", "4.1", "3.0", "2.1", "50 %", "90 %", "95 %", "11.3"}}}, Facts{{"Optimizer", "AdamW, learning rate 10⁻³, decay 0.01"}, {"Seeds", "1 … 10"}, {"Prior", "N(0, 1)"}}, Source("target: y\nensemble: 5\nwidth: 64\n")}},
		},
	}
}

func render(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := wellFormed(b.Bytes()); err != nil {
		t.Errorf("the page is not well-formed: %v", err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	p := samplePage()
	s := render(t, p)
	for _, bad := range []string{"http:", "https:", "<script", "<link", "<img", "src=", "@import", "url(", ":#222222", "ZgotmplZ"} {
		if strings.Contains(s, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	pictures := 0
	for _, section := range p.Sections {
		for _, part := range section.Parts {
			if _, ok := part.(Picture); ok {
				pictures++
			}
		}
	}
	if n := strings.Count(s, "<svg "); n != 2*pictures {
		t.Errorf("%d drawings of %d pictures, want one wide and one narrow of each", n, pictures)
	}
	for _, want := range []string{"prefers-color-scheme: dark", "@media print", "width=device-width", `href="#s6"`, "1 holds · 1 holds by more · 1 does not hold · 1 undecided", `id="findings"`,
		"✗</b> does not hold", "✓</b> holds", "?</b> undecided", `<span class="why">The interval contains 0.</span>`, "Figure S1.", "Figure 2.", `<td class="n">0.0047</td>`, `<th class="n">Points</th>`, "<td>noisy</td>", "ensemble: 5"} {
		if !strings.Contains(s, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Index(s, `id="claims"`) > strings.Index(s, `id="s1"`) {
		t.Error("the claims do not come first")
	}
}

func TestPageEscapes(t *testing.T) {
	const h = "</style></title><script>alert(1)</script>\"'&$1 \x00\x1b\xff ]]> {{.}}"
	fig := Grid{Charts: []Chart{{Title: h, X: Axis{Label: h}, Y: Axis{Label: h, Names: []string{h}}, Traces: []Trace{{Name: h, Colour: Ink, X: []float64{0}, Y: []float64{0}}}}}}
	svgOf(t, "hostile", fig)
	s := render(t, Page{Title: h, Subtitle: h, Provenance: []Fact{{h, h}}, ClaimsNote: h, Claims: []Claim{{h, h, h, h, h, Holds, false}},
		Sections: []Section{{h, []Part{Prose(h), Warning(h), Source(h), Facts{{h, h}}, Table{h, []string{h}, [][]string{{h, h}, {}}},
			Picture{Figure: fig, Label: h, Title: h, Caption: h, Paper: h, Ours: h, Note: h}}}, {h, nil}, {h, nil}}})
	if strings.Contains(s, "<script") || strings.Count(s, "</style>") != 1 || strings.Count(s, "</title>") != 1 {
		t.Error("markup got through")
	}
}

func TestEmptyPage(t *testing.T) {
	s := render(t, Page{})
	if strings.Contains(s, "<nav") || strings.Contains(s, `id="claims"`) {
		t.Error("an empty page has contents or claims")
	}
}

func TestPageErrors(t *testing.T) {
	err := Page{Sections: []Section{{"S", []Part{Picture{}}}}}.Write(io.Discard)
	if err == nil || err.Error() != `section "S": Figure 1 has nothing to draw` {
		t.Errorf("a picture without a figure: %v", err)
	}
	path := filepath.Join(t.TempDir(), "none", "page.html")
	if err := (Page{}).Save(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestTypeset(t *testing.T) {
	for s, want := range map[string]string{
		"-1.354 ± 0.14": "−1.354 ± 0.14", "-.5": "−.5", "90 % intervals": "90\u00a0% intervals", "0.1 to -2": "0.1 to −2",
		"2026-11-18": "2026-11-18", "leaky-relu": "leaky-relu", "x-1": "x-1", "1e-5": "1e-5", "resin-2": "resin-2",
	} {
		if got := typeset(s); got != want {
			t.Errorf("%q is set as %q, want %q", s, got, want)
		}
	}
	const h = "a 90 % interval from -2"
	page := render(t, Page{Claims: []Claim{{"t", h, h, h, h, Holds, false}}, Sections: []Section{{"s", []Part{Prose(h), Warning(h), Table{Caption: h, Head: []string{h}, Rows: [][]string{{h}}},
		Picture{Figure: Grid{Charts: []Chart{Calibration([]float64{0.5}, []float64{0.5}, 200)}}, Caption: h, Paper: h, Ours: h}}}}})
	if n := strings.Count(page, typeset(h)); n != 12 || strings.Contains(page, h) {
		t.Errorf("%d of 12 texts of a page are set", n)
	}
}

func TestNumericColumns(t *testing.T) {
	for s, want := range map[string]bool{"−0.25 ± 0.01": true, "12 %": true, "3 h 20 min": true, "[1, 2]": true, "1,024": true, "≤ 5": true, "Inf": true,
		"ut(2)": false, "abc": false, "2 layers of leaky ReLU": false, "–": false} {
		if looksNumeric(s) != want {
			t.Errorf("%q is a number: %v", s, !want)
		}
	}
}

func ExamplePage() {
	page := Page{Title: "Honest error bars", Sections: []Section{{"Result", []Part{
		Prose("The intervals hold what they promise."),
		Picture{Figure: Grid{Charts: []Chart{Calibration([]float64{0.5, 0.9}, []float64{0.52, 0.89}, 200)}}, Title: "Coverage."},
	}}}}
	err := page.Write(io.Discard) // or page.Save("report.html")
	fmt.Println(err)
	// Output: <nil>
}

// A text of a figure is as long in any font as it was laid out; one that our font lacks has a
// length of its own.
func TestTextsKeepTheirLength(t *testing.T) {
	got := fitted(`<text x="1" style="font-size:10px;fill:#222222">a &lt;  b</text>`)
	want := fmt.Sprintf(`<text textLength="%.4g" lengthAdjust="spacingAndGlyphs" x="1"`, textStyle(10, ink).Width("a < b").Points())
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `>a &lt;  b</text>`) {
		t.Errorf("%s, want %s …", got, want)
	}
	for _, text := range []string{`<text style="font-size:10px">日本</text>`, `<text style="font-size:10px"> </text>`} {
		if got := fitted(text); got != text {
			t.Error(got)
		}
	}
}
