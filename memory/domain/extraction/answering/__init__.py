"""What a short answer says together with what was asked."""
