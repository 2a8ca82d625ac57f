package compute

// AnyBelow reports whether some s[i] is positive and less than rel·(1+|m[i]|).
func AnyBelow[T Float](s, m []T, rel T) bool {
	for i, s := range s {
		if s < rel*(1+max(m[i], -m[i])) && s > 0 {
			return true
		}
	}
	return false
}
