# The commands of a day. `just` lists them; CONTRIBUTING.md says more.

[private]
default:
    @just --list

# Lint and check types, versions, docs and the dbt project
check:
    PATH="$PWD/.venv/bin:$PATH" bash scripts/check

# Check, and run every test that takes seconds
test *words:
    bash scripts/test {{ words }}

# Run every test there is: all seeds, kills, engines, boards and packages
test-all:
    bash scripts/test_all

# Build the demo and print its answer
demo:
    bash scripts/demo
