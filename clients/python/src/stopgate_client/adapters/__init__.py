"""Adapters: one module for each agent framework, which nothing else of this package imports.

Each is imported by its own name (`from stopgate_client.adapters.openai_agents import guard`) and needs its framework.
"""
