"""Analyses of one history: who held the buy box, seasons, churn."""
