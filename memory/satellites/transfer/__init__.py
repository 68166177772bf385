"""Everything of a team as one stream of lines, and the way back into another installation."""
