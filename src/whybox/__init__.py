"""whybox: a white-box AI assistant."""
