package experiment

import (
	"fmt"
	"slices"
	"strings"

	"utvi/internal/report"
)

// A starvedComparison is the gain at one setting over one kind of plain network by one measure.
type starvedComparison struct {
	setting starvedSetting
	over    string
	total   StarvedGain
	place   StarvedGain // of the position
}

// starvedComparisons are those of the settings that may decide the sign.
func starvedComparisons(signs []starvedSetting, gains []StarvedGain) (found []starvedComparison) {
	for _, c := range signs {
		for _, over := range []string{locPlain, locScaled} {
			at := func(measure string) StarvedGain {
				return gains[slices.IndexFunc(gains, func(g StarvedGain) bool {
					return g.Pairs == c.pairs && g.KL == c.kl && g.Shared && g.Scale == c.scale && g.Steps == c.steps && g.Over == over && g.Measure == measure
				})]
			}
			found = append(found, starvedComparison{c, over, at(starvedTotal), at(starvedPosition)})
		}
	}
	return found
}

// images names the scale of the images.
func (c starvedSetting) images() string {
	if c.scale == 0 {
		return "raw counts"
	}
	return fmt.Sprintf("counts ÷ %v", c.scale)
}

// starvedSignText says in which of the settings physics helps, "" without settings.
func starvedSignText(comparisons []starvedComparison) string {
	if len(comparisons) == 0 {
		return ""
	}
	var parts []string
	for _, images := range []string{"raw counts", "counts ÷ 20"} {
		var total, place gainCount
		for _, c := range comparisons {
			if c.setting.images() == images {
				total.take(c.total)
				place.take(c.place)
			}
		}
		parts = append(parts, fmt.Sprintf("with %s it helps in %d and harms in %d of %d by the total, and helps in %d and harms in %d by the position",
			images, total.better, total.worse, len(total.judgements), place.better, place.worse))
	}
	return "It is not robust. Over sizes, lengths of training and units of the photons (table of settings), " + strings.Join(parts, "; ") + "."
}

// starvedSignTable shows every comparison.
func starvedSignTable(s Size, comparisons []starvedComparison) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("Settings that decide the sign: NLL of the plain network minus that of the physics-informed one, one training set, paired by initialisation, %s, with a 95 %% interval. Above 0, physics helps. Photons in hundreds: the plain network whose photon count does not have to grow a hundredfold.", ofReplicates(starvedReplicates(s))),
		Head:    []string{"pairs", "images", "steps", "plain network", "total", "95 % interval", "position", "95 % interval"},
	}
	for _, c := range comparisons {
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(c.setting.pairs), c.setting.images(), fmt.Sprint(c.setting.steps),
			map[string]string{locPlain: "photons as they are", locScaled: "photons in hundreds"}[c.over],
			c.total.Gain.format("%.3f"), c.total.interval(), c.place.Gain.format("%.3f"), c.place.interval(),
		})
	}
	return t
}
