"""`python -m auctrack`: the command line where the `auctrack` command is not on the path."""

from auctrack.plugins.cli.entry import main

if __name__ == "__main__":
    main()
