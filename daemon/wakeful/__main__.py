"""`python -m wakeful`."""

from wakeful.cli import main

main()
