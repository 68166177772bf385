"""Plans: what a prompt is made of, as data over one packer."""
