"""What a consolidation reads: its candidates, its runs and what was judged before."""
