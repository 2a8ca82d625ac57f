package main

import (
	"utvi/internal/localization"
	"utvi/model"
)

// paperMaps lets commands load networks of the paper's localisation: their files only name
// its photon node.
func paperMaps() model.Option { return model.WithMaps(localization.Family, localization.FromNumbers) }
