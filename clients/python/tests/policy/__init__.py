"""Tests of stopgate_client.policy."""
