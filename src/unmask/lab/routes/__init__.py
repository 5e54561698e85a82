"""The routes of the API: each module defines ROUTES, and is found by listing this package."""
