// Package vision fits networks to images, without tuning: to a class, or to numbers, for each image.
//
// # The networks
//
// Convolutions of stride 2 halve an image until its sides are 8 or less, and behind each stands a
// residual block of the same size; a dense layer and a softmax read what is left. Where images
// have up to 32 rows, one convolution in two does (see Candidate).
//
// # How they are trained
//
// By one network drawn from the weights for each step (train.Config.Draws), which costs a fifth of
// propagated moments: numbers instead of distributions go through the convolutions. Predictions
// propagate moments. AdamW without decay with a warm-up and a cosine, empirical-Bayes priors, and
// the KL with a tenth of its weight, for classes of fewer than 20,000 images with less: with all of it,
// networks with more weights than images are underconfident.
//
// Every image is changed anew each time it is shown (Augment). Which changes help is found out on
// images that are held out: a short training for each way, and the best way is kept. Then members
// are trained, each from another seed, and the held-out images fit the temperature of their mean.
//
// # Numbers
//
// Numbers have a second output each for the logarithm of their noise. Half of the images that a
// network is shown are worn: blurred, noisy, of another contrast (wear.go), so that error bars grow with
// such images. Held-out images, and worn copies of every second one, correct the error bars.
//
// # Pixels
//
// Where each pixel has a target, the network is a U-Net (pixelnet.go), and the likelihood that of each
// place. Targets move with their images. Held-out pixels correct the variances by a curve of these.
//
// Random numbers are keyed: same seed, same bits.
package vision
