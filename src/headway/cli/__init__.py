"""The command line. Each command's machinery is imported when the command runs, never before."""
