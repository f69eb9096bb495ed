"""``python -m cypool``: the command, where no script of that name is at hand."""

from cypool.cli import main

if __name__ == "__main__":
    main()
