"""What the rows of the benchmark are made of: servers, the daemon, the tools beside it, measuring and reporting."""
