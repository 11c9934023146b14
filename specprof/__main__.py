"""`python -m specprof`."""

from specprof.cli import main

if __name__ == "__main__":
    main()
