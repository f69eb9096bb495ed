"""What is checked on other platforms, and how they are set up."""
