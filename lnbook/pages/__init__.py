"""What only the pages use: figures, how results are shown, exact arithmetic, and the algorithms that lose digits."""
