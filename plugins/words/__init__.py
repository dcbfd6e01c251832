"""What every face of the program says and takes in words: settings as options and as TOML, notes, errors."""
