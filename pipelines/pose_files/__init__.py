"""Files of poses after their prediction: fused over cameras, and converted to other formats."""
