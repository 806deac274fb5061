"""Forward sensitivities and their jumps, native."""
