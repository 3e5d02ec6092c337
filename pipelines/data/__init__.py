"""HumanEva trees looked through, checked and made."""
