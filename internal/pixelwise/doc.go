// Package pixelwise fits and applies models that predict each pixel of an image: a number with an
// error bar, as in denoising, or the probabilities of classes, as in segmentation.
//
// The networks, their training and the correction of their variances are those of internal/vision,
// their likelihood is that of each place. This package knows the files: pairs of images, what colours
// are classes, the model's document, scores, and predictions as images and arrays.
package pixelwise
