"""The same work on leastaction and on its peers, in one interleaved run on one core."""
