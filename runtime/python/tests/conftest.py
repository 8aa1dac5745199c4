"""Settings of all tests."""

from hypothesis import settings

# A busy machine is no fault.
settings.register_profile("idem", deadline=None, database=None)
settings.load_profile("idem")

pytest_plugins = ["services"]
