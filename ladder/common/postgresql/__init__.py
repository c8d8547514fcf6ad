"""Django's backend of PostgreSQL with a cheaper test of pooled connections."""
