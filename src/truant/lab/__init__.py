"""The lab: simulate policies in worlds and compare them."""
