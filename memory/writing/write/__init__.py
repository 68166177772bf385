"""What happens to a memory on its way in: checked, judged, inserted."""
