"""Understanding of talk: embed, read, judge and summarise, by small models or a language model."""
