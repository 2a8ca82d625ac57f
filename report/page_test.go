package report

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
			{"ut-matches-smp", "The unscented transform matches the closed form.", "The means of the best NLL differ by 0.0002 nats; both are within 0.005 of the true model's.", "0.0002 nats", Holds},
			{"ut-trains-better", "UT reaches a lower validation NLL than SMP in the same epochs.", "Paired over seeds, no difference is seen.", "−0.0001 ± 0.0006", Reported},
			{"mc3-unstable", "With three samples the gradients explode.", "Position NLL: UT < MC10 < MC3; 4 of 10 runs of MC3 diverged.", "1.83, 4.9, 27", Holds},
			{"physics-helps", "Physics-informed outputs help when data are scarce.", "Lower NLL at every size but 2⁹.", "4 of 5 sizes", Fails},
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
			{"Settings", []Part{Facts{{"Optimizer", "AdamW, learning rate 10⁻³, decay 0.01"}, {"Seeds", "1 … 10"}, {"Prior", "N(0, 1)"}}, Source("target: y\nensemble: 5\nwidth: 64\n")}},
		},
	}
}
