"""What agents can read by address: references, recordings, and what this session answered."""
