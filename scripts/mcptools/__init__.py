"""What the scripts that check the MCP server with tools of Node share."""
