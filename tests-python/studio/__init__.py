"""Tests of `realm studio`: its server with requests of their own, its page in a headless browser."""
