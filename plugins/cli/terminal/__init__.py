"""Between a command and the shell: what is shown, Ctrl-C, logs, pipes, and where results go."""
