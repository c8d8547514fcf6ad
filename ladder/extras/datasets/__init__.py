"""Open data: all public games, moves and ratings of a service as files, once a day."""
