"""Is it right? The closed form against draws, model files against their closed forms, simulation-based calibration,
predictive checks.
"""
