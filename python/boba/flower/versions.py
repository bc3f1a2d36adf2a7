"""The Flower releases that boba.flower is written for and tested with."""

# The same range stands in pyproject.toml as the extra "flower"; a test compares the two.
SUPPORTED_FLWR = ">=1.22,<1.43"

try:
    import flwr.serverapp.strategy  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"boba.flower needs Flower {SUPPORTED_FLWR}, its message API: pip install '.[flower]' in "
        f"a clone of boba, or pip install 'flwr{SUPPORTED_FLWR}' ({error})"
    ) from error
