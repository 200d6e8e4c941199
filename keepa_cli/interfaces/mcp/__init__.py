"""MCP over stdio and HTTP, on the official SDK. Only the commands that serve it import it."""
