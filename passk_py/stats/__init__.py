"""The numbers: special functions, distributions, permutations, estimators."""
