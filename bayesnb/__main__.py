"""`python -m bayesnb` is the command `bayesnb`."""

from bayesnb.cli import run

if __name__ == "__main__":
    run()
