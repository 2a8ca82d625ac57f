package sweep

// LoadFailure reads the note of a failed trial.
var LoadFailure = loadFailure
