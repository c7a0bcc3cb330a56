"""The doubles and the scripted model, for tests and for trying an agent without any key."""
