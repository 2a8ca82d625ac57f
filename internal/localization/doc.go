// Package localization holds what only the paper's localisation of fluorescent molecules
// needs: a source of their images, and the node that turns a position into a photon count.
//
// Nothing in the core knows them. The node is a [moment.Map] like one of a user, the source a
// [data.Generator]; programs that load models with a photon node bring it by
// model.WithMaps(Family, FromNumbers).
package localization
