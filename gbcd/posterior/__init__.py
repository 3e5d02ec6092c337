"""What a solved system says of new points: means, variances and draws."""
