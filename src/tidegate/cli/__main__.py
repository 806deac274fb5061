"""``python -m tidegate.cli`` does the same as ``tidegate`` (last stage)."""

from tidegate.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
