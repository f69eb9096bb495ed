"""``python -m cypool.cli``: the command, where no script of that name is installed."""

from cypool.cli import main

main()
