"""The shared language: frozen dataclasses without input, output or judgement."""
