// Package modelfile owns the format of model files: which documents a file has, their keys, their
// versions, and the names of tensors. Other packages ask it for values.
//
// # The file
//
// A model file (.safetensors or .utvi) is a safetensors file: eight bytes, the length of a header; the
// header, a JSON object; the numbers of the tensors. Package safetensors also writes a checksum of all
// that follows it, and this package refuses files without one. Every tool that reads safetensors finds
// the weights. Everything else is JSON, each document a text in the header's __metadata__:
//
//	utvi.model               the one network of the file …
//	utvi.ensemble            … or its networks, the members of an ensemble
//	utvi.document.NAME       further documents, only beside utvi.ensemble
//
// # Networks
//
// utvi.model is {"format":1, …} with the fields of Network; utvi.ensemble is {"format":1,"members":[…]}
// with such an object for each network:
//
//	input        [height, width, channels] of a row
//	network      the layers, as internal/codec writes them: {"kind":"chain", …}
//	seed, init   of the starting weights; init is [smallest ρ, largest ρ], zeros stand for the default
//	priors       {"tensor":[mean, standard deviation]} of every tensor that is a distribution
//	likelihood   what the outputs mean, as internal/codec writes it; old files lack it, and facts
//	             name the likelihood in words
//	facts        what is known of the training (model.Facts); no prediction depends on it
//
// The tensors of a network are named by the layers, such as 0.dense.weight. A tensor t is stored as
// t.mean; one that is a distribution also as t.rho, where σ = ln(1 + exp ρ), and as t.center if its prior
// is moved to the weights that training started from, and as t.spread if each weight has a standard
// deviation of its own in it. In an ensemble, "member0/" and so on stand before
// all names. Tensors are F32 or F64. A tensor that no network declares makes the file invalid.
//
// # Documents
//
// A model of a table has, beside its networks,
//
//	tabular      {"format":1,"targets","classes","shapes","warps","usual","report"}: how the outputs of
//	             the networks become distributions of targets (Tabular)
//	memory       {"format":1,"rows","columns","cells","weights"}: made-up rows that stand for the training
//	             rows when the model is updated (Memory)
//	table        {"format":1,"schema","facts","sketch"}: the columns, how the model was made, and hashes
//	             of training rows (Table)
//	calibration  [{…}], one correction for each target, as package calibrate writes it; absent if the
//	             model is not calibrated
//	histograms   [{…}], the values of columns among the training rows; absent in old files
//
// A model of encoded rows has the document tabular only. A model that predicts every pixel of an image has
// pixelwise, {"format":1,"model"}, as internal/pixelwise writes it.
//
// # Versions
//
// A format is raised when an older program could misread a newer file; all are 1 so far. A program
// refuses another format, and a field that it does not know: what it would ignore could change the
// prediction. A new document is a type here with its key and its format; programs that do not know it
// ignore the document as a whole, so it must not change what the other documents mean.
package modelfile
