"""From Keepa's answers to what people and agents decide with. Pure: no clock, no environment, no disk."""
