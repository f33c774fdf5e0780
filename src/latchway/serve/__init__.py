"""The client's side: HTTP and WebSocket connections, and the plain endpoints beside the turns."""
