"""Oddities of servers that speak Anthropic's messages."""
