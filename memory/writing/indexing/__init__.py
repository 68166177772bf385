"""What searches rely on, kept behind the writes."""
