"""What agents use, whatever the protocol: tools, sessions, resources, prompts. No protocol library in here."""
