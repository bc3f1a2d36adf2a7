"""A Flower app whose clients may attack, and whose server does not mind."""
