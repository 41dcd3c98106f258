"""Shipped data: the demo pack, the base map, style sheets, published results."""
