"""What git and the file system say of a workspace."""
