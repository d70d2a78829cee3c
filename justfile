# The commands of a day. `just` lists them; CONTRIBUTING.md says more.

[private]
default:
    @just --list

# Lint and check types and versions, and of docs, the dbt project and SQL what differs from origin/main
check:
    PATH="$PWD/.venv/bin:$PATH" bash scripts/check --changed

# Check, and run every test that takes seconds
test *words:
    bash scripts/test {{ words }}

# Run every test there is: all seeds, kills, engines, boards and packages
test-all:
    bash scripts/test_all

# Build the demo and print its answer
demo:
    bash scripts/demo
