"""What every room needs: errors, files, the contract, names and words."""
