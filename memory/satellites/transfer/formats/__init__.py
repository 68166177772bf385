"""Files of other systems, read item by item: what each says, checked as the API checks it."""
