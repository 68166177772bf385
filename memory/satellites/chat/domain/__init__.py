"""A chat client's messages: how they are kept, and which of them are kept already."""
