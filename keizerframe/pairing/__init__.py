"""Pairing rounds and building schedules."""
