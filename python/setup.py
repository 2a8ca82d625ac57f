"""For builds without a network; the settings are in pyproject.toml."""

from setuptools import setup

setup()
