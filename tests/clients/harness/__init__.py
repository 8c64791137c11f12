"""What the tests of real clients share: see ../run.py."""
