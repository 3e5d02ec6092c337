"""The posterior of a solved system at new points: means, variances and draws."""
