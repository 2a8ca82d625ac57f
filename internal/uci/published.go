package uci

// A Figure is a published mean test log-likelihood with its standard error, 0 where
// none is given. (The ± of deep ensembles and TAGI look like standard deviations; those
// of NGBoost, WEvidential and evidential networks are.)
//
// WEvidential's, evidential networks' (Amini et al. 2020) and NGBoost's (Duan et al. 2020)
// are those of Matsubara, "Wasserstein Gradient Boosting", table 1. XGBDistribution's are
// those of its documentation, over splits of its own. CARD's (Han et al. 2022) are as
// others cite them.
type Figure struct {
	Method   string
	LL, Plus float64
}

// Published returns the figures of the literature for a set, nil for one that is not
// known. The DVI columns but hoDVI have a heteroscedastic head and splits of their
// own.
func Published(set string) []Figure { return published[set] }

var published = map[string][]Figure{
	"bostonHousing": {
		{"linear regression", -2.97, 0}, {"PBP", -2.57, 0.09}, {"MC dropout 2016", -2.46, 0.06}, {"MC dropout 2018", -2.40, 0.04},
		{"deep ensembles", -2.41, 0.25}, {"TAGI", -2.58, 0.33}, {"hoDVI", -2.58, 0.04}, {"dDVI", -2.42, 0.02}, {"DVI", -2.41, 0.02}, {"MCVI", -2.46, 0.02},
		{"NGBoost", -2.43, 0.15}, {"WEvidential", -2.47, 0.16}, {"evidential networks", -2.35, 0.06}, {"CARD", -2.35, 0}, {"XGBDistribution", -2.62, 0},
	},
	"power-plant": {
		{"linear regression", -2.95, 0}, {"PBP", -2.84, 0.01}, {"MC dropout 2016", -2.80, 0.01}, {"MC dropout 2018", -2.80, 0.01},
		{"deep ensembles", -2.79, 0.04}, {"TAGI", -2.88, 0.05}, {"hoDVI", -2.82, 0}, {"dDVI", -2.80, 0}, {"DVI", -2.80, 0}, {"MCVI", -2.80, 0},
		{"NGBoost", -2.79, 0.11}, {"WEvidential", -2.60, 0.04}, {"evidential networks", -2.81, 0.07}, {"CARD", -2.82, 0}, {"XGBDistribution", -2.77, 0},
	},
	"protein-tertiary-structure": {
		{"linear regression", -3.07, 0}, {"PBP", -2.97, 0}, {"MC dropout 2016", -2.89, 0}, {"MC dropout 2018", -2.87, 0},
		{"deep ensembles", -2.83, 0.02}, {"TAGI", -2.95, 0.01}, {"hoDVI", -2.94, 0}, {"dDVI", -2.84, 0.01}, {"DVI", -2.85, 0.01}, {"MCVI", -2.87, 0.01},
		{"NGBoost", -2.81, 0.03}, {"WEvidential", -2.70, 0.01}, {"evidential networks", -2.63, 0}, {"CARD", -2.49, 0}, {"XGBDistribution", -2.81, 0},
	},
	"wine-quality-red": {
		{"linear regression", -1.00, 0}, {"PBP", -0.97, 0.01}, {"MC dropout 2016", -0.93, 0.01}, {"MC dropout 2018", -0.93, 0.01},
		{"deep ensembles", -0.94, 0.12}, {"TAGI", -0.98, 0.07}, {"hoDVI", -0.96, 0.01}, {"dDVI", -0.91, 0.02}, {"DVI", -0.90, 0.01}, {"MCVI", -0.92, 0.01},
		{"NGBoost", -0.91, 0.06}, {"WEvidential", -0.95, 0.08}, {"evidential networks", -0.89, 0.05}, {"CARD", -0.92, 0}, {"XGBDistribution", -0.98, 0},
	},
	"yacht": {
		{"linear regression", -3.63, 0}, {"PBP", -1.63, 0.02}, {"MC dropout 2016", -1.55, 0.03}, {"MC dropout 2018", -1.25, 0.01},
		{"deep ensembles", -1.18, 0.21}, {"TAGI", -1.60, 0.12}, {"hoDVI", -1.41, 0.03}, {"dDVI", -0.47, 0.03}, {"DVI", -0.47, 0.03}, {"MCVI", -0.68, 0.03},
		{"NGBoost", -0.20, 0.26}, {"WEvidential", -0.16, 0.24}, {"evidential networks", -1.03, 0.19}, {"CARD", -0.90, 0}, {"XGBDistribution", -0.89, 0},
	},
}
